package view

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"noema/kernel/base/redact"
	"noema/kernel/lab"
	"noema/kernel/result/record"
	"noema/kernel/show/export"
	"noema/methods"
)

// Showable lists what is left out of a bundle unless it is asked for: the folders of this
// machine, and the command line of each run.
func Showable() []string { return []string{showPaths, showCommand} }

const showPaths, showCommand = "paths", "command"

// leaving is what may leave the machine in a bundle. A nil one stands for a page that is
// served to this machine alone, from which nothing is taken.
type leaving struct {
	runs     []string // ids, newest first
	home     []string // folders of the user
	show     []string
	redactor *redact.Redactor
	together string // the address of the comparison of all runs; empty if there is none
}

// result is a copy of a run without what may not leave, with what cleans its further texts
// in the same way. Everything that pages show is computed from it.
func (x *leaving) result(r *lab.Result) (*lab.Result, func(string) string, error) {
	if x == nil {
		return r, func(s string) string { return s }, nil
	}
	if !slices.Contains(x.runs, r.Run.ID) {
		return nil, nil, fmt.Errorf("run %s is not in the bundle", r.Run.ID)
	}
	folders := x.foldersOf(r.Run)
	clean := func(s string) string { return export.Clean(x.redactor, folders.Replace(s)) }
	whole, inner := *r, *r.Result
	whole.Result, whole.Trials = &inner, nil
	var err error
	if inner.Run, err = cleaned(x.run(r.Run), clean); err != nil {
		return nil, nil, err
	}
	task := *r.Task
	if inner.Task, err = cleaned(&task, clean); err != nil {
		return nil, nil, err
	}
	labels, err := cleaned(&inner.Labels, clean)
	if err != nil {
		return nil, nil, err
	}
	inner.Labels, inner.Trials = *labels, slices.Clone(inner.Trials)
	for i, t := range inner.Trials {
		if inner.Trials[i], err = x.trial(t, clean); err != nil {
			return nil, nil, fmt.Errorf("trial %s: %w", clean(t.ID.String()), err)
		}
	}
	return &whole, clean, nil
}

// trial is a cleaned trial without what its plugin printed, whose failures name no folder.
func (x *leaving) trial(t *record.Trial, clean func(string) string) (*record.Trial, error) {
	if x == nil {
		return t, nil
	}
	out := *t
	out.Printed = ""
	texts, lists := []*string{&out.Failure, &out.Ungraded, &out.Answer.Reason}, [][]record.Call{}
	if t.Transcript != nil {
		out.Transcript, out.Grading = &record.Transcript{Calls: slices.Clone(t.Calls), Events: t.Events}, slices.Clone(t.Grading)
		lists = [][]record.Call{out.Calls, out.Grading}
	}
	if slices.Contains(x.show, showPaths) {
		texts, lists = nil, nil
	}
	for _, calls := range lists {
		for i := range calls {
			texts = append(texts, &calls[i].Error)
		}
	}
	for _, text := range texts {
		for _, m := range folder.FindAllStringSubmatch(*text, -1) {
			*text = strings.ReplaceAll(*text, m[1], "")
		}
	}
	done, err := cleaned(&out, clean)
	if err == nil && t.Transcript == nil {
		done = done.With(t.Facts())
	}
	return done, err
}

// run lists what may leave of a run's record: neither the paths of plugins nor where the
// data came from.
func (x *leaving) run(r *record.Run) *record.Run {
	out := &record.Run{
		Format: r.Format, ID: r.ID, Name: r.Name, Question: r.Question, Config: r.Config, Digest: r.Digest, Status: r.Status, Root: r.Root,
		Created: r.Created, Calls: r.Calls, Seeds: r.Seeds, Notes: r.Notes, Asked: r.Asked, Ahead: r.Ahead, Imported: r.Imported,
		Parent: r.Parent, Replaced: r.Replaced,
	}
	for _, p := range r.Plugins {
		out.Plugins = append(out.Plugins, record.Plugin{Method: p.Method, Builtin: p.Builtin, Isolation: p.Isolation, Weak: p.Weak, Allowed: p.Allowed, NoCalls: p.NoCalls, Repeated: p.Repeated, State: p.State,
			Left: slices.DeleteFunc(slices.Clone(p.Left), func(l record.Left) bool { return !l.Task })})
	}
	if slices.Contains(x.show, showCommand) {
		out.Command = r.Command
	}
	return out
}

// folder is the folder of an absolute path in a text.
var folder = regexp.MustCompile(`(?:^|[\s"'=(,]|file://)((?:[A-Za-z]:)?[/\\][^\s"'=,;?&()]*[/\\])`)

// foldersOf takes out of texts the user's folders and those that a run's record names: they
// are folders of this machine, while a path in a reply may be any.
func (x *leaving) foldersOf(r *record.Run) *strings.Replacer {
	if slices.Contains(x.show, showPaths) {
		return strings.NewReplacer()
	}
	found := map[string]string{}
	for _, home := range x.home {
		found[home+string(os.PathSeparator)] = "~/"
	}
	texts := slices.Concat(r.Command, r.Notes, []string{r.Source, r.Name, r.Config.Task.String(), r.Config.Model.ID.String()})
	for _, p := range r.Plugins {
		texts = append(append(texts, p.Path), p.Allowed...)
	}
	for _, m := range r.Config.Methods {
		texts = append(texts, m.Label)
	}
	for _, text := range texts {
		for _, m := range folder.FindAllStringSubmatch(text, -1) {
			found[m[1]] = ""
		}
	}
	delete(found, "/")
	var pairs []string
	for _, old := range slices.Backward(slices.Sorted(maps.Keys(found))) { // the longer of two before its own beginning
		pairs = append(pairs, old, found[old])
	}
	return strings.NewReplacer(pairs...)
}

// cleaned is v with every text cleaned, or v itself where none changes. What v points at
// stays as it is.
func cleaned[T any](v *T, clean func(string) string) (*T, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var tree any
	if err := methods.DecodeJSON(raw, &tree); err != nil {
		return nil, err
	}
	tree, changed := eachText(tree, clean)
	if !changed {
		return v, nil
	}
	if raw, err = json.Marshal(tree); err != nil {
		return nil, err
	}
	out := new(T)
	return out, json.Unmarshal(raw, out)
}

// eachText cleans the texts of a JSON value, names of objects included.
func eachText(v any, clean func(string) string) (any, bool) {
	changed := false
	switch v := v.(type) {
	case string:
		now := clean(v)
		return now, now != v
	case []any:
		for i := range v {
			now, c := eachText(v[i], clean)
			v[i], changed = now, changed || c
		}
		return v, changed
	case map[string]any:
		out := map[string]any{}
		for _, k := range slices.Sorted(maps.Keys(v)) { // two names may become one
			now, c := eachText(v[k], clean)
			name := clean(k)
			out[name], changed = now, changed || c || name != k
		}
		return out, changed
	}
	return v, false
}
