package lab

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"

	"noema/cache"
)

// counting embeds a text as its length, and counts how often.
type counting struct {
	mu    sync.Mutex
	asked map[string]int
	fail  func(texts []string) error // may be nil
}

func (*counting) ID() string { return "counting" }

func (c *counting) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fail != nil {
		if err := c.fail(texts); err != nil {
			return nil, err
		}
	}
	var out [][]float32
	for _, text := range texts {
		c.asked[text]++
		out = append(out, []float32{float32(len(text)), 1})
	}
	return out, ctx.Err()
}

func vectorsOf(texts []string) [][]float32 {
	var out [][]float32
	for _, text := range texts {
		out = append(out, []float32{float32(len(text)), 1})
	}
	return out
}

// TestATextIsEmbeddedOnce: whoever asks, however often, in whichever process.
func TestATextIsEmbeddedOnce(t *testing.T) {
	dir, texts := t.TempDir(), []string{"", "a", "a"}
	for i := range 200 {
		texts = append(texts, fmt.Sprintf("text %0*d", i, i))
	}
	m := &counting{asked: map[string]int{}}
	for process := range 2 {
		store, err := cache.Open(t.Context(), dir, cache.Options{})
		if err != nil {
			t.Fatal(err)
		}
		e := storedEmbedder{m, func() (*cache.Store, error) { return store, nil }}
		for range 2 {
			got, err := e.Embed(t.Context(), texts)
			if err != nil || !reflect.DeepEqual(got, vectorsOf(texts)) {
				t.Fatalf("process %d: %v, %v", process, got, err)
			}
		}
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for text, n := range m.asked {
		if n != 1 {
			t.Errorf("%q was embedded %d times", text, n)
		}
	}
	if len(m.asked) != 202 {
		t.Errorf("%d texts were embedded", len(m.asked))
	}
}

// TestWhatWasEmbeddedStays where a later part fails or the wait ends.
func TestWhatWasEmbeddedStays(t *testing.T) {
	store, err := cache.Open(t.Context(), t.TempDir(), cache.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	var texts []string
	for i := range 3 * keptAtOnce {
		texts = append(texts, fmt.Sprint("text ", i))
	}
	m := &counting{asked: map[string]int{}}
	e := storedEmbedder{m, func() (*cache.Store, error) { return store, nil }}
	full, parts := errors.New("no memory"), 0
	m.fail = func([]string) error {
		if parts++; parts > 2 {
			return full
		}
		return nil
	}
	if _, err := e.Embed(t.Context(), texts); !errors.Is(err, full) {
		t.Fatal(err)
	}
	m.fail = nil
	if got, err := e.Embed(t.Context(), texts); err != nil || !reflect.DeepEqual(got, vectorsOf(texts)) {
		t.Fatal(got, err)
	}
	for text, n := range m.asked {
		if n != 1 {
			t.Errorf("%q was embedded %d times", text, n)
		}
	}
	gone := errors.New("no store")
	e.store = func() (*cache.Store, error) { return nil, gone }
	if _, err := e.Embed(t.Context(), texts); !errors.Is(err, gone) {
		t.Errorf("without a store: %v", err)
	}
}
