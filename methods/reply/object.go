package reply

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"noema/methods"
)

// literal is a list or an object in a text, in JSON or in Python.
type literal struct {
	raw      json.RawMessage
	from, to int
	python   bool
}

// literals finds the lists and objects in text, outermost first, in order. It is
// false if there may be more.
func literals(text string) (found []literal, all bool) {
	for pos, tries := 0, 0; tries < maxCandidates; tries++ {
		i := strings.IndexAny(text[pos:], "{[")
		if i < 0 {
			return found, true
		}
		pos += i
		if text[pos] == '{' && pos > 0 && strings.IndexByte("}^_]", text[pos-1]) >= 0 || text[pos] == '{' && pos > 0 && isLetter(text[pos-1]) {
			pos, tries = pos+1, tries-1 // an argument of LaTeX
			continue
		}
		l, ok := literalAt(text, pos)
		if !ok {
			pos++
			continue
		}
		found = append(found, l)
		pos = l.to
	}
	return found, false
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func literalAt(text string, pos int) (literal, bool) {
	d := json.NewDecoder(strings.NewReader(text[pos:]))
	var raw json.RawMessage
	if d.Decode(&raw) == nil {
		return literal{raw: raw, from: pos, to: pos + int(d.InputOffset())}, true
	}
	p := &pythonParser{src: text[pos:]}
	v, err := p.value(0)
	if err != nil {
		return literal{}, false
	}
	raw, err = json.Marshal(v)
	return literal{raw: raw, from: pos, to: pos + p.pos, python: true}, err == nil
}

// object is an object with the key "answer".
type object struct {
	answer json.RawMessage
	broken string // the answer as text, where the object is not valid
	repair string // why it is not the form {"answer": …}
}

func (o object) read(spec methods.AnswerSpec) (r Reading, err error) {
	if o.broken != "" {
		r, err = readText(o.broken, "", spec)
	} else {
		r, err = ReadValue(o.answer, spec)
	}
	if o.repair != "" {
		r.Repair = o.repair
	}
	return r, err
}

// brokenAnswer matches an object that is not valid because its value has no quotes,
// or the wrong ones.
var brokenAnswer = regexp.MustCompile(`(?i)\{\s*["']?answer["']?\s*:\s*["']?([^{}\[\]\n":]+?)["']?\s*,?\s*\}`)

// answerObjects finds the objects with an answer among the literals of text. Those that
// repeat the form that was asked for hold none.
func answerObjects(text string, found []literal, form Form) (all []statement) {
	whole := strings.TrimSpace(text)
	add := func(o object, from, to int) {
		all = append(all, statement{at: from, to: to, value: from, object: &o, name: "an object", closed: true})
	}
	for _, l := range found {
		var fields map[string]json.RawMessage
		if l.raw[0] != '{' || json.Unmarshal(l.raw, &fields) != nil {
			continue
		}
		answer, exact, ok := answerOf(fields)
		if !ok || repeated(answer) {
			continue
		}
		o := object{answer: answer}
		switch {
		case l.python:
			o.repair = "a Python dict"
		case l.to-l.from != len(whole):
			o.repair = "an object within other text"
		case !exact || len(fields) > 1 && form != TurnForm:
			o.repair = "an object with other keys"
		}
		add(o, l.from, l.to)
	}
	if all == nil {
		for _, m := range brokenAnswer.FindAllStringSubmatchIndex(text, maxCandidates) {
			value := text[m[2]:m[3]]
			if !echoed.MatchString(value) && !slices.ContainsFunc(found, func(l literal) bool { return l.from <= m[0] && m[0] < l.to }) {
				add(object{broken: value, repair: "an object that is not valid JSON"}, m[0], m[1])
			}
		}
	}
	return all
}

// repeated reports whether an answer is a word of the form that was asked for.
func repeated(answer json.RawMessage) bool {
	var text string
	return json.Unmarshal(answer, &text) == nil && (text == "…" || text == "..." || strings.HasPrefix(text, "<") && strings.HasSuffix(text, ">"))
}

// answerOf is the value of the key "answer", whose case does not matter if no key
// has the right one.
func answerOf(fields map[string]json.RawMessage) (answer json.RawMessage, exact, ok bool) {
	if answer, ok = fields["answer"]; ok {
		for _, name := range []string{"final_answer", "correct_answer"} {
			if other := fields[name]; other != nil && string(other) != string(answer) {
				return nil, false, false // two of them
			}
		}
		return answer, true, true
	}
	for name, value := range fields {
		if strings.EqualFold(strings.TrimSpace(name), "answer") {
			if ok {
				return nil, false, false // two of them
			}
			answer, ok = value, true
		}
	}
	return answer, false, ok
}
