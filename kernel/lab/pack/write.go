package pack

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"noema/cache"
	"noema/cache/packfile"
	"noema/kernel/lab"
	"noema/kernel/result/record"
	"noema/kernel/run/runner"
)

// Source is where a study is made from.
type Source struct {
	Lab   *lab.Lab
	Runs  []*record.Run // finished ones
	Noema string        // the build that writes it

	Redact []string // what to take out; see [Redactable]
}

// writer carries out one Write.
type writer struct {
	Source
	store *cache.Store
	pack  *packfile.Writer
	keys  keys
	out   redaction
	study Study
	runs  []*record.Run   // as they are in the pack
	code  map[string]bool // digests that are in the pack
}

// Write makes a pack of runs and returns its digest. The same runs give the same bytes.
func (s Source) Write(ctx context.Context, p *packfile.Writer) (string, error) {
	out := redaction(s.Redact)
	if err := out.check(); err != nil {
		return "", lab.Misused(err)
	}
	store, err := s.Lab.Store()
	if err != nil {
		return "", err
	}
	w := &writer{Source: s, store: store, pack: p, keys: keys{}, out: out, code: map[string]bool{}, study: Study{Format: Format, Noema: s.Noema, Redacted: out}}
	for _, run := range s.Runs {
		if err := w.run(ctx, run); err != nil {
			return "", fmt.Errorf("pack run %q: %w", run.ID, err)
		}
	}
	if err := w.keys.write(ctx, store, p, out); err != nil {
		return "", fmt.Errorf("pack: %w", err)
	}
	if err := w.head(); err != nil {
		return "", fmt.Errorf("pack: %w", err)
	}
	return p.Close()
}

// addRecord writes the record of a run or a study.
func (w *writer) addRecord(run *record.Run) error {
	raw, err := record.Marshal(run)
	if err != nil {
		return err
	}
	return w.pack.Add(runEntry(run.ID, runFile), raw)
}

// run writes what is a run's own and notes what it shares with others.
func (w *writer) run(ctx context.Context, run *record.Run) error {
	if run.Status != record.Finished {
		return errors.New("it is not finished: run its command again to finish it")
	}
	listed := placeless(*run)
	if w.out.has(items) {
		listed.Question = takenText(run.Question)
	}
	if run.Config.Study != nil {
		return w.ofStudy(run, &listed)
	}
	if err := w.addRecord(&listed); err != nil {
		return err
	}
	if err := w.writeCode(ctx, run); err != nil {
		return err
	}
	blobs, err := runner.TaskBlobs(ctx, w.store, run)
	if err != nil {
		return err
	}
	if err := w.keys.addRun(run, blobs); err != nil {
		return err
	}
	tree, err := w.trials(ctx, run)
	if err != nil {
		return err
	}
	if err := w.tables(ctx, run); err != nil {
		return err
	}
	w.runs = append(w.runs, &listed)
	entry, err := runOf(run, tree)
	w.study.Runs = append(w.study.Runs, entry)
	return err
}

// placeless is a run without the folders of the machine that it ran on.
func placeless(run record.Run) record.Run {
	run.Plugins, run.Command = slices.Clone(run.Plugins), slices.Clone(run.Command)
	for i, p := range run.Plugins {
		if p.Path != "" {
			run.Plugins[i].Path = filepath.Base(p.Path)
		}
		run.Plugins[i].Left = slices.DeleteFunc(slices.Clone(p.Left), func(l record.Left) bool { return !l.Task })
	}
	if len(run.Command) > 0 {
		run.Command[0] = filepath.Base(run.Command[0])
	}
	return run
}

// runOf is what a pack says of a run.
func runOf(run *record.Run, tree *Tree) (Run, error) {
	root, err := tree.Root()
	c := run.Config
	return Run{
		ID: run.ID, Root: run.Root, Trials: int(tree.size), Tree: root, Task: c.Task.String(), Digest: c.Task.Digest, Source: run.Source,
		Model: c.Model.ID.String(), Simulated: c.Model.Simulated,
	}, err
}

// trials writes the transcripts in canonical order.
func (w *writer) trials(ctx context.Context, run *record.Run) (*Tree, error) {
	tree := &Tree{}
	lines := w.pack.Lines(runEntry(run.ID, trialFolder))
	for _, id := range run.Trials() {
		raw, err := w.store.Trial(ctx, run.ID, id.String())
		if err != nil {
			return nil, fmt.Errorf("trial %s: %w", id, err)
		}
		t, err := record.UnmarshalTrial(raw)
		if err != nil {
			return nil, fmt.Errorf("trial %s: %w", id, err)
		}
		if !w.out.computable() {
			w.out.trial(t)
			if raw, err = record.Marshal(t); err != nil {
				return nil, err
			}
		}
		if err := errors.Join(w.keys.addTrial(t), tree.Add(id, t.Hash), lines.Add(raw)); err != nil {
			return nil, err
		}
	}
	return tree, lines.Close()
}

// tables writes a run's numbers, and the labels of people that they rest on.
func (w *writer) tables(ctx context.Context, run *record.Run) error {
	labels, err := os.ReadFile(runner.LabelFile(w.store, run.ID))
	if err == nil {
		err = w.pack.Add(runEntry(run.ID, labelFile), labels)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	table, err := tableOf(w.Lab, run)
	if err != nil {
		return err
	}
	return w.pack.Add(runEntry(run.ID, tableFile), table)
}

// tableOf is the numbers of a run or a study as a line of JSON.
func tableOf(l *lab.Lab, run *record.Run) ([]byte, error) {
	var numbers any
	var err error
	if run.Config.Study != nil {
		_, numbers, err = studyNumbers(l, run.ID)
	} else {
		_, numbers, err = runNumbers(l, run.ID)
	}
	if err != nil {
		return nil, err
	}
	raw, err := record.Marshal(numbers)
	return append(raw, '\n'), err
}

// runNumbers are those of a run of a lab.
func runNumbers(l *lab.Lab, id string) (*lab.Result, *lab.Numbers, error) {
	r, err := l.LoadLight(id)
	if err != nil {
		return nil, nil, err
	}
	n, err := r.Numbers()
	return r, n, err
}

// head writes what the pack says of itself.
func (w *writer) head() error {
	if err := w.pack.Add(readmeName, []byte(readme)); err != nil {
		return err
	}
	raw, err := record.Marshal(w.study)
	if err != nil {
		return err
	}
	if err := w.pack.Add(studyName, append(raw, '\n')); err != nil || len(w.runs) == 0 {
		return err
	}
	if raw, err = crateOf(w.pack.Names(), w.study, w.runs); err != nil {
		return err
	}
	return w.pack.Add(crateName, raw)
}

// readmeVerify begins what the README says to do: see [earlier].
const readmeVerify = `    noema pack verify FILE     computes every trial again, without a key and without a network,
                               and compares`

const readme = `This zip is a study: runs of noema with everything that they asked and were told.

` + readmeVerify + ` root hashes and tables with what is in here

study.json lists the runs. runs/ID holds each: its configuration (run.json), its
transcripts (trials), its numbers (table.json). replies, tools and seeds are the recorded
answers by the digest of what was asked; samples are the data; code is that of plugins.
Files that end in .zst are compressed with zstd; .jsonl is one JSON value a line.
manifest.json has the SHA-256 of every file; ro-crate-metadata.json is for archives.
`
