package pack

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"noema/cache"
	"noema/kernel/result/record"
	"noema/kernel/run/runner"
)

// Prune says which answers to remove from a store. What a run needs to be computed again
// stays, and so does what may belong to a run that is not finished: all that came since it
// began. The zero value removes all other answers.
type Prune struct {
	Runs    []*record.Run // to remove first; then only answers that they used go
	Before  time.Time     // if set, only what was received before
	MaxSize int64         // if set, only as many, the oldest first, as bring the answers and samples below this many bytes
	DryRun  bool          // remove nothing
}

// Pruned says what was removed, or would be.
type Pruned struct {
	Runs    []string `json:"runs"`
	Records int      `json:"records"`
	Bytes   int64    `json:"bytes"` // as stored
	Kept    int      `json:"kept"`  // records that stay
}

// candidate is a record that no run needs.
type candidate struct {
	cache.Aged
	folder string
}

// Do carries it out. Space comes back to the disk at the end.
func (p Prune) Do(ctx context.Context, store *cache.Store) (*Pruned, error) {
	done := &Pruned{Runs: []string{}}
	named := map[string]bool{}
	for _, run := range p.Runs {
		named[run.ID] = true
		done.Runs = append(done.Runs, run.ID)
	}
	needed, used, since, err := p.needs(ctx, store, named)
	if err != nil {
		return nil, err
	}
	found, total, err := p.candidates(ctx, store, needed, used, since, done)
	if err != nil {
		return nil, err
	}
	if p.MaxSize > 0 {
		found = oldest(found, total-p.MaxSize)
	}
	byFolder := map[string][]cache.Key{}
	for _, c := range found {
		done.Records++
		done.Bytes += c.Size
		byFolder[c.folder] = append(byFolder[c.folder], c.Key)
	}
	done.Kept -= done.Records
	if p.DryRun {
		return done, nil
	}
	for _, id := range done.Runs {
		if err := runner.Remove(ctx, store, id); err != nil {
			return nil, err
		}
	}
	for _, folder := range folders {
		if err := store.Delete(ctx, spaceOf[folder], byFolder[folder]...); err != nil {
			return nil, err
		}
	}
	return done, store.Shrink(ctx)
}

// needs are the records of the runs that stay, and those of the ones that go; since is when
// the first unfinished run that stays began, or zero.
func (p Prune) needs(ctx context.Context, store *cache.Store, named map[string]bool) (needed, used keys, since time.Time, err error) {
	runs, err := runner.Runs(ctx, store)
	if err != nil {
		return nil, nil, since, err
	}
	needed, used = keys{}, keys{}
	for _, run := range runs {
		into := needed
		if named[run.ID] {
			into = used
		} else if run.Status != record.Finished && (since.IsZero() || run.Created.Before(since)) {
			since = run.Created
		}
		blobs, err := runner.TaskBlobs(ctx, store, run)
		if err == nil {
			err = into.addRun(run, blobs)
		}
		if err != nil {
			return nil, nil, since, fmt.Errorf("prune: run %q: %w", run.ID, err)
		}
		for t, err := range runner.Trials(ctx, store, run) {
			if err == nil {
				err = into.addTrial(t)
			}
			if err != nil {
				return nil, nil, since, err
			}
		}
	}
	return needed, used, since, nil
}

// candidates lists what may go, and the size of all.
func (p Prune) candidates(ctx context.Context, store *cache.Store, needed, used keys, since time.Time, done *Pruned) (found []candidate, total int64, err error) {
	stays := func(folder string, a cache.Aged) bool {
		aged := a.At.IsZero() || (p.Before.IsZero() || a.At.Before(p.Before)) && (since.IsZero() || a.At.Before(since))
		blob := folder == samples && (needed[replaced][a.Key] || !p.Before.IsZero())
		return needed[folder][a.Key] || blob || !aged || len(p.Runs) > 0 && !used[folder][a.Key] && !(folder == samples && used[replaced][a.Key])
	}
	for _, folder := range []string{samples, replies, tools, seeds} {
		for a, err := range store.Aged(ctx, spaceOf[folder]) {
			if err != nil {
				return nil, 0, err
			}
			done.Kept++
			total += a.Size
			if !stays(folder, a) {
				found = append(found, candidate{a, folder})
			}
		}
	}
	return found, total, nil
}

// oldest are as many of the candidates as have so many bytes together, the oldest first.
func oldest(found []candidate, bytes int64) []candidate {
	slices.SortStableFunc(found, func(a, b candidate) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Key.String(), b.Key.String()))
	})
	n := 0
	for ; n < len(found) && bytes > 0; n++ {
		bytes -= found[n].Size
	}
	return found[:n]
}
