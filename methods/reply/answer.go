package reply

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"noema/methods"
)

// Form is how a prompt asked for its final answer.
type Form int

// The forms.
const (
	ObjectForm Form = iota // {"answer": …} and nothing else
	TurnForm               // an object that has "answer" among other keys
	LineForm               // any text that ends on a line "Answer: …"
)

// Reading is a final answer as it was read from a reply.
type Reading struct {
	Answer  methods.Answer
	Dropped []string // what was left out of it, such as items out of range
	Repair  string   // where it was found, if the reply is not in the form that was asked for; empty if it is
	Text    string   // the reply that [Final] read it from
}

// errSeveral refuses a reply rather than guess.
var errSeveral = errors.New("it holds several answers: give one")

// ReadAnswer finds the final answer in a reply. Whatever form was asked for, all
// of these are read, so that no method loses to another by its quoting; the first
// that the reply has decides:
//
//  1. an object with the key "answer", in JSON or as a Python dict, alone, in a
//     fenced block or within prose; the key in any case, other keys beside it;
//  2. a marked line: the last "Answer: …", or else "#### …" as the last line,
//     "\boxed{…}" or "The answer is …";
//  3. the answer without a mark, if the reply holds exactly one: the one list in
//     brackets, the one object with all fields, the one number, the one label,
//     or a text of one line with at most ten words.
//
// A marked line after an object takes its place. Two answers that differ, and two
// candidates without a mark, are an error and never a guess; so is a mark with
// something unreadable behind it. See [ReadValue] for how the value itself is read,
// and README.md for the rules of each kind.
func ReadAnswer(text string, spec methods.AnswerSpec, form Form) (Reading, error) {
	r, found, err := declared(text, spec, form)
	if !found {
		r, err = undeclared(strings.ToValidUTF8(text, "\ufffd"), spec)
	}
	switch {
	case err == nil:
		return r, nil
	case found || errors.Is(err, errSeveral):
		return Reading{}, err
	case form == LineForm:
		return Reading{}, errors.New(`there is no line that begins with "Answer:"`)
	}
	return Reading{}, fmt.Errorf("no JSON value and no other form of one answer in the reply: %w", err)
}

// ReadMarked is [ReadAnswer] without its last rung: the answer must be marked as
// such. A reply that may be something else than the answer is read by it.
func ReadMarked(text string, spec methods.AnswerSpec, form Form) (Reading, error) {
	r, found, err := declared(text, spec, form)
	if !found && err == nil {
		err = errors.New("it marks no answer")
	}
	return r, err
}

// declared reads what says of itself that it is the answer: objects and marks.
func declared(text string, spec methods.AnswerSpec, form Form) (r Reading, found bool, err error) {
	text = strings.ToValidUTF8(text, "\ufffd")
	spans, _ := literals(text)
	objects, end := answerObjects(text, spans, form)
	line := answerLine(text, spans, spec)
	switch {
	case line.found && line.at >= end:
		r, err = line.read(spec)
		if form != LineForm && r.Repair == "" || line.loose {
			r.Repair = line.name
		}
		return r, true, err
	case len(objects) == 0:
		return r, false, nil
	}
	if r, err = agreed(objects, spec); err == nil && line.found {
		if other, bad := line.read(spec); bad == nil && string(other.Answer.Value) != string(r.Answer.Value) {
			err = errSeveral
		}
	}
	if form == LineForm && err == nil {
		r.Repair = "an object with the key \"answer\""
	}
	return r, true, err
}

// agreed is the one answer that the objects give; those that cannot be read do
// not count while one can.
func agreed(objects []object, spec methods.AnswerSpec) (r Reading, err error) {
	var first error
	read := false
	for _, o := range objects {
		one, err := o.read(spec)
		switch {
		case err != nil && first == nil:
			first = err
		case err != nil:
		case read && string(one.Answer.Value) != string(r.Answer.Value):
			return Reading{}, errSeveral
		case !read:
			r, read = one, true
		}
	}
	if !read {
		return r, first
	}
	return r, nil
}

// Final asks for the final answer of a trial, or for a part that it is made of,
// and asks again as [JSON] does while [ReadAnswer] finds none. An answer in another
// form than the one asked for is an event of the kind [methods.AnswerRepaired].
func Final(ctx context.Context, h methods.Host, req methods.Request, spec methods.AnswerSpec, form Form, o Options) (Reading, error) {
	valid, err := validator(req.Schema, func(raw json.RawMessage) error {
		var body struct{ Answer json.RawMessage }
		if err := json.Unmarshal(raw, &body); err != nil {
			return err
		}
		_, err := ReadValue(body.Answer, spec)
		return err
	})
	if err != nil {
		return Reading{}, fmt.Errorf("ask %s: %w", req.Path, err)
	}
	var r Reading
	_, err = converse(ctx, h, req, o, func(c methods.Completion, path string) (err error) {
		if r, err = readReply(c.Text, c.Finish == methods.FinishLength, spec, form); err == nil {
			r.Text = c.Text
			r.Report(h, path)
			return nil
		}
		if form == ObjectForm && !errors.Is(err, errSeveral) { // the validator says more
			if _, _, fault := Extract(c.Text, valid); fault != nil {
				return fault
			}
		}
		return err
	})
	return r, err
}

// readReply reads a reply that is asked for nothing but the final answer.
func readReply(text string, cut bool, spec methods.AnswerSpec, form Form) (Reading, error) {
	if cut {
		return ReadMarked(text, spec, form) // the number that ends a cut text may be the beginning of one
	}
	return ReadAnswer(text, spec, form)
}

// Conclude is the answer to which a reply leads where nobody can be asked again: what
// [Final] reads, or else the [Fallback], unparsed. cut says that the reply was cut off at
// a token limit.
func Conclude(text string, cut bool, spec methods.AnswerSpec) methods.Answer {
	r, err := readReply(text, cut, spec, LineForm)
	if err != nil {
		return Fallback(spec, methods.Unparsed, OneLine(err.Error(), 1000))
	}
	return r.Answer
}

// Fallback is the answer when there is none, flagged: for a ranking the items as they come.
func Fallback(spec methods.AnswerSpec, o methods.Outcome, reason string) methods.Answer {
	if spec.Kind != methods.Ranking {
		return methods.Answer{Outcome: o, Reason: reason}
	}
	if o == methods.Unparsed {
		o = methods.Defaulted
	}
	k := spec.K
	if k < 1 || k > spec.N {
		k = spec.N
	}
	return methods.RankingAnswer(InOrder(k)).As(o, reason)
}

// InOrder is the ranking 1 to n, which says nothing about the items.
func InOrder(n int) []int {
	items := make([]int, n)
	for i := range items {
		items[i] = i + 1
	}
	return items
}

// Report emits the event of a repair, if one was needed.
func (r Reading) Report(to methods.Tracer, path string) {
	if r.Repair != "" {
		to.Emit(event(path, methods.AnswerRepaired, "read the answer from "+r.Repair))
	}
}

// Either asks for a JSON value that action accepts, or for the final answer, as a
// turn of an agent is one or the other. The reading is nil for an action. An answer
// must be marked as such unless plain says that nothing else is wanted; see
// [ReadAnswer]. It asks again with what action says is wrong.
func Either(ctx context.Context, h methods.Host, req methods.Request, action func(json.RawMessage) error, spec methods.AnswerSpec, plain bool, o Options) (r *Reading, text string, err error) {
	_, err = converse(ctx, h, req, o, func(c methods.Completion, path string) error {
		r, text = nil, c.Text
		answer, marked := ReadMarked(c.Text, spec, TurnForm)
		if errors.Is(marked, errSeveral) {
			return marked
		}
		raw, rung, fault := Extract(c.Text, action)
		switch {
		case marked == nil:
			r = &answer
			r.Report(h, path)
			return nil
		case fault == nil:
			text = string(raw)
			if rung != Strict {
				h.Emit(event(path, methods.Repair, "read the reply from "+string(rung)))
			}
			return nil
		case !plain || c.Finish == methods.FinishLength:
			return fault
		}
		if answer, err := ReadAnswer(c.Text, spec, TurnForm); err == nil {
			r = &answer
			r.Report(h, path)
			return nil
		}
		return fault
	})
	return r, text, err
}
