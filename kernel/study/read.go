package study

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"noema/cache"
	"noema/cache/pack"
	"noema/kernel/record"
	"noema/kernel/runner"
)

// atOnce is how many records are written at a time: the store commits writes that come
// together as one.
const atOnce = 256

// Bounds on what a study may say of itself.
const (
	maxRuns   = 10_000
	maxTrials = 10_000_000
)

// Read reads what a pack says of itself.
func Read(p *pack.File) (*Study, error) {
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
	if len(s.Runs) > maxRuns {
		return nil, fmt.Errorf("read %s: it names %d runs, and at most %d are read", studyName, len(s.Runs), maxRuns)
	}
	return &s, nil
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
func addRecords(ctx context.Context, p *pack.File, store *cache.Store, unasked bool) (*Imported, error) {
	done := &Imported{}
	results := make(chan func(*Imported), atOnce)
	var all errgroup.Group
	all.Go(func() error {
		defer close(results)
		for _, folder := range folders {
			if err := addFolder(ctx, p, store, folder, unasked, results); err != nil {
				return fmt.Errorf("read the %s: %w", folder, err)
			}
		}
		return nil
	})
	for count := range results {
		count(done)
	}
	slices.Sort(done.Conflicts)
	return done, all.Wait()
}

func addFolder(ctx context.Context, p *pack.File, store *cache.Store, folder string, unasked bool, results chan<- func(*Imported)) error {
	writes, ctx := errgroup.WithContext(ctx)
	writes.SetLimit(atOnce)
	n := 0
	for line, err := range p.Lines(ctx, folder) {
		if err != nil {
			return errors.Join(err, writes.Wait())
		}
		if n++; folder == replaced {
			line = bytes.TrimSuffix(line, []byte("\n"))
		}
		line, n := bytes.Clone(line), n
		writes.Go(func() error {
			key, added, err := store.AddLine(ctx, spaceOf[folder], line)
			if errors.Is(err, cache.ErrRedacted) && unasked && folder == replies {
				key, added, err = store.AddUnasked(ctx, line)
			}
			if errors.Is(err, cache.ErrRedacted) {
				results <- func(i *Imported) { i.Redacted++ }
				return nil
			}
			if err != nil {
				return fmt.Errorf("line %d: %w", n, err)
			}
			results <- func(i *Imported) {
				switch added {
				case cache.New:
					i.New++
				case cache.Same:
					i.Same++
				case cache.Conflict:
					i.Conflicts = append(i.Conflicts, folder+" "+key.String())
				}
			}
			return nil
		})
	}
	return writes.Wait()
}

// readRun reads the record of a run. It must be the one that the study names.
func readRun(p *pack.File, s Run) (*record.Run, error) {
	if s.ID == "" || strings.ContainsAny(s.ID, "/\\") || s.ID[0] == '.' {
		return nil, fmt.Errorf("run %q: this is no id of a run", s.ID)
	}
	raw, err := p.Read(runEntry(s.ID, runFile))
	if err != nil {
		return nil, err
	}
	run, err := record.UnmarshalRun(raw)
	if err != nil {
		return nil, fmt.Errorf("read run %q: %w", s.ID, err)
	}
	switch {
	case run.ID != s.ID:
		return nil, fmt.Errorf("read run %q: its record is of run %q", s.ID, run.ID)
	case run.Root != s.Root:
		return nil, fmt.Errorf("read run %q: %s gives it the root hash %.12s, and its record %.12s", s.ID, studyName, s.Root, run.Root)
	case run.Status != record.Finished:
		return nil, fmt.Errorf("read run %q: it is not finished", s.ID)
	case len(run.Plugins) != len(run.Config.Methods) && run.Imported == nil:
		return nil, fmt.Errorf("read run %q: it has %d methods and %d plugins", s.ID, len(run.Config.Methods), len(run.Plugins))
	}
	return run, checkSize(run)
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

// addRun adds a run with its trials to a store that does not have it, and returns the tree
// over them.
func addRun(ctx context.Context, p *pack.File, store *cache.Store, run *record.Run, out redaction) (*Tree, error) {
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
	raw, err := record.Marshal(run)
	if err != nil {
		return nil, err
	}
	return tree, store.PutRun(ctx, run.ID, raw)
}

// addLabels adds the labels of a run.
func addLabels(p *pack.File, store *cache.Store, run string) error {
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
