package local_test

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"noema/kernel/internal/test/localtest"
	"noema/kernel/model/provider"
	"noema/kernel/model/provider/local"
	"noema/methods"
)

// TestLogprobs holds the log probabilities of a reply to what they claim: the
// model's own, likeliest first, of the tokens that the text is made of.
func TestLogprobs(t *testing.T) {
	for _, arch := range localtest.Archs() {
		if arch == "bert" {
			continue
		}
		p := model(t, localtest.Spec{Arch: arch, Seed: 1}, local.Options{MaxTokens: 12})
		for name, s := range map[string]methods.Sampling{
			"greedy":   {Logprobs: 20},
			"sampled":  {Logprobs: 3, Temperature: 1.5, Seed: 4},
			"narrowed": {Logprobs: 2, Temperature: 1.5, TopK: 1},
		} {
			r := generate(t, p, ask("Which are true?", s))
			checkTold(t, arch+", "+name, r, s)
			s.Logprobs = 0
			plain := generate(t, p, ask("Which are true?", s))
			if plain.Logprobs != nil || plain.Text != r.Text || plain.Usage != r.Usage {
				t.Errorf("%s, %s: telling log probabilities changes the reply", arch, name)
			}
		}
	}
}

func checkTold(t *testing.T, name string, r methods.Completion, s methods.Sampling) {
	t.Helper()
	spelled := ""
	for i, told := range r.Logprobs {
		spelled += string(told.Raw())
		var sum float64
		for j, top := range told.Top {
			sum += math.Exp(top.Logprob)
			if j > 0 && top.Logprob > told.Top[j-1].Logprob || math.IsInf(top.Logprob, 0) || top.Top != nil || top.Token == "" {
				t.Errorf("%s: token %d: likeliest %+v", name, i, told.Top)
			}
		}
		if len(told.Top) != s.Logprobs || sum > 1+1e-9 || told.Logprob > told.Top[0].Logprob {
			t.Errorf("%s: token %d: %+v", name, i, told)
		}
		if s.Temperature == 0 && !reflect.DeepEqual(told.Top[0].Raw(), told.Raw()) {
			t.Errorf("%s: token %d is %q and the likeliest %q", name, i, told.Token, told.Top[0].Token)
		}
	}
	text := strings.ReplaceAll(r.Text, "\uFFFD", "") // what stands for bytes that are no text
	if spelled = strings.ToValidUTF8(spelled, ""); strings.TrimSpace(text) != strings.TrimSpace(spelled) || len(r.Logprobs) == 0 {
		t.Errorf("%s: %q is spelled %q", name, r.Text, spelled)
	}
}

// TestLogprobsUnderASchema: the tokens that a schema forbids stay among the
// likeliest, because the model would have said them.
func TestLogprobsUnderASchema(t *testing.T) {
	p := model(t, localtest.Spec{Arch: "llama", Seed: 1}, local.Options{MaxTokens: 30})
	r := ask("Which are true?", methods.Sampling{Logprobs: 1})
	r.Schema = &methods.Schema{Name: "a", JSON: json.RawMessage(`{"enum":["yes","no"]}`)}
	c := generate(t, p, r)
	spelled, forced := "", false
	for _, told := range c.Logprobs {
		spelled += string(told.Raw())
		forced = forced || told.Top[0].Logprob > told.Logprob
	}
	if spelled != c.Text || !forced {
		t.Errorf("%q is spelled %q; forced %v", c.Text, spelled, forced)
	}
}

func TestLogprobsOfACutReply(t *testing.T) {
	p := model(t, localtest.Spec{Arch: "llama", Seed: 1}, local.Options{MaxTokens: 12})
	s := methods.Sampling{Logprobs: 1}
	whole := generate(t, p, ask("Which are true?", s))
	if len(whole.Logprobs) < 4 {
		t.Skipf("the reply has only %d tokens", len(whole.Logprobs))
	}
	s.Stop = []string{string(whole.Logprobs[2].Raw())}
	cut := generate(t, p, ask("Which are true?", s))
	at := strings.Index(whole.Text, s.Stop[0])
	begun := 0
	for n := 0; begun < len(whole.Logprobs) && n < at; begun++ {
		n += len(whole.Logprobs[begun].Raw())
	}
	if at < 0 || len(cut.Text) >= len(whole.Text) || len(cut.Logprobs) != begun {
		t.Errorf("%q cut at %q: %q with %d tokens, want %d", whole.Text, s.Stop[0], cut.Text, len(cut.Logprobs), begun)
	}
	for _, n := range []int{-1, 21} {
		var e *provider.Error
		if _, err := p.Complete(t.Context(), ask("x", methods.Sampling{Logprobs: n})); !errors.As(err, &e) || e.Kind != provider.Rejected {
			t.Errorf("%d: %v", n, err)
		}
	}
}
