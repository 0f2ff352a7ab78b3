package local_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"noema/kernel/internal/test/localtest"
	"noema/kernel/model/provider"
	"noema/kernel/model/provider/local"
	"noema/methods"
)

// model writes a checkpoint and loads it.
func model(t testing.TB, s localtest.Spec, o local.Options) *local.Provider {
	t.Helper()
	dir := t.TempDir()
	if err := localtest.Write(dir, s); err != nil {
		t.Fatal(err)
	}
	p, err := local.New(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func ask(text string, s methods.Sampling) methods.Request {
	return methods.Request{Messages: methods.Ask(text), Sampling: s}
}

func generate(t testing.TB, p *local.Provider, r methods.Request) methods.Completion {
	t.Helper()
	reply, err := p.Complete(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	reply.Usage.Latency = 0 // which is measured
	return reply
}

func TestEveryFamilyReplies(t *testing.T) {
	for _, arch := range localtest.Archs() {
		if arch == "bert" {
			continue
		}
		t.Run(arch, func(t *testing.T) {
			p := model(t, localtest.Spec{Arch: arch, Seed: 1}, local.Options{MaxTokens: 12})
			r := generate(t, p, ask("Which are true?", methods.Sampling{}))
			if r.Usage.Calls != 1 || r.Usage.InputTokens == 0 || r.Usage.OutputTokens == 0 {
				t.Errorf("usage %+v", r.Usage)
			}
			if n := r.Usage.OutputTokens; n > 12 || n == 12 != (r.Finish == methods.FinishLength) {
				t.Errorf("%d tokens, finish %q", n, r.Finish)
			}
			if !utf8.ValidString(r.Text) {
				t.Errorf("text %q is not UTF-8", r.Text)
			}
		})
	}
}

// requests are different in length, sampling and end.
func requests() []methods.Request {
	var all []methods.Request
	for i := range 12 {
		r := ask(strings.Repeat("the answer is in the item. ", 1+i*2)+fmt.Sprint(i), methods.Sampling{
			Temperature: float64(i%3) * 0.8, TopP: float64(i%2) * 0.9, TopK: i % 4 * 10, MaxTokens: 5 + 3*i, Seed: uint64(i),
		})
		r.Draw, r.Sampling.Logprobs = i%2, i/2%2 // which tell the bits of the scores
		all = append(all, r)
	}
	all[3].Schema = &methods.Schema{Name: "ranking", JSON: json.RawMessage(`{"type":"array","items":{"type":"integer"}}`)}
	all[4].Sampling.Stop = []string{"e", "the"}
	return all
}

// TestSameReply holds that neither threads nor other requests change a reply.
func TestSameReply(t *testing.T) {
	dir := t.TempDir()
	if err := localtest.Write(dir, localtest.Spec{Arch: "llama", Seed: 5}); err != nil {
		t.Fatal(err)
	}
	var want []methods.Completion
	for _, threads := range []int{1, 2} {
		func() {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
			p, err := local.New(dir, local.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if want == nil {
				for _, r := range requests() {
					want = append(want, generate(t, p, r))
				}
			}
			var group sync.WaitGroup
			for range 2 {
				for i, r := range requests() {
					group.Go(func() {
						got, err := p.Complete(t.Context(), r)
						got.Usage.Latency = 0
						if err != nil || !reflect.DeepEqual(got, want[i]) {
							t.Errorf("%d threads, request %d: %q, %v; alone it was %q", threads, i, got.Text, err, want[i].Text)
						}
					})
				}
			}
			group.Wait()
		}()
	}
}

func TestSeedsAndDraws(t *testing.T) {
	p := model(t, localtest.Spec{Arch: "qwen3", Seed: 2}, local.Options{MaxTokens: 16})
	hot := methods.Sampling{Temperature: 1, Seed: 7}
	first := generate(t, p, ask("hello", hot)).Text
	if again := generate(t, p, ask("hello", hot)).Text; again != first {
		t.Errorf("the same request gave %q and %q", first, again)
	}
	other := ask("hello", hot)
	other.Draw = 1
	if text := generate(t, p, other).Text; text == first {
		t.Errorf("two draws are both %q", text)
	}
	hot.Seed = 8
	if text := generate(t, p, ask("hello", hot)).Text; text == first {
		t.Errorf("two seeds both gave %q", text)
	}
	greedy := generate(t, p, ask("hello", methods.Sampling{})).Text
	for _, s := range []methods.Sampling{
		{Temperature: 1, TopK: 1, Seed: 3}, {Temperature: 1, TopP: 1e-9, Seed: 3}, {Temperature: 1e-6, Seed: 3},
	} {
		if text := generate(t, p, ask("hello", s)).Text; text != greedy {
			t.Errorf("sampling %+v gave %q, greedy decoding %q", s, text, greedy)
		}
	}
}

func TestStop(t *testing.T) {
	p := model(t, localtest.Spec{Arch: "gpt2", Seed: 4}, local.Options{MaxTokens: 30})
	whole := generate(t, p, ask("one two three", methods.Sampling{}))
	text := whole.Text
	if len(text) < 12 {
		t.Fatalf("the reply %q is too short to cut", text)
	}
	for from := 2; from+5 < len(text); from += 3 {
		if !utf8.ValidString(text[from : from+3]) {
			continue
		}
		stop := text[from : from+3]
		want := text[:strings.Index(text, stop)]
		r := generate(t, p, ask("one two three", methods.Sampling{Stop: []string{"no such text", stop}}))
		if r.Text != want || r.Finish != methods.FinishStop {
			t.Errorf("stop %q: %q and finish %q, want %q", stop, r.Text, r.Finish, want)
		}
		if r.Usage.OutputTokens >= whole.Usage.OutputTokens {
			t.Errorf("stop %q: %d tokens were written", stop, r.Usage.OutputTokens)
		}
	}
}

func TestContext(t *testing.T) {
	p := model(t, localtest.Spec{Arch: "llama", Seed: 1, Context: 64}, local.Options{})
	_, err := p.Complete(t.Context(), ask(strings.Repeat("too long ", 40), methods.Sampling{}))
	var e *provider.Error
	if !errors.As(err, &e) || e.Kind != provider.ContextLength {
		t.Fatalf("error %v, want a context length", err)
	}
	r := generate(t, p, ask("short", methods.Sampling{}))
	if in := r.Usage.InputTokens + r.Usage.OutputTokens; r.Finish == methods.FinishLength && in != 64 {
		t.Errorf("prompt and reply have %d tokens at the end of a context of 64", in)
	}
	small := model(t, localtest.Spec{Arch: "llama", Seed: 1}, local.Options{Context: 30})
	if _, err := small.Complete(t.Context(), ask(strings.Repeat("long ", 20), methods.Sampling{})); !errors.As(err, &e) || e.Kind != provider.ContextLength {
		t.Errorf("error %v, want a context length", err)
	}
	if small.Info().ID.Config != "context=30" {
		t.Errorf("config %q does not name the context", small.Info().ID.Config)
	}
}

func TestRefusals(t *testing.T) {
	p := model(t, localtest.Spec{Arch: "mistral", Seed: 1}, local.Options{MaxTokens: 4})
	tests := map[string]methods.Request{
		"no messages":   {},
		"tools":         {Messages: methods.Ask("x"), Tools: []methods.ToolSpec{{Name: "add"}}},
		"tool turn":     {Messages: []methods.Message{{Role: methods.Tool, Content: "3", CallID: "1"}}},
		"temperature":   ask("x", methods.Sampling{Temperature: -1}),
		"top p":         ask("x", methods.Sampling{TopP: 1.5}),
		"late system":   {Messages: []methods.Message{{Role: methods.User, Content: "a"}, {Role: methods.System, Content: "b"}}},
		"broken schema": {Messages: methods.Ask("x"), Schema: &methods.Schema{Name: "s", JSON: json.RawMessage(`{"type":`)}},
		"empty schema":  {Messages: methods.Ask("x"), Schema: &methods.Schema{Name: "s", JSON: json.RawMessage(`false`)}},
	}
	for name, r := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := p.Complete(t.Context(), r)
			var e *provider.Error
			if !errors.As(err, &e) || e.Kind != provider.Rejected {
				t.Errorf("error %v, want a rejection", err)
			}
		})
	}
}

func TestIdentity(t *testing.T) {
	id := func(s localtest.Spec, o local.Options) methods.ModelID { return model(t, s, o).Info().ID }
	a := id(localtest.Spec{Arch: "llama", Seed: 1}, local.Options{})
	if a.Provider != local.Kind || len(a.Weights) != 66 || !strings.HasSuffix(a.Weights, ".2") || a.Config != "" {
		t.Errorf("identity %+v", a)
	}
	b := id(localtest.Spec{Arch: "llama", Seed: 1}, local.Options{MaxTokens: 5, Batch: 1})
	if b.Weights != a.Weights || b.Config != "max_tokens=5" {
		t.Errorf("the same files are %+v and %+v", a, b)
	}
	if c := id(localtest.Spec{Arch: "llama", Seed: 1}, local.Options{Engine: "native"}); c.Config != "" {
		t.Errorf("the default engine changes %+v to %+v", a, c)
	}
	if c := id(localtest.Spec{Arch: "llama", Seed: 1}, local.Options{Engine: "gomlx", Context: 9}); c.Config != "context=9&engine=gomlx" {
		t.Errorf("identity %+v", c)
	}
	if c := id(localtest.Spec{Arch: "llama", Seed: 2}, local.Options{}); c.Weights == a.Weights {
		t.Error("other weights have the same digest")
	}
	if c := id(localtest.Spec{Arch: "llama", Seed: 1, Config: map[string]any{"rope_theta": 1e6}}, local.Options{}); c.Weights == a.Weights {
		t.Error("another config has the same digest")
	}
}
