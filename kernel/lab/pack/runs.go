package pack

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"slices"
	"strings"
	"sync/atomic"

	"noema/kernel/lab"
	"noema/kernel/result/record"
	"noema/plugins"
)

// run checks what the pack says of one run.
func (x *verification) run(ctx context.Context, s Run) {
	seen := newTally()
	run, tree, err := x.load(ctx, s, seen)
	if !x.claim(s.ID, fmt.Sprintf("%d trials stand in the tree %.12s", s.Trials, s.Tree), err) {
		x.verdict.Runs = append(x.verdict.Runs, Checked{Run: s.ID})
		return
	}
	checked := Checked{Run: s.ID, Tree: tree}
	again := fmt.Sprintf("every trial computed again gives the root hash %.12s", s.Root)
	switch {
	case run.Imported != nil:
		x.unchecked(s.ID, "its answers and scores", "they were imported from "+run.Imported.File+", without calls")
	case x.elsewhere(run) != "":
		x.unchecked(s.ID, again, x.elsewhere(run))
		x.claim(s.ID, fmt.Sprintf("the hashes of its trials give the root hash %.12s", s.Root), seen.rooted(run))
	case !x.out().computable():
		x.unchecked(s.ID, again, "its "+strings.Join(x.study.Redacted, " and ")+" were taken out")
		x.claim(s.ID, fmt.Sprintf("the hashes of its trials give the root hash %.12s", s.Root), seen.rooted(run))
	default:
		root, err := x.contained(ctx, run)
		checked.Root, checked.Same = root, x.claim(s.ID, again, x.elsewise(ctx, run, err))
	}
	x.table(run)
	x.believed(ctx, run, seen, checked.Same)
	x.verdict.Runs = append(x.verdict.Runs, checked)
}

// out is what was taken out of the pack.
func (x *verification) out() redaction { return x.study.Redacted }

// unchecked notes a claim that nobody can check.
func (x *verification) unchecked(run, what, why string) {
	x.note(&x.verdict.Unchecked, Claim{Run: run, What: what, Why: why})
}

// tally is what is noted of a run's trials while they are read.
type tally struct {
	hashes        []string
	times         times
	failed, whole hash.Hash // over the trials that the infrastructure failed, and over all
	broken, calls int       // trials that the infrastructure failed, and calls of others without an answer
	first         string    // the first of either
}

func newTally() *tally { return &tally{failed: sha256.New(), whole: sha256.New()} }

func (n *tally) add(t *record.Trial) {
	n.hashes = append(n.hashes, t.Hash)
	n.times.add(t)
	raw, _ := record.Marshal(t.Timeless()) // it was read from JSON
	n.whole.Write(raw)
	if t.Infra {
		n.broken++
		n.failed.Write(raw)
	}
	for _, c := range slices.Concat(t.Calls, t.Grading) {
		if !t.Infra && slices.Contains([]record.Fault{record.ProviderFault, record.LengthFault, record.ToolFault, record.CancelFault}, c.Fault) {
			n.calls++
		}
	}
	if n.first == "" && n.broken+n.calls > 0 {
		n.first = t.ID.String()
	}
}

// rooted reports whether the hashes of a run's trials give its root hash.
func (n *tally) rooted(run *record.Run) error {
	digest, err := run.Config.Digest()
	if err != nil {
		return err
	}
	if root := record.Root(digest, n.hashes); root != run.Root {
		return fmt.Errorf("it is %.12s", root)
	}
	return nil
}

// load brings a run into the temporary store.
func (x *verification) load(ctx context.Context, s Run, seen *tally) (*record.Run, string, error) {
	run, err := readRun(x.pack, s)
	if err != nil {
		return nil, "", err
	}
	if err := x.settle(run); err != nil {
		return nil, "", err
	}
	tree, err := addRun(ctx, x.pack, x.store, run, x.out(), seen.add)
	if err != nil {
		return nil, "", err
	}
	if digest, err := run.Config.Digest(); err != nil || digest != run.Digest {
		return run, "", errors.Join(err, fmt.Errorf("its configuration has the digest %.12s, and its record says %.12s", digest, run.Digest))
	}
	root, err := tree.Root()
	if err == nil && (root != s.Tree || int(tree.size) != s.Trials) {
		err = fmt.Errorf("the tree over its %d trials is %.12s, and %s says %.12s", tree.size, root, studyName, s.Tree)
	}
	if err != nil {
		return run, root, err
	}
	if now, err := runOf(run, tree); err != nil || now != s {
		return run, root, errors.Join(err, misnamed(s, now))
	}
	return run, root, x.complete(ctx, run)
}

// misnamed says what study.json gets wrong of a run.
func misnamed(said, now Run) error {
	a, err := record.Marshal(said)
	if err != nil {
		return err
	}
	b, err := record.Marshal(now)
	return cmp.Or(err, fmt.Errorf("%s: %s", studyName, difference(a, b)))
}

// settle makes the methods of a run those that the pack holds or noema has itself: what
// else a record names is never opened.
func (x *verification) settle(run *record.Run) error {
	if run.Imported != nil {
		return nil
	}
	known := map[string]bool{}
	for i, p := range run.Plugins {
		at, packed := x.code[p.Digest]
		switch {
		case packed && !p.Builtin:
			if _, err := plugins.At(at); err != nil {
				return fmt.Errorf("the code of method %q: %w", p.Method, err)
			}
			run.Plugins[i].Path = at
		case !p.Builtin:
			return fmt.Errorf("the code of method %q is not in the pack", p.Method)
		case p.Builtin && run.Config.Methods[i].Code != "":
			return fmt.Errorf("method %q is said to be built in, and to have code of its own", p.Method)
		case !slices.Contains(x.Catalog.Methods(), p.Method):
			return fmt.Errorf("method %q is said to be built in, and this noema has none of that name", p.Method)
		}
		known[p.Method] = true
	}
	for _, m := range run.Config.Methods {
		label := m.Label
		if m.Intervention != nil {
			label = m.Intervention.Of
		}
		if spec, err := lab.ParseSpec(label); err != nil || !known[spec.Name] {
			return fmt.Errorf("method %q: none of the run's plugins serves it", label)
		}
	}
	return nil
}

// replay computes the trials of a run again.
func (x *verification) replay(run *record.Run) (root string, err error) {
	// The last of the trials that print other texts now, or whose equal calls overlap otherwise.
	var printed, overlap atomic.Pointer[record.TrialID]
	replayed, err := x.lab.Replay(run, func(said, now *record.Trial) error {
		if said.Printed != now.Printed {
			printed.Store(&said.ID)
		}
		if !slices.EqualFunc(said.Calls, now.Calls, func(a, b record.Call) bool { return a.Unordered == b.Unordered }) {
			overlap.Store(&said.ID)
		}
		rounded, err := sameTrial(said, now)
		if rounded != "" {
			x.rounded.CompareAndSwap(nil, &rounded)
		}
		return err
	})
	if r := x.rounded.Swap(nil); r != nil {
		x.unchecked(run.ID, "the last digits of its trials", otherDigits+*r)
	}
	if id := printed.Load(); id != nil {
		x.unchecked(run.ID, "what its methods print beside their answers", fmt.Sprintf("trial %s prints another text than recorded, as of a time or an address", *id))
	}
	if id := overlap.Load(); id != nil {
		x.unchecked(run.ID, "which equal calls were under way at once", fmt.Sprintf("that is chance, and another in trial %s now", *id))
	}
	switch {
	case err != nil:
		return "", err
	case replayed.Same():
		return replayed.Now, replayed.Beside
	case replayed.First != nil:
		return replayed.Now, fmt.Errorf("it is %.12s: %s", replayed.Now, replayed.First)
	}
	return replayed.Now, fmt.Errorf("it is %.12s: all trials are equal, but %s", replayed.Now, strings.Join(replayed.Changed, "; "))
}

// otherDigits is why fractions may differ in their last digits.
const otherDigits = "other processors round in another way: "

// sameTrial compares transcripts whole: a root hash covers those that are computed again,
// and says nothing of the ones beside it in the pack, nor of times and costs. Only what an
// execution adds of its own may differ, as what a program prints beside its answer, and which
// of its equal calls overlapped.
func sameTrial(said, now *record.Trial) (rounded string, err error) {
	a, b := said.Timeless(), now.Timeless()
	for _, t := range []*record.Trial{&a, &b} {
		t.Printed = ""
		for i := 0; t.Transcript != nil && i < len(t.Calls); i++ { // a copy
			t.Calls[i].Unordered = false
		}
	}
	x, err := record.Marshal(a)
	if err != nil {
		return "", err
	}
	y, err := record.Marshal(b)
	if err != nil {
		return "", err
	}
	if rounded, err = sameJSON(x, y); err != nil {
		err = fmt.Errorf("trial %s: %w", said.ID, err)
	}
	return rounded, err
}

// table checks the numbers of a run or a study.
func (x *verification) table(run *record.Run) {
	const what = "its table is recomputed, number by number"
	if !x.out().computable() {
		x.unchecked(run.ID, what, "it rests on what was taken out: "+x.digestLine(runEntry(run.ID, tableFile)))
		return
	}
	x.claim(run.ID, what, x.sameTable(run))
}

// sameTable compares the numbers with those that the trials give now.
func (x *verification) sameTable(run *record.Run) error {
	said, err := x.pack.Read(runEntry(run.ID, tableFile))
	if err != nil {
		return err
	}
	now, err := tableOf(x.lab, run)
	if err != nil {
		return err
	}
	rounded, err := sameJSON(said, now)
	if first, ok := lacks(said, now, false); err != nil && ok {
		x.unchecked(run.ID, "what its table lacks", fmt.Sprintf("another build wrote it, without %s: sha256 %.16x", first, sha256.Sum256(said)))
		return nil
	}
	if rounded != "" {
		x.unchecked(run.ID, "the last digits of its table", otherDigits+rounded)
	}
	return err
}
