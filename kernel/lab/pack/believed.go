package pack

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"noema/cache"
	"noema/kernel/lab"
	"noema/kernel/result/record"
	"noema/kernel/run/runner"
	"noema/plugins"
)

// complete refuses a run whose task lacks samples that the configuration names, and one
// whose list of method seeds is not that of its trials.
func (x *verification) complete(ctx context.Context, run *record.Run) error {
	if x.out().has(items) {
		return nil
	}
	t, err := runner.LoadTask(ctx, x.store, run)
	if err != nil {
		return err
	}
	have := map[string]int{}
	for _, s := range t.Samples {
		have[s.ID]++
	}
	for _, id := range run.Config.Task.Samples {
		if have[id] != 1 {
			return fmt.Errorf("the data of run %q has sample %q %d times", run.ID, id, have[id])
		}
	}
	for _, s := range run.Seeds {
		if err := sameSeed(ctx, x.store, s); err != nil {
			return fmt.Errorf("method seed %.12s of run %q: %w", s.Key, run.ID, err)
		}
	}
	return nil
}

// sameSeed compares what a run says of a method seed with its record, if there is one.
func sameSeed(ctx context.Context, store *cache.Store, s record.Seed) error {
	key, err := cache.ParseKey(s.Key)
	if err != nil {
		return err
	}
	r, err := store.Seed(ctx, key)
	if errors.Is(err, cache.ErrNotFound) {
		return nil // it was built without the store
	}
	if err == nil && (r.Usage != s.Usage || record.BytesDigest(r.Data) != s.Digest) {
		err = errors.New("its record has other content or another cost")
	}
	return err
}

// believed names what a run says and no computation shows. Of failures there is no record
// to compute again.
func (x *verification) believed(ctx context.Context, run *record.Run, seen *tally, recomputed bool) {
	x.data(ctx, run)
	if err := x.fields(run, recomputed); err != nil {
		x.claim(run.ID, "its record can be listed", err)
	}
	x.said(run.ID, "trials", seen.times.String())
	if !recomputed {
		x.said(run.ID, "transcripts", fmt.Sprintf("%d trials, sha256 %.16x", len(seen.hashes), seen.whole.Sum(nil)))
	}
	if seen.broken > 0 && run.Imported == nil {
		x.unchecked(run.ID, fmt.Sprintf("that %d of its %d trials failed, such as %s", seen.broken, len(seen.hashes), seen.first),
			fmt.Sprintf("the infrastructure failed them, and they count for no method: sha256 %.16x", seen.failed.Sum(nil)))
	}
	if seen.calls > 0 {
		x.unchecked(run.ID, fmt.Sprintf("that %d calls brought no answer, such as in trial %s", seen.calls, seen.first), "a failure leaves no record")
	}
	if n := len(run.Replaced); n > 0 {
		x.unchecked(run.ID, fmt.Sprintf("%d of its replies", n), "they were written by hand, not by the model")
	}
	if x.pack.Has(runEntry(run.ID, labelFile)) {
		x.unchecked(run.ID, "its labels", "people gave them: "+x.digestLine(runEntry(run.ID, labelFile)))
	}
}

// data compares the samples with the task whose digest the run names: the whole task, if
// the pack has it, or the one that this noema generates under the name.
func (x *verification) data(ctx context.Context, run *record.Run) {
	named := run.Config.Task
	what := fmt.Sprintf("its %d samples are of the task with the digest %.12s", len(named.Samples), named.Digest)
	if x.out().has(items) {
		x.unchecked(run.ID, what, "they were taken out")
		return
	}
	t, err := runner.LoadTask(ctx, x.store, run)
	if err != nil {
		x.claim(run.ID, what, err)
		return
	}
	if whole, err := t.Digest(); err == nil && whole == named.Digest {
		x.claim(run.ID, what, nil)
		return
	}
	made := x.generated(ctx, named)
	if made == nil {
		x.unchecked(run.ID, what, "the pack holds only a part of it, and noema does not generate this task: "+x.digestLine(samples+"/00000.jsonl.zst"))
		return
	}
	x.claim(run.ID, what, sameSamples(t, made))
}

// generated is the built-in task of a name, or nil if this noema makes no task with the
// digest. No file is opened.
func (x *verification) generated(ctx context.Context, named record.Task) *lab.Task {
	builtin := func(e lab.TaskEntry) bool { return e.Name == named.Name }
	if !slices.ContainsFunc(x.Catalog.Tasks(), builtin) {
		return nil
	}
	spec, err := lab.ParseSpec(named.String())
	if err != nil || spec.Name != named.Name {
		return nil
	}
	t, err := x.Catalog.Task(ctx, spec)
	if err != nil {
		return nil
	}
	if digest, err := t.Digest(); err != nil || digest != named.Digest {
		return nil
	}
	return t
}

// sameSamples reports a sample that is not the task's.
func sameSamples(said, made *lab.Task) error {
	all := map[string][]byte{}
	for _, s := range made.Samples {
		raw, err := record.Marshal(s)
		if err != nil {
			return err
		}
		all[s.ID] = raw
	}
	for _, s := range said.Samples {
		raw, err := record.Marshal(s)
		if err != nil {
			return err
		}
		if want := all[s.ID]; string(raw) != string(want) {
			return fmt.Errorf("sample %q: %s", s.ID, difference(raw, want))
		}
	}
	return nil
}

// elsewhere says why the code of a run cannot be run on this machine; empty if it can.
func (x *verification) elsewhere(run *record.Run) string {
	here := runtime.GOOS + "/" + runtime.GOARCH
	for _, p := range run.Plugins {
		for _, c := range x.study.Code {
			if c.Digest != p.Digest || p.Builtin {
				continue
			}
			if c.Platform != "" && c.Platform != here && !x.rebuilt[c.Digest] {
				cure := "verify it there"
				if c.Source != "" {
					cure += ", or build it here with --rebuild"
				}
				return fmt.Sprintf("the code of method %q is a binary for %s, and this is %s: %s", p.Method, c.Platform, here, cure)
			}
			if name := interpreter(x.code[c.Digest], c); name != "" {
				return fmt.Sprintf("the code of method %q is run by %q, which is not on this machine: install it, or verify in a folder that has it", p.Method, name)
			}
		}
	}
	return ""
}

// interpreter is what runs a plugin's folder, if it is not there.
func interpreter(at string, c Code) string {
	src, err := plugins.At(at)
	if err != nil || !c.Folder {
		return ""
	}
	return src.Missing()
}

// elsewise adds to the failure of computing a run again what runs its code here in another
// version than where it was recorded.
func (x *verification) elsewise(ctx context.Context, run *record.Run, err error) error {
	if err == nil {
		return nil
	}
	for _, p := range run.Plugins {
		src, failed := plugins.At(x.code[p.Digest])
		if p.Builtin || len(p.Versions) == 0 || failed != nil {
			continue
		}
		here := src.Versions(ctx)
		other := slices.DeleteFunc(slices.Clone(p.Versions), func(v string) bool { return slices.Contains(here, v) })
		if len(other) > 0 {
			const shown = 5
			more := ""
			if n := len(other) - shown; n > 0 {
				more = fmt.Sprintf(" and %d more", n)
			}
			err = fmt.Errorf("%w; method %q was recorded with %s%s, which this machine has in other versions or lacks: verify in a folder with its .venv or node_modules", err, p.Method, strings.Join(other[:min(len(other), shown)], ", "), more)
		}
	}
	return err
}

// isolated refuses to run what came in the pack where it is not isolated.
func (x *verification) isolated() error {
	isolation := x.Isolation
	if isolation == nil {
		isolation = plugins.Isolated
	}
	if inForce, full := isolation(); !full && !x.Weak {
		return fmt.Errorf("it has code of its own, and this machine does not isolate it (%s): if you trust it, use --weak-isolation", inForce)
	}
	return nil
}

// limited bounds the time of what came in the pack.
func (x *verification) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	limit := x.Timeout
	if limit <= 0 {
		limit = time.Hour
	}
	return context.WithTimeoutCause(ctx, limit, fmt.Errorf("its code took longer than %v: see --timeout", limit))
}

// contained computes the trials of a run again. Code that came in the pack runs only
// isolated, and for a bounded time.
func (x *verification) contained(ctx context.Context, run *record.Run) (root string, err error) {
	if run.Imported != nil || !slices.ContainsFunc(run.Plugins, func(p record.Plugin) bool { return !p.Builtin }) {
		return x.replay(run)
	}
	if err := x.isolated(); err != nil {
		return "", err
	}
	ctx, cancel := x.limited(ctx)
	defer cancel()
	defer func(before context.Context) { x.during = before }(x.during)
	x.during = ctx
	root, err = x.replay(run)
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return root, err
}
