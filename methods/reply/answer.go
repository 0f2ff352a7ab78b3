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

// ReadAnswer finds the final answer in a reply. A reply is a sequence of statements of what
// the answer is, and the last one decides, whatever form was asked for, so that no method
// loses to another by its quoting. Statements are
//
//   - an object with the key "answer", in JSON or as a Python dict, alone, in a fenced block
//     or within prose; the key in any case, other keys beside it;
//   - a line that begins with "Answer:", or has that as its heading; an element <answer>;
//   - a sentence "The answer is …", "So (B) is correct", a \boxed{…}, a last line "#### …".
//
// A reply without one holds an answer if it holds exactly one: the one list in brackets, the
// one object with all fields, the one number, the one label, or a text of one line with at
// most ten words. What contradicts the last statement, takes it back, or is left over of its
// value makes the reply unparsed, never another value. See [ReadValue] for how the value
// itself is read, and README.md for the rules of each kind.
func ReadAnswer(text string, spec methods.AnswerSpec, form Form) (Reading, error) {
	text = strings.ToValidUTF8(text, "\ufffd")
	r, found, err := declared(text, spec, form)
	if !found {
		r, err = undeclared(text, spec)
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

// readCut is [ReadMarked] of a reply that was cut off: what its end may have cut does not count.
func readCut(text string, spec methods.AnswerSpec, form Form) (Reading, error) {
	all := statements(strings.ToValidUTF8(text, "\ufffd"), spec, form)
	if n := len(all); n > 0 && !all[n-1].closed && strings.TrimSpace(text[all[n-1].to:]) == "" && !strings.HasSuffix(text, "\n") || n > 0 && all[n-1].line == "" && all[n-1].object == nil {
		return Reading{}, errors.New("it was cut within its answer")
	}
	return ReadMarked(text, spec, form)
}

// declared reads the last statement of a reply; false if it has none.
func declared(text string, spec methods.AnswerSpec, form Form) (r Reading, found bool, err error) {
	text = asked(strings.ToValidUTF8(text, "\ufffd"), spec, form)
	all := statements(text, spec, form)
	if len(all) == 0 {
		return r, false, nil
	}
	last := all[len(all)-1]
	if r, err = last.read(spec); err != nil {
		return Reading{}, true, err
	}
	if last.object != nil && len(all) > 1 && all[len(all)-2].object != nil && gap(text[all[len(all)-2].to:last.at]) {
		if other, bad := all[len(all)-2].read(spec); bad == nil && string(other.Answer.Value) != string(r.Answer.Value) {
			return Reading{}, true, errSeveral
		}
	}
	if last.to < len(text) && (takesBack(text[last.to:]) || added.MatchString(text[last.to:])) {
		return Reading{}, true, errTakenBack
	}
	if last.to < len(text) && contradicted(text[last.to:], r.Answer, spec) {
		return Reading{}, true, errSeveral
	}
	switch {
	case last.object != nil && form == LineForm:
		r.Repair = "an object with the key \"answer\""
	case last.object == nil && (form != LineForm && r.Repair == "" || last.loose):
		r.Repair = last.name
	}
	return r, true, nil
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
		return readCut(text, spec, form) // the number that ends a cut text may be the beginning of one
	}
	return ReadAnswer(text, spec, form)
}

// errCutThought says of a reply that its model was cut off while it thought.
var errCutThought = errors.New("the reply was cut inside its thought")

// Conclude is the answer to which a reply leads where nobody can be asked again: what
// [Final] reads of what was said in it, or else the [Fallback], unparsed. cut says that the
// reply was cut off at a token limit.
func Conclude(text string, cut bool, spec methods.AnswerSpec) methods.Answer {
	parts := Split(text)
	r, err := Reading{}, errCutThought
	if !parts.Open {
		r, err = readReply(parts.Said, cut, spec, LineForm)
	}
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
