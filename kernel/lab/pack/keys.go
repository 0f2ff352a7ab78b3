package pack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"noema/cache"
	"noema/cache/packfile"
	"noema/kernel/result/record"
)

// keys are the records that runs need to be computed again, by the folder that they have
// in a pack. A record that several trials used is in it once.
type keys map[string]map[cache.Key]bool

// spaceOf is the kind of record in a folder.
var spaceOf = map[string]cache.Space{replies: cache.Completions, tools: cache.ToolResults, seeds: cache.Seeds, samples: cache.Blobs, replaced: cache.Blobs}

// folders are those of records, in their order in a pack.
var folders = []string{samples, replaced, replies, tools, seeds}

func (k keys) add(folder, key string) error {
	parsed, err := cache.ParseKey(key)
	if err != nil {
		return err
	}
	if k[folder] == nil {
		k[folder] = map[cache.Key]bool{}
	}
	k[folder][parsed] = true
	return nil
}

// addTrial adds what a trial's calls were answered with. A call that brought no answer has
// no record.
func (k keys) addTrial(t *record.Trial) error {
	for _, c := range slices.Concat(t.Calls, t.Grading) {
		folder := map[record.CallKind]string{record.CompletionCall: replies, record.ToolCall: tools, record.SeedCall: seeds}[c.Kind]
		if c.Fault != "" || folder == "" {
			continue
		}
		if err := k.add(folder, c.Key); err != nil {
			return fmt.Errorf("trial %s, call %s: %w", t.ID, c.Path, err)
		}
	}
	return nil
}

// addRun adds what a run needs beside its trials.
func (k keys) addRun(run *record.Run, blobs []string) error {
	for _, key := range append([]string{run.Blob}, blobs...) {
		if err := k.add(samples, key); err != nil {
			return err
		}
	}
	for _, s := range run.Seeds {
		if err := k.add(seeds, s.Key); err != nil {
			return err
		}
	}
	for _, r := range run.Replaced {
		if err := errors.Join(k.add(replaced, r.Blob), k.add(replies, r.Key)); err != nil {
			return err
		}
	}
	return nil
}

// write adds the records to a pack, each folder in the order of keys.
func (k keys) write(ctx context.Context, store *cache.Store, w *packfile.Writer, out redaction) error {
	for _, folder := range folders {
		lines := w.Lines(folder)
		for _, key := range slices.SortedFunc(maps.Keys(k[folder]), func(a, b cache.Key) int { return bytes.Compare(a[:], b[:]) }) {
			line, err := store.Line(ctx, spaceOf[folder], key)
			if errors.Is(err, cache.ErrNotFound) && folder == seeds {
				continue // it was built without the store
			}
			if err != nil {
				return fmt.Errorf("read record %s of the %s: %w", key, folder, err)
			}
			if i := bytes.IndexByte(line, '\n'); i >= 0 && (folder == replaced || i < len(line)-1) {
				return fmt.Errorf("blob %s of the %s is not one line", key, folder)
			}
			if line, err = out.line(folder, line); err != nil {
				return err
			}
			if line == nil {
				continue
			}
			if err := lines.Add(line); err != nil {
				return err
			}
		}
		if err := lines.Close(); err != nil {
			return err
		}
	}
	return nil
}
