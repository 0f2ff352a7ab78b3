package cache

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
)

func TestRunsAndTrials(t *testing.T) {
	bothSides(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		runs := map[string]string{"a": "run a", "ab": "run ab", "b/…\x00": strings.Repeat("long ", 1000)}
		for id, data := range runs {
			if err := s.PutRun(ctx, id, []byte(data)); err != nil {
				t.Fatal(err)
			}
			for i := range 3 {
				if err := s.PutTrial(ctx, id, fmt.Sprintf("b%d", i), []byte(id+data)); err != nil {
					t.Fatal(err)
				}
			}
		}
		var ids []string
		for e, err := range s.Runs(ctx) {
			want(t, "run "+e.ID, string(e.Data), err, runs[e.ID])
			ids = append(ids, e.ID)
		}
		if !slices.Equal(ids, slices.Sorted(maps.Keys(runs))) {
			t.Fatalf("runs %q", ids)
		}
		data, err := s.Run(ctx, "ab")
		want(t, "run", string(data), err, "run ab")
		data, err = s.Trial(ctx, "ab", "b1")
		want(t, "trial", string(data), err, "abrun ab")
		if got := trialIDs(t, s, "a"); !slices.Equal(got, []string{"b0", "b1", "b2"}) {
			t.Fatalf("trials of a: %q", got)
		}
		for range 2 {
			if err := s.DeleteRun(ctx, "a"); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.Run(ctx, "a"); !errors.Is(err, ErrNotFound) {
			t.Fatalf("deleted run: %v", err)
		}
		if got := trialIDs(t, s, "a"); len(got) != 0 {
			t.Fatalf("trials of a deleted run: %q", got)
		}
		if got := trialIDs(t, s, "ab"); len(got) != 3 {
			t.Fatalf("trials of ab after a was deleted: %q", got)
		}
	})
}

func TestLooks(t *testing.T) {
	bothSides(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		question, other := Key{1}, Key{2}
		for i, text := range []string{"first", "second", "again"} {
			if err := s.PutLook(ctx, question, Key{byte(i % 2)}, []byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.PutLook(ctx, other, Key{7}, nil); err != nil {
			t.Fatal(err)
		}
		var got []string
		for e, err := range s.Looks(ctx, question) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, e.ID[:2]+" "+string(e.Data))
		}
		if !slices.Equal(got, []string{"00 again", "01 second"}) {
			t.Fatalf("looks %q", got)
		}
	})
}

func trialIDs(t *testing.T, s *Store, run string) (ids []string) {
	t.Helper()
	for e, err := range s.Trials(t.Context(), run) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, e.ID)
	}
	return ids
}

func TestManyTrials(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	const n = 1500 // several pages
	var wg sync.WaitGroup
	for w := range 50 {
		wg.Go(func() {
			for i := w; i < n; i += 50 {
				if err := s.PutTrial(t.Context(), "run", fmt.Sprintf("%05d", i), []byte("trial")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	ids := trialIDs(t, s, "run")
	if len(ids) != n || !slices.IsSorted(ids) {
		t.Fatalf("%d trials, sorted: %v", len(ids), slices.IsSorted(ids))
	}
	for range s.Trials(t.Context(), "run") {
		break // leaving early is fine
	}
	if err := s.DeleteRun(t.Context(), "run"); err != nil {
		t.Fatal(err)
	}
	if ids := trialIDs(t, s, "run"); len(ids) != 0 {
		t.Fatalf("%d trials are left", len(ids))
	}
}

func TestBadIDs(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	for _, id := range []string{"", strings.Repeat("x", MaxID+1)} {
		for _, err := range []error{
			s.PutRun(t.Context(), id, nil), s.DeleteRun(t.Context(), id),
			s.PutTrial(t.Context(), id, "t", nil), s.PutTrial(t.Context(), "r", id, nil),
		} {
			if err == nil {
				t.Errorf("an id of %d bytes was taken", len(id))
			}
		}
		if _, err := s.Run(t.Context(), id); !errors.Is(err, ErrNotFound) {
			t.Errorf("run with an id of %d bytes: %v", len(id), err)
		}
	}
	if err := s.PutRun(t.Context(), strings.Repeat("x", MaxID), nil); err != nil {
		t.Error(err)
	}
}
