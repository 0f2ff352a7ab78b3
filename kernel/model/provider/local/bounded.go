package local

import (
	"noema/kernel/model/provider/local/internal/grammar"
	"slices"
)

// bounded chooses a token under the schema: what the model likes best, as long
// as the value can still be closed within the limit, and otherwise the next
// token of a way to close it. It gives -1 if the value is complete and every
// longer one would be too long.
//
// The rule needs a way to close the value before each token, whatever was
// chosen before. Where even the shortest value is longer than the limit, which
// only a limit of few tokens is, the model goes on and the limit cuts it.
func (w *writer) bounded(logits []float32) (int, error) {
	clear(w.allow)
	canEnd := w.state.Mask(w.p.vocab, w.allow)
	if canEnd {
		for id := range w.p.ends {
			w.allow[id] = true
		}
	}
	token := w.sampler.choose(logits, w.allow)
	if token < 0 {
		return 0, errNoToken(string(w.text))
	}
	if w.p.ends[token] && canEnd {
		return token, nil
	}
	next, err := w.state.Advance(w.p.tokenizer.Bytes(token))
	if err != nil {
		return 0, err
	}
	left := w.most - w.written - 1 // after this one
	closing, fits := w.end(next, left)
	if !fits {
		if closing, fits = w.way(left + 1); fits && len(closing) == 0 {
			return -1, nil
		}
		if fits {
			token, closing = closing[0], closing[1:]
			next, err = w.state.Advance(w.p.tokenizer.Bytes(token))
		}
	}
	if err != nil {
		return 0, err
	}
	w.closing, *w.state = closing, next
	return token, nil
}

// end reports whether a value can be closed with a number of tokens. It gives
// the tokens too, unless any that spell the shortest end would do.
func (w *writer) end(s grammar.State, most int) (tokens []int, fits bool) {
	text := s.Shortest()
	if len(text) <= most { // a byte takes one token at most
		return nil, true
	}
	if most <= 0 || len(text) > most*w.p.vocab.Longest() {
		return nil, false
	}
	return w.fewest(text, most)
}

// way gives the tokens that close the value from here, if they are few enough. The way that is known is kept to: another one may be as short in
// bytes and yet longer in tokens.
func (w *writer) way(most int) (tokens []int, fits bool) {
	if w.closing != nil {
		return w.closing, true
	}
	return w.fewest(w.state.Shortest(), most)
}

// fewest spells a text with up to a number of tokens.
func (w *writer) fewest(text []byte, most int) (tokens []int, fits bool) {
	if tokens, fits = w.p.vocab.Fewest(text); !fits || len(tokens) > most {
		return nil, false
	}
	return tokens, true
}

// closed reports whether nothing can follow the value that was written.
func (w *writer) closed() bool {
	clear(w.allow)
	w.state.Mask(w.p.vocab, w.allow)
	return !slices.ContainsFunc(w.allow, func(ok bool) bool { return ok })
}
