package plugindev

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"noema/methods"
	"noema/methods/methodtest"
	"noema/plugins"
)

// acrossProcesses lists what is only seen from outside a process. The comment
// at each function is its definition.
func acrossProcesses() []rule {
	return []rule{
		{"fresh", "a new process does as a used one", (*checker).fresh},
		{"large", "ten thousand labels, items and names do not break it", (*checker).large},
		{"options", "options that it does not know do not break it", (*checker).options},
		{"memory", "its memory does not grow from trial to trial", (*checker).memory},
	}
}

// fresh: a process that has solved other problems, and a new one for each case,
// make the same calls and give the same answer.
func (c *checker) fresh() (faults []string) {
	for _, tc := range c.cases {
		err := c.inNewProcess(func(_ *plugins.Host, p *plugins.Plugin) {
			for _, f := range methodtest.Differences(c.ctx, c.method, p, tc) {
				faults = append(faults, fmt.Sprintf("%s: a new process differs from a used one: %s", tc.Name, f.Text))
			}
		})
		if err != nil {
			return append(faults, err.Error())
		}
	}
	return faults
}

// inNewProcess calls use with the plugin in a process that has done nothing
// before.
func (c *checker) inNewProcess(use func(*plugins.Host, *plugins.Plugin)) error {
	host, err := c.newHost()
	if err != nil {
		return err
	}
	defer host.Close()
	p, err := host.Open(c.ctx, c.source)
	if err != nil {
		return err
	}
	use(host, p)
	return nil
}

// many is how many labels, names and items a large problem has.
const many = 10_000

// large: problems with very many labels, items, names and fields are solved, or
// refused with an error; the process survives.
func (c *checker) large() (faults []string) {
	words := make([]string, many)
	for i := range words {
		words[i] = fmt.Sprint("word ", i)
	}
	items := methods.Must(json.Marshal(map[string][]string{"items": words})) // words always encode
	for _, tc := range c.cases {
		p := tc.Problem
		p.Context = items
		p.Answer.N, p.Answer.K = many, min(many, max(1, p.Answer.K))
		if len(p.Answer.Labels) > 0 {
			p.Answer.Labels = words
		}
		if len(p.Answer.Names) > 0 {
			p.Answer.Names = words
		}
		faults = append(faults, c.survives(tc, p, "a very large problem")...)
	}
	return faults
}

// options: options that are unknown, of the wrong type, very long or not JSON
// are refused with an error or ignored; the process survives.
func (c *checker) options() (faults []string) {
	wrongTypes := map[string]any{}
	for _, o := range c.method.Describe().Options {
		wrongTypes[o.Name] = []any{map[string]any{}}
	}
	wrong := methods.Must(json.Marshal(wrongTypes)) // lists and objects always encode
	for _, tc := range c.cases {
		for _, raw := range []string{
			`{"no-such-option":1}`, `[]`, `null`, `{`, "\xff", `{"x":"` + strings.Repeat("long", 1<<18) + `"}`, string(wrong),
		} {
			p := tc.Problem
			p.Options = json.RawMessage(raw)
			faults = append(faults, c.survives(tc, p, fmt.Sprintf("options %.40q", raw))...)
		}
	}
	return faults
}

// solveLimit is how long a trial may take if the replies come at once.
const solveLimit = 30 * time.Second

// survives runs a hostile problem: only time counts, and a failure of the
// process, which [watched] keeps.
func (c *checker) survives(tc methodtest.Case, p methods.Problem, what string) []string {
	ctx, cancel := context.WithTimeout(c.ctx, solveLimit)
	defer cancel()
	p.ID += " with " + what
	_, _ = c.method.Solve(ctx, p, methodtest.NewHost(tc.Model, methodtest.WithTools(tc.Tools))) // an error is fine
	if ctx.Err() != nil {
		return []string{fmt.Sprintf("%s: %s: it took longer than %v", tc.Name, what, solveLimit)}
	}
	return nil
}

// How often trials are run to see whether memory grows, and by how much it may:
// a trial that keeps half a megabyte will not last a comparison.
const (
	warmTrials = 20
	moreTrials = 60
	mayGrow    = 32 << 20
)

// memory: trials that follow each other in one process do not make it grow.
func (c *checker) memory() (faults []string) {
	err := c.inNewProcess(func(host *plugins.Host, p *plugins.Plugin) {
		ctx, cancel := context.WithTimeout(c.ctx, solveLimit)
		defer cancel()
		var warm int64
		for i := range warmTrials + moreTrials {
			if i == warmTrials {
				warm = host.Usage().Memory
			}
			tc := c.cases[i%len(c.cases)]
			_, _ = p.Solve(ctx, tc.Problem, methodtest.NewHost(tc.Model, methodtest.WithTools(tc.Tools))) // answers are checked elsewhere
		}
		if now := host.Usage().Memory; now-warm > mayGrow {
			faults = append(faults, fmt.Sprintf("over %d trials its process grew from %d to %d MiB: something is kept from trial to trial",
				moreTrials, warm>>20, now>>20))
		}
	})
	if err != nil {
		return []string{err.Error()}
	}
	return faults
}
