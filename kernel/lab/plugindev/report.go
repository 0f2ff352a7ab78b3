package plugindev

import (
	"fmt"
	"strings"
	"time"

	"noema/methods"
	"noema/plugins"
)

// Result is the outcome of one check.
type Result struct {
	Name   string
	Passed bool
	Detail string   // what was seen, or what holds
	Faults []string // why it did not pass; empty if it did
}

// Report is all that a check found.
type Report struct {
	Plugin      string
	Path        string
	Description methods.Description // zero if the plugin did not start
	Results     []Result
	Usage       plugins.Usage // the most that one of its processes took
}

// Failed returns how many checks the plugin did not pass.
func (r *Report) Failed() int {
	n := 0
	for _, res := range r.Results {
		if !res.Passed {
			n++
		}
	}
	return n
}

// shownFaults is how many faults of one check a report shows: they are often
// the same for each case.
const shownFaults = 5

// String is the result as lines of text.
func (r Result) String() string {
	if r.Passed {
		return fmt.Sprintf("pass  %-10s  %s\n", r.Name, r.Detail)
	}
	var b strings.Builder
	for i, f := range r.Faults {
		switch {
		case i == shownFaults:
			fmt.Fprintf(&b, "%18sand %d more like these\n", "", len(r.Faults)-i)
			return b.String()
		case i == 0:
			fmt.Fprintf(&b, "FAIL  %-10s  %s\n", r.Name, indent(f))
		default:
			fmt.Fprintf(&b, "%18s%s\n", "", indent(f))
		}
	}
	return b.String()
}

// indent keeps the lines of a fault below each other.
func indent(s string) string {
	return strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n"+strings.Repeat(" ", 20))
}

// String is the report as lines of text: one for each check, then what its
// processes took, and the sum.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "plugin %s at %s\n", r.identity(), r.Path)
	for _, res := range r.Results {
		b.WriteString(res.String())
	}
	if u := r.Usage; u.Processes > 0 {
		fmt.Fprintf(&b, "took  at most %d MiB of memory and %v of CPU time in one process, %d processes at once\n",
			u.Memory>>20, u.CPUTime.Round(10*time.Millisecond), u.Processes)
	}
	if n := r.Failed(); n > 0 {
		fmt.Fprintf(&b, "%d of %d checks failed\n", n, len(r.Results))
	} else {
		fmt.Fprintf(&b, "all %d checks passed\n", len(r.Results))
	}
	return b.String()
}

func (r *Report) identity() string {
	s := r.Plugin
	if d := r.Description; d.Version != "" {
		s += " (version " + d.Version
		if d.PromptVersion != "" {
			s += ", prompts " + d.PromptVersion
		}
		s += ")"
	}
	return s
}

// result adds the outcome of a check that found the given faults.
func (c *checker) result(faults []string, name, good string) {
	res := Result{Name: name, Passed: len(faults) == 0, Faults: faults}
	if res.Passed {
		res.Detail = good
	}
	c.report.Results = append(c.report.Results, res)
	if c.o.Progress != nil {
		c.o.Progress(res)
	}
}

func (c *checker) add(name string, faults ...string) { c.result(faults, name, "") }

func (c *checker) pass(name, detail string) { c.result(nil, name, detail) }
