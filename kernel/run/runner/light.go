package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"noema/cache"
	"noema/kernel/result/record"
)

// A finished run keeps its light trials beside the whole ones, many to a record: tables of
// thousands of trials are there in a tenth of the time that reading each trial with its
// transcript takes. They are a copy, and no proof rests on them: what is missing, damaged,
// of another format, or gives another root hash than the run's, is not used.

const (
	lightLeast  = 100      // trials of a run that keeps them: fewer are read as soon
	lightEach   = 1000     // trials a record
	lightMost   = 16 << 20 // bytes of a record: long answers are in the whole trials alone
	lightAtOnce = 4        // records that are written or read at a time
)

// lightName is the name of a run's record of light trials. Names of trials have slashes.
func lightName(part int) string { return fmt.Sprintf("light:%d", part) }

// saveLight keeps the light trials of a run that is about to be finished.
func saveLight(ctx context.Context, store *cache.Store, run *record.Run, trials []*record.Trial) error {
	if len(trials) < lightLeast {
		return nil
	}
	parts, ctx := errgroup.WithContext(ctx)
	parts.SetLimit(lightAtOnce)
	for i := 0; i*lightEach < len(trials); i++ {
		parts.Go(func() error {
			raw, err := record.MarshalLight(trials[i*lightEach : min((i+1)*lightEach, len(trials))])
			if err == nil && len(raw) <= lightMost {
				err = store.PutTrial(ctx, run.ID, lightName(i), raw)
			}
			if err != nil {
				return fmt.Errorf("save light trials: %w", err)
			}
			return nil
		})
	}
	return parts.Wait()
}

// loadLight returns the light trials of a finished run, in canonical order; none where they
// cannot be used.
func loadLight(ctx context.Context, store *cache.Store, run *record.Run) ([]*record.Trial, error) {
	ids := run.Trials()
	if run.Status != record.Finished || len(ids) < lightLeast {
		return nil, nil
	}
	found := make([][]*record.Trial, (len(ids)+lightEach-1)/lightEach)
	parts, ctx := errgroup.WithContext(ctx)
	parts.SetLimit(lightAtOnce)
	for i := range found {
		parts.Go(func() (err error) {
			found[i], err = loadPart(ctx, store, run.ID, i)
			return err
		})
	}
	if err := parts.Wait(); err != nil {
		return nil, err
	}
	trials := slices.Concat(found...)
	if len(trials) != len(ids) {
		return nil, nil
	}
	hashes := make([]string, len(trials))
	for i, t := range trials {
		if hashes[i] = t.Hash; t.ID != ids[i] {
			return nil, nil
		}
	}
	if record.Root(run.Digest, hashes) != run.Root {
		return nil, nil
	}
	return trials, nil
}

func loadPart(ctx context.Context, store *cache.Store, run string, i int) (trials []*record.Trial, err error) {
	raw, err := store.Trial(ctx, run, lightName(i))
	if errors.Is(err, cache.ErrNotFound) || errors.Is(err, cache.ErrCorrupt) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if trials, err = record.UnmarshalLight(raw); err != nil {
		return nil, nil
	}
	return trials, nil
}
