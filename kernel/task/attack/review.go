package attack

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"

	"noema/methods"
)

// review attacks one review: it returns what stands in its place. The numbers are
// drawn for every review alike, so that one that is left alone does not change what
// happens to the next.
func (w *work) review(raw json.RawMessage) []json.RawMessage {
	kept := []json.RawMessage{raw}
	var review map[string]json.RawMessage
	var text string
	if json.Unmarshal(raw, &review) != nil || json.Unmarshal(review["text"], &text) != nil {
		return kept // it has no text to attack
	}
	own := rand.New(rand.NewPCG(w.rng.Uint64(), w.rng.Uint64()))
	name := w.Name
	if name == "heterogeneity" { // a mixture of those before it, without typos: they have another unit
		name = Names()[1+own.IntN(len(Names())-2)]
	}
	shares := w.decides.shares(text)
	spared := shares && !w.All
	if name == "typo" {
		return w.rewritten(raw, text, w.typos(text, spared, own))
	}
	// A policy counts: one that decides twice decides otherwise.
	spared = spared || shares && name == "duplicate" && w.decides.policy != nil
	w.extent.All++
	hit := own.Float64() < w.Rate
	if spared {
		w.extent.Spared++
		return kept
	}
	w.extent.May++
	if !hit {
		return kept
	}
	switch name {
	case "duplicate":
		w.extent.Changed++
		return append(kept, raw)
	case "fake-positive":
		fake := w.fake(review, own)
		if fake == nil {
			return kept
		}
		w.extent.Changed++
		return append(kept, fake)
	}
	changed := w.padded(name, text, own)
	switch {
	case changed == text:
		return kept
	case w.All && !w.decides.same(text, changed):
		w.extent.May--
		w.extent.Spared++
		return kept
	}
	w.extent.Changed++
	return w.rewritten(raw, text, changed)
}

// rewritten is the review with another text.
func (w *work) rewritten(raw json.RawMessage, text, changed string) []json.RawMessage {
	if changed == text {
		return []json.RawMessage{raw}
	}
	at, _ := member(raw, "text") // it was read from there
	return []json.RawMessage{at.replace(raw, methods.Must(methods.EncodeJSON(changed)))}
}

// padded is text with something added to it.
func (w *work) padded(name, text string, rng *rand.Rand) string {
	switch name {
	case "injection":
		return join(text, w.harmless(injections(), rng))
	case "override":
		return join(text, w.harmless(overrides(), rng))
	case "sarcasm":
		return join(w.harmless(sarcasm(), rng), text)
	default: // verbose
		return join(text, w.harmless(padding(), rng), w.harmless(padding(), rng))
	}
}

// join puts a space between texts that are not empty.
func join(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(t string) bool { return t == "" }), " ")
}
