package local

import (
	"bytes"
)

// bounded chooses a token under the schema. It takes what the model likes
// best as long as the value can still be closed within the limit, and closes
// it by the shortest way when it no longer could. It gives -1 if the value is
// complete and every longer one would be too long.
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
	// A byte takes one token at most. Where even the shortest way is longer
	// than the limit, which only a limit of few tokens is, the model goes on
	// and the limit cuts it.
	left := w.most - len(w.tokens) - 1
	if len(next.Shortest()) > left {
		end := w.state.Shortest()
		if len(end) == 0 {
			return -1, nil
		}
		if len(end) <= left+1 {
			token = w.along(end)
			if next, err = w.state.Advance(w.p.tokenizer.Bytes(token)); err != nil {
				return 0, err
			}
		}
	}
	*w.state = next
	return token, nil
}

// along is the longest allowed token that a text begins with.
func (w *writer) along(text []byte) int {
	best := -1
	for id, ok := range w.allow {
		spelled := w.p.tokenizer.Bytes(id)
		if ok && bytes.HasPrefix(text, spelled) && (best < 0 || len(spelled) > len(w.p.tokenizer.Bytes(best))) && len(spelled) > 0 {
			best = id
		}
	}
	return best
}

// closed reports whether nothing can follow the value that was written.
func (w *writer) closed() bool {
	clear(w.allow)
	w.state.Mask(w.p.vocab, w.allow)
	for _, ok := range w.allow {
		if ok {
			return false
		}
	}
	return true
}
