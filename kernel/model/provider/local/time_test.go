package local

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"noema/kernel/internal/test/localtest"
	"noema/kernel/model/provider/local/internal/network"
	"noema/methods"
)

// TestMeter holds that a reply is charged the same alone and beside others, where
// a step of four rows takes twice as long as one of a single row.
func TestMeter(t *testing.T) {
	var m meter
	for _, step := range []struct {
		rows       int
		took, want time.Duration
	}{{1, 100, 100}, {1, 120, 120}, {4, 200, 100}, {4, 300, 150}, {2, 90, 90}, {1, 100, 100}} {
		if got := m.alone(step.rows, step.took); got != step.want {
			t.Errorf("a step of %d rows in %d: %d, want %d", step.rows, step.took, got, step.want)
		}
	}
}

// TestWaitingIsFree holds that time spent waiting for other replies is not the
// reply's own: of eight at once on an engine that writes one at a time, each
// reports about an eighth of what the last one waited. (Prompts that begin alike are
// charged whole, so the sum is a little more than the whole.)
func TestWaitingIsFree(t *testing.T) {
	dir := t.TempDir()
	if err := localtest.Write(dir, localtest.Spec{Arch: "smollm", Seed: 1}); err != nil {
		t.Fatal(err)
	}
	p, err := New(dir, Options{Batch: 1, MaxTokens: 40})
	if err != nil {
		t.Fatal(err)
	}
	for range 5 { // a machine that is busy may stop one of them in the middle
		if err = waiting(t, p); err == nil {
			return
		}
	}
	t.Error(err)
}

// waiting reports what eight replies at once say they took, if it is more than they took
// together.
func waiting(t *testing.T, p *Provider) error {
	clear(p.ends)
	start, spent := time.Now(), make([]time.Duration, 8)
	var group sync.WaitGroup
	for i := range spent {
		group.Go(func() {
			c, err := p.Complete(t.Context(), methods.Request{Messages: methods.Ask("hello"), Draw: i})
			if err != nil {
				t.Error(err)
			}
			spent[i] = c.Usage.Latency
		})
	}
	group.Wait()
	var sum time.Duration
	for _, s := range spent {
		sum += s
	}
	if all := time.Since(start); sum > 2*all || slices.Min(spent) <= 0 {
		return fmt.Errorf("%v together took %v", spent, all)
	}
	return nil
}

// TestPrefix holds that a known beginning of a prompt is not read again, and that
// the scores after it are the same to the last bit. Of three prompts the second begins
// as the first does, and the third is the second.
func TestPrefix(t *testing.T) {
	dir := t.TempDir()
	if err := localtest.Write(dir, localtest.Spec{Arch: "qwen3", Seed: 1}); err != nil {
		t.Fatal(err)
	}
	p, err := New(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	prompt := func(last int) []int { return append(slices.Repeat([]int{7, 8, 9}, 20), last, 3) }
	read := func(known *prefixes, tokens []int) (int, []float32) {
		s := &network.Sequence{}
		n := known.begin(s, tokens)
		logits, err := p.engine.decoder.Prefill(s, tokens[n:], func() error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		known.add(s, tokens)
		return n, logits
	}
	var known prefixes
	for i, want := range []int{0, 60, 61} {
		tokens := prompt(10 + cmp.Compare(i, 0))
		n, got := read(&known, tokens)
		if _, alone := read(&prefixes{}, tokens); n != want || !slices.Equal(got, alone) {
			t.Errorf("prompt %d: %d tokens were known, want %d; or the scores differ", i, n, want)
		}
	}
	if len(known) != 2 {
		t.Errorf("%d prompts are kept, want 2", len(known))
	}
}
