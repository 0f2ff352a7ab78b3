package local

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"noema/kernel/model/provider"
	"noema/kernel/model/provider/local/internal/grammar"
	"noema/methods"
)

// writer makes one reply from the scores that a model gives, token by token.
type writer struct {
	p       *Provider
	sampler *sampler
	stops   []string
	longest int // bytes of the longest stop string
	most    int // tokens of the reply
	state   *grammar.State
	allow   []bool
	closing []int // tokens that close the value within the limit; nil if none had to be found

	written int // tokens
	text    []byte
	finish  methods.FinishReason

	alternatives int // likeliest tokens to report at each place; 0 reports nothing
	logprobs     []methods.TokenLogprob
}

// newWriter prepares a reply. room is what the context has left.
func (p *Provider) newWriter(r methods.Request, room int) (*writer, error) {
	w := &writer{p: p, sampler: newSampler(r.Sampling, r.Draw), alternatives: r.Sampling.Logprobs, most: cmp.Or(r.Sampling.MaxTokens, p.maxTokens)}
	w.most = min(w.most, room)
	for _, s := range r.Sampling.Stop {
		if s != "" {
			w.stops, w.longest = append(w.stops, s), max(w.longest, len(s))
		}
	}
	if r.Schema == nil {
		w.allow = p.used
		return w, nil
	}
	g, err := p.grammars.of(r.Schema.JSON)
	if err != nil {
		return nil, &provider.Error{Kind: provider.Rejected, Err: fmt.Errorf("schema %q: %w", r.Schema.Name, err)}
	}
	state := g.Start()
	w.state, w.allow = &state, make([]bool, p.size)
	return w, nil
}

// choose takes the next token from its scores and reports whether the reply
// goes on.
func (w *writer) choose(logits []float32) (token int, more bool, err error) {
	for _, l := range logits {
		if math.IsNaN(float64(l)) || math.IsInf(float64(l), 0) {
			return 0, false, errNoNumbers
		}
	}
	if w.state != nil {
		token, err = w.bounded(logits)
	} else {
		token = w.sampler.choose(logits, w.allow)
	}
	if err != nil {
		return 0, false, err
	}
	if token < 0 {
		w.finish = methods.FinishStop
		return 0, false, nil
	}
	w.written++
	if w.p.ends[token] {
		w.finish = methods.FinishStop
		return 0, false, nil
	}
	spelled := w.p.tokenizer.Bytes(token)
	if w.alternatives > 0 && len(spelled) > 0 {
		w.logprobs = append(w.logprobs, w.logprob(logits, token))
	}
	return token, !w.add(spelled), nil
}

// add appends bytes and reports whether the reply is complete.
func (w *writer) add(bytes []byte) bool {
	from := max(0, len(w.text)-w.longest+1)
	w.text = append(w.text, bytes...)
	if cut := w.stop(from); cut >= 0 {
		w.text, w.finish = w.text[:cut], methods.FinishStop
		return true
	}
	if w.state != nil && w.state.CanEnd() && len(w.state.Shortest()) == 0 && w.closed() {
		w.finish = methods.FinishStop
		return true
	}
	if w.written >= w.most {
		w.finish = methods.FinishLength
		if w.state != nil && w.state.CanEnd() { // the value was kept short enough
			w.finish = methods.FinishStop
		}
		return true
	}
	return false
}

// stop finds the first stop string from a place on.
func (w *writer) stop(from int) int {
	cut := -1
	for _, s := range w.stops {
		if i := strings.Index(string(w.text[from:]), s); i >= 0 && (cut < 0 || from+i < cut) {
			cut = from + i
		}
	}
	return cut
}

// completion is what was written.
func (w *writer) completion() methods.Completion {
	text := w.text
	if w.finish == methods.FinishLength { // the limit may have cut a character
		text = whole(text)
	}
	return methods.Completion{Text: w.p.tokenizer.Text(text), Finish: w.finish, Logprobs: provider.CutLogprobs(w.logprobs, len(text))}
}

// whole drops an incomplete character from the end.
func whole(text []byte) []byte {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		tail := text[len(text)-n:]
		if utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				return text[:len(text)-n]
			}
			return text
		}
	}
	return text
}
