package pack

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"noema/cache"
	"noema/cache/packfile"
	"noema/kernel/result/record"
	"noema/kernel/run/runner"
)

// atOnce is how many records are written at a time: the store commits writes that come
// together as one.
const atOnce = 256

// Bounds on what a study may say of itself.
const (
	maxRuns    = 10_000
	maxPlugins = 1_000
	maxTrials  = 1_000_000 // of a run
	inFlight   = 64 << 20  // bytes of lines that are decoded at once
)

// runID is what a run's id looks like.
var runID = regexp.MustCompile("^" + record.RunIDPattern + "$")

// Read reads what a pack says of itself.
func Read(p *packfile.File) (*Study, error) {
	raw, err := p.Read(studyName)
	if err != nil {
		return nil, err
	}
	var s Study
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil, fmt.Errorf("read %s: %w", studyName, err)
	}
	if s.Format > Format {
		return nil, fmt.Errorf("read %s: its format is %d, and this noema reads up to %d: use a newer noema", studyName, s.Format, Format)
	}
	if len(s.Runs) > maxRuns || len(s.Code) > maxPlugins {
		return nil, fmt.Errorf("read %s: it names %d runs and %d plugins, and at most %d and %d are read", studyName, len(s.Runs), len(s.Code), maxRuns, maxPlugins)
	}
	if err := redaction(s.Redacted).check(); err != nil {
		return nil, fmt.Errorf("read %s: %w", studyName, err)
	}
	return &s, cmp.Or(once(studyName, "run", s.Runs, func(r Run) string { return r.ID }), once(studyName, "the code", s.Code, func(c Code) string { return c.Digest }))
}

// once refuses what is named twice: it would count twice.
func once[T any](where, what string, list []T, name func(T) string) error {
	seen := map[string]bool{}
	for _, x := range list {
		if seen[name(x)] {
			return fmt.Errorf("read %s: it has %s %q twice", where, what, name(x))
		}
		seen[name(x)] = true
	}
	return nil
}

// Imported says what became of the content of a pack in a store.
type Imported struct {
	New       int      `json:"new"`                // records that were added
	Same      int      `json:"same"`               // records that the store had
	Redacted  int      `json:"redacted,omitempty"` // records that were left out, for want of what was taken out
	Conflicts []string `json:"conflicts"`          // "replies KEY" or "run ID": the store has another, which stays
	Runs      []string `json:"runs"`               // that were added
}

// addRecords adds the answers, seeds and samples of a pack to a store.
//
// With unasked, answers whose request was redacted are added, too; other redacted records
// are left out.
func addRecords(ctx context.Context, p *packfile.File, store *cache.Store, unasked bool) (*Imported, error) {
	done := &Imported{}
	for _, folder := range folders {
		if err := done.addFolder(ctx, p, store, folder, unasked); err != nil {
			return done, fmt.Errorf("read the %s: %w", folder, err)
		}
	}
	slices.Sort(done.Conflicts)
	return done, nil
}

func (i *Imported) addFolder(ctx context.Context, p *packfile.File, store *cache.Store, folder string, unasked bool) error {
	var counting sync.Mutex
	writes, ctx := errgroup.WithContext(ctx)
	writes.SetLimit(atOnce)
	room := semaphore.NewWeighted(inFlight)
	n, last := 0, cache.Key{}
	for line, err := range p.Lines(ctx, folder) {
		if n++; folder == replaced {
			line = bytes.TrimSuffix(line, []byte("\n"))
		}
		var key cache.Key
		if err == nil {
			key, err = keyOf(folder, line)
		}
		if err == nil && n > 1 && bytes.Compare(key[:], last[:]) <= 0 {
			err = errors.New("records are not in the order of their keys, or one is there twice")
		}
		if last = key; err != nil {
			return cmp.Or(writes.Wait(), fmt.Errorf("line %d: %w", n, err))
		}
		weight := min(int64(len(line)), inFlight)
		if err := room.Acquire(ctx, weight); err != nil {
			return cmp.Or(writes.Wait(), err)
		}
		line, n := bytes.Clone(line), n
		writes.Go(func() error {
			defer room.Release(weight)
			got, added, err := store.AddLine(ctx, spaceOf[folder], line)
			if errors.Is(err, cache.ErrRedacted) && unasked && folder == replies {
				got, added, err = store.AddUnasked(ctx, line)
			}
			if (err == nil || errors.Is(err, cache.ErrRedacted)) && got != key {
				err = errors.New("it has two keys")
			}
			counting.Lock()
			defer counting.Unlock()
			switch {
			case errors.Is(err, cache.ErrRedacted):
				i.Redacted++
			case err != nil:
				return fmt.Errorf("line %d: %w", n, err)
			case added == cache.New:
				i.New++
			case added == cache.Same:
				i.Same++
			case added == cache.Conflict:
				i.Conflicts = append(i.Conflicts, folder+" "+key.String())
			}
			return nil
		})
	}
	return writes.Wait()
}

// keyOf is the key of a line, by which lines are in order: so none is there twice, and what
// a small pack unpacks to is soon read.
func keyOf(folder string, line []byte) (cache.Key, error) {
	if spaceOf[folder] == cache.Blobs {
		return sha256.Sum256(line), nil
	}
	rest, ok := bytes.CutPrefix(line, []byte(`{"key":"`))
	if !ok || len(rest) < 2*sha256.Size {
		return cache.Key{}, errors.New("it does not begin with its key")
	}
	return cache.ParseKey(string(rest[:2*sha256.Size]))
}

// recordOf reads the record of a run or a study.
func recordOf(p *packfile.File, id string) (*record.Run, error) {
	if !runID.MatchString(id) {
		return nil, fmt.Errorf("%q is not the id of a run", id)
	}
	raw, err := p.Read(runEntry(id, runFile))
	if err != nil {
		return nil, err
	}
	run, err := record.UnmarshalRun(raw)
	if err != nil {
		return nil, fmt.Errorf("read run %q: %w", id, err)
	}
	return run, nil
}

// readRun reads the record of a run. It must be the one that the study names.
func readRun(p *packfile.File, s Run) (*record.Run, error) {
	run, err := recordOf(p, s.ID)
	if err != nil {
		return nil, err
	}
	switch {
	case run.ID != s.ID:
		return nil, fmt.Errorf("read run %q: its record is of run %q", s.ID, run.ID)
	case run.Root != s.Root:
		return nil, fmt.Errorf("read run %q: %s gives it the root hash %.12s, and its record %.12s", s.ID, studyName, s.Root, run.Root)
	case run.Status != record.Finished:
		return nil, fmt.Errorf("read run %q: it is not finished", s.ID)
	case run.Imported != nil && run.Root != "":
		return nil, fmt.Errorf("read run %q: it was imported, without calls, and has a root hash", s.ID)
	case len(run.Plugins) != len(run.Config.Methods) && run.Imported == nil:
		return nil, fmt.Errorf("read run %q: it has %d methods and %d plugins", s.ID, len(run.Config.Methods), len(run.Plugins))
	}
	return run, cmp.Or(checkSize(run), checkNames(run))
}

// checkNames refuses a configuration in which a trial counts twice, or which names a
// method by a path: what is there on this machine is not what the run used.
func checkNames(run *record.Run) error {
	where := "run " + run.ID
	err := cmp.Or(once(where, "sample", run.Config.Task.Samples, strings.Clone), once(where, "method", run.Config.Methods, func(m record.Method) string { return m.Label }))
	for _, p := range run.Plugins {
		if p.Method == "" || strings.ContainsAny(p.Method, `/\`) {
			return fmt.Errorf("read run %q: it names a method %q, which is not a name", run.ID, p.Method)
		}
	}
	if run.Asked != nil && run.Config.Design == nil {
		return fmt.Errorf("read run %q: it has %v samples by method, and no rule by which it may end early", run.ID, run.Asked)
	}
	return err
}

// checkSize refuses a configuration that stands for more trials than a pack may hold,
// before they are listed.
func checkSize(run *record.Run) error {
	c := run.Config
	n := maxTrials
	for _, factor := range []int{len(c.Methods), len(c.Task.Samples), c.Epochs} {
		if factor < 0 || factor > n {
			return fmt.Errorf("read run %q: %d methods, %d samples and %d epochs are more than %d trials", run.ID, len(c.Methods), len(c.Task.Samples), c.Epochs, maxTrials)
		}
		n /= max(1, factor)
	}
	return nil
}

// addRun adds a run with its trials to a store that does not have it, tells of each trial,
// unless told is nil, and returns the tree over them.
func addRun(ctx context.Context, p *packfile.File, store *cache.Store, run *record.Run, out redaction, told func(*record.Trial)) (*Tree, error) {
	ids := run.Trials()
	tree := &Tree{}
	writes, group := errgroup.WithContext(ctx)
	writes.SetLimit(atOnce)
	for line, err := range p.Lines(group, runEntry(run.ID, trialFolder)) {
		if err != nil {
			return nil, errors.Join(err, writes.Wait())
		}
		t, err := record.UnmarshalTrial(line)
		if err == nil && (int(tree.size) >= len(ids) || t.ID != ids[tree.size]) {
			err = fmt.Errorf("trial %s is not the one that the configuration has here", t.ID)
		}
		if err == nil && out.computable() {
			err = sealed(t)
		}
		if err == nil {
			err = tree.Add(t.ID, t.Hash)
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("trial %d of run %q: %w", tree.size+1, run.ID, err), writes.Wait())
		}
		if told != nil {
			told(t)
		}
		raw := bytes.TrimSuffix(bytes.Clone(line), []byte("\n"))
		writes.Go(func() error { return store.PutTrial(group, run.ID, t.ID.String(), raw) })
	}
	if err := writes.Wait(); err != nil {
		return nil, err
	}
	if int(tree.size) != len(ids) {
		return nil, fmt.Errorf("run %q has %d of its %d trials", run.ID, tree.size, len(ids))
	}
	if err := addLabels(p, store, run.ID); err != nil {
		return nil, err
	}
	return tree, putRun(ctx, store, run)
}

// putRun puts the record of a run or a study into a store.
func putRun(ctx context.Context, store *cache.Store, run *record.Run) error {
	raw, err := record.Marshal(run)
	if err != nil {
		return err
	}
	return store.PutRun(ctx, run.ID, raw)
}

// addLabels adds the labels of a run.
func addLabels(p *packfile.File, store *cache.Store, run string) error {
	name := runEntry(run, labelFile)
	if !p.Has(name) {
		return nil
	}
	raw, err := p.Read(name)
	if err != nil {
		return err
	}
	file := runner.LabelFile(store, run)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return os.WriteFile(file, raw, fs.FileMode(0o600))
}
