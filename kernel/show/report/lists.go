package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"noema/cache"
	"noema/kernel/base/display"
	"noema/kernel/result/record"
	"noema/kernel/task"
	"noema/methods"
)

// JSON prints v as one line of JSON, with the characters of queries and
// model names as they are.
func JSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// Runs lists runs, a line each.
func Runs(w io.Writer, runs []*record.Run) {
	if len(runs) == 0 {
		fmt.Fprintln(w, "no runs yet: \"noema compare\" makes one")
		return
	}
	tw := tabwriter.NewWriter(Guarded(w), 0, 0, 2, ' ', 0)
	head, forks := "run\tstatus\ttask\tmodel\tmethods\ttrials\troot", slices.ContainsFunc(runs, func(r *record.Run) bool { return r.Parent != "" })
	if forks {
		head += "\tparent"
	}
	fmt.Fprintln(tw, head)
	for _, r := range runs {
		parent := ""
		if r.Parent != "" {
			parent = "\t" + r.Parent
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%d\t%.12s%s\n", r.ID, r.Status, subject(r), modelsOf(r),
			strings.Join(MethodNames(r), ","), r.Size(), rootOf(r), parent)
	}
	tw.Flush()
}

// MethodNames lists a run's methods, and counts its interventions.
func MethodNames(r *record.Run) []string {
	var names []string
	for _, m := range r.Config.Methods {
		if m.Intervention == nil {
			names = append(names, m.Label)
		}
	}
	if n := len(r.Config.Methods) - len(names); n > 0 {
		names = append(names, Plural(n, "intervention"))
	}
	return names
}

// rootOf is a run's root hash, or that it was imported and has none.
func rootOf(r *record.Run) string {
	if r.Imported != nil {
		return "imported"
	}
	return r.Root
}

// subject is what a run is over: its task, and its question if it has one.
func subject(r *record.Run) string {
	if s := r.Config.Study; s != nil {
		return "study: " + strings.Join(s.Tasks(), ", ")
	}
	if r.Question == "" {
		return r.Config.Task.Name
	}
	return r.Config.Task.Name + ": " + display.Line(r.Question, 50)
}

// modelsOf are the models of a run or a study.
func modelsOf(r *record.Run) string {
	if s := r.Config.Study; s != nil {
		return strings.Join(s.Models(), ", ")
	}
	return ModelName(r.Config.Model)
}

// TaskAndModel says what a run's methods answered, and with which model.
func TaskAndModel(r *record.Run) string {
	return r.Config.Task.String() + " · " + ModelName(r.Config.Model)
}

// ModelName is a model, marked if it is not a language model.
func ModelName(m record.Model) string {
	if m.Simulated {
		return m.ID.String() + " (simulated model)"
	}
	return m.ID.String()
}

// Details prints what a run's table leaves out: where its code and data came
// from, which answers methods share, and which trials failed.
func Details(w io.Writer, r *record.Run, trials []*record.Trial) {
	w = Guarded(w)
	fmt.Fprintln(w)
	if r.Name != "" || r.Question != "" {
		fmt.Fprintf(w, "experiment  %s  %s\n", r.Name, r.Question)
	}
	fmt.Fprintf(w, "status      %s, begun %s, ended %s\n", r.Status, r.Created.Format(time.DateTime), r.Ended.Format(time.DateTime))
	fmt.Fprintf(w, "task        %s version %s, %s, digest %.16s\n", r.Config.Task.Name, r.Config.Task.Version, r.Source, r.Config.Task.Digest)
	fmt.Fprintf(w, "config      %s\n", r.Digest)
	for i, m := range r.Config.Methods {
		where := ""
		if i < len(r.Plugins) {
			p := r.Plugins[i]
			where = fmt.Sprintf(", %s, sha256 %.16s", p.Path, p.Digest)
			if p.Builtin {
				where = fmt.Sprintf(", built in, binary sha256 %.16s", p.Digest)
			}
		}
		fmt.Fprintf(w, "method      %s: version %s, prompts %s, options %s%s\n", m.Label, m.Version, m.PromptVersion, orNone(m.Options), where)
		if i < len(r.Plugins) {
			isolation(w, m.Label, r.Plugins[i])
			copied(w, m.Label, r.Plugins[i])
			if all := r.Plugins[i].Versions; len(all) > 0 {
				fmt.Fprintf(w, "runs on     %s: %s\n", m.Label, display.Line(strings.Join(all, ", "), 1000))
			}
		}
	}
	fmt.Fprintf(w, "shared      %s shared between methods\n", pluralWere(r.Calls.Shared, "answer"))
	for _, s := range r.Seeds {
		fmt.Fprintf(w, "seed        %s of %s, %.16s\n", s.Kind, s.Method, s.Digest)
	}
	for _, t := range trials {
		if t.Failure != "" {
			fmt.Fprintf(w, "failure     %s: %s\n", t.ID, display.Line(t.Failure, 300))
		}
	}
	retried := 0
	for _, t := range trials {
		retried += t.Facts().Retried
	}
	if retried > 0 {
		fmt.Fprintf(w, "retries     %s needed more than one attempt: see --trial\n", Plural(retried, "call"))
	}
}

// copied prints what of a method's folder is its code, and what is not.
func copied(w io.Writer, label string, p record.Plugin) {
	if p.Copied == 0 {
		return
	}
	fmt.Fprintf(w, "code        %s: %s", label, Plural(p.Copied, "file"))
	for i, l := range p.Left {
		if i == 0 {
			fmt.Fprint(w, "; not copied: ")
		} else {
			fmt.Fprint(w, ", ")
		}
		fmt.Fprintf(w, "%s (%s)", l.Name, l.Why)
	}
	fmt.Fprintln(w)
}

// isolation prints what a method's plugin could reach.
func isolation(w io.Writer, label string, p record.Plugin) {
	text := cmp.Or(p.Isolation, "not recorded")
	if len(p.Allowed) > 0 {
		text += "; allowed: " + strings.Join(p.Allowed, ", ")
	}
	fmt.Fprintf(w, "isolation   %s: %s\n", label, text)
	if p.Repeated > 0 {
		fmt.Fprintf(w, "repeated    %s: %s, each in a fresh process: %s\n", label, Plural(p.Repeated, "trial"), cmp.Or(p.State, "none differs"))
	}
}

func orNone(raw json.RawMessage) string {
	if len(raw) == 0 {
		return "none"
	}
	return string(raw)
}

// Task prints a task and its samples, a line each.
func Task(w io.Writer, t *task.Task, asJSON bool) error {
	if asJSON {
		return JSON(w, t)
	}
	w = Guarded(w)
	digest, err := t.Digest()
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s version %s: %s\n%s, %s, digest %s\n\n", t.Name, t.Version, t.Summary, Plural(len(t.Samples), "sample"), t.Source, digest)
	for _, note := range t.Notes {
		fmt.Fprintln(w, "note:", note)
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, s := range t.Samples {
		fmt.Fprintf(tw, "%s\t%s\t%s\n", s.ID, s.Group, display.Line(s.Problem.Query, 80))
	}
	return tw.Flush()
}

// Sample prints one sample with its target.
func Sample(w io.Writer, s task.Sample, asJSON bool) error {
	if asJSON {
		return JSON(w, s)
	}
	w = Guarded(w)
	note, target := "", string(s.Target)
	switch {
	case !s.Scored():
		target = "none: it is run and not scored"
	case s.Problem.Answer.Kind == methods.Ranking:
		note = " (places in this order; each trial shuffles the items, and its target with them)"
	}
	fmt.Fprintf(w, "%s  %s\n\n%s\n\nanswer kind %s, target %s%s\n", s.ID, s.Group, printable(s.Problem.Query), s.Problem.Answer.Kind, target, note)
	for _, k := range slices.Sorted(maps.Keys(s.Metadata)) {
		fmt.Fprintf(w, "%s: %s\n", k, printable(s.Metadata[k]))
	}
	var context any
	if len(s.Problem.Context) > 0 {
		if err := json.Unmarshal(s.Problem.Context, &context); err != nil {
			return err
		}
		fmt.Fprintln(w, "\ncontext:")
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(context)
	}
	return nil
}

// Stats prints what a store holds.
func Stats(w io.Writer, dir string, s cache.Stats) {
	role := "owned by this process"
	if !s.Owner {
		role = "served by another process"
	}
	fmt.Fprintf(w, "store %s, %s\n%s on disk, %s free\n\n", dir, role, Size(s.DiskBytes), Size(int64(s.FreeBytes)))
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "records\tbytes\t")
	for _, space := range s.Spaces {
		fmt.Fprintf(tw, "%s\t%s\t  %s\n", count(space.Entries), Size(space.Bytes), space.Space)
	}
	tw.Flush()
	if s.Corrupt > 0 {
		fmt.Fprintf(w, "\n%d damaged records found: \"noema cache verify\" lists them\n", s.Corrupt)
	}
}

// Size writes a number of bytes in the unit that suits it.
func Size(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	case n < 1<<30:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
}

// Report prints what a verification of the store found.
func Report(w io.Writer, r cache.Report) {
	fmt.Fprintf(w, "%s records checked, %d damaged\n", count(r.Checked), len(r.Corrupt))
	for _, c := range r.Corrupt {
		fmt.Fprintln(w, " ", c.Error())
	}
	for _, t := range r.Tables {
		fmt.Fprintln(w, "  damaged file", t)
	}
}
