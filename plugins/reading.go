package plugins

import (
	"fmt"
	"slices"

	"noema/methods"
	"noema/methods/reply"
	"noema/plugins/internal/wire"
)

// maxItems bounds the ranking that a reply without one is read as.
const maxItems = 1 << 20

// ReadAnswer is [reply.Conclude] for code in another language, whose specification may be
// anything.
func ReadAnswer(text string, cut bool, spec methods.AnswerSpec) (methods.Answer, error) {
	kinds := []methods.AnswerKind{methods.Ranking, methods.Choice, methods.Number, methods.Text, methods.Set, methods.Fields}
	if !slices.Contains(kinds, spec.Kind) {
		return methods.Answer{}, fmt.Errorf("read answer: kind %q: the kinds are %v", spec.Kind, kinds)
	}
	if spec.N < 0 || spec.N > maxItems {
		return methods.Answer{}, fmt.Errorf("read answer: a ranking of n=%d items: n is 0 to %d", spec.N, maxItems)
	}
	return reply.Conclude(text, cut, spec), nil
}

// readFor answers a plugin that asks what a reply says. It takes none of the room of calls.
func readFor(id uint64, r *wire.Read) *wire.Result {
	a, err := ReadAnswer(r.GetText(), r.GetCut(), wire.From[methods.AnswerSpec](r.GetSpec()))
	if err != nil {
		return failure(id, err)
	}
	return &wire.Result{Id: id, What: &wire.Result_Answer{Answer: wire.To[wire.Answer](a)}}
}
