package reply

import (
	"encoding/json"
	"errors"
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

// answerObjects finds the objects with an answer among the literals of text, and
// where the last ends.
func answerObjects(text string, found []literal, form Form) (objects []object, end int) {
	whole := strings.TrimSpace(text)
	for _, l := range found {
		var fields map[string]json.RawMessage
		if json.Unmarshal(l.raw, &fields) != nil {
			continue
		}
		answer, exact, ok := answerOf(fields)
		if !ok {
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
		objects, end = append(objects, o), l.to
	}
	if objects == nil {
		for _, m := range brokenAnswer.FindAllStringSubmatchIndex(text, maxCandidates) {
			if !slices.ContainsFunc(found, func(l literal) bool { return l.from <= m[0] && m[0] < l.to }) {
				objects, end = append(objects, object{broken: text[m[2]:m[3]], repair: "an object that is not valid JSON"}), m[1]
			}
		}
	}
	return objects, end
}

// answerOf is the value of the key "answer", whose case does not matter if no key
// has the right one.
func answerOf(fields map[string]json.RawMessage) (answer json.RawMessage, exact, ok bool) {
	if answer, ok = fields["answer"]; ok {
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

// marked is a line that says of itself that it holds the answer.
type marked struct {
	line, rest string // what follows the mark on the line, and below it
	at         int    // where the mark is
	name       string
	found      bool
	loose      bool // not the mark that prompts ask for
	prose      bool // a sentence: it counts only if it can be read
	others     []string
}

func (m marked) read(spec methods.AnswerSpec) (Reading, error) {
	line := m.line
	if line == "" { // the answer may follow on lines of its own
		line = strings.TrimSpace(m.rest)
	}
	if line == "" {
		return Reading{}, errors.New(`nothing follows "Answer:"`)
	}
	r, err := readText(line, m.rest, spec)
	for _, other := range m.others {
		o, bad := readText(other, "", spec)
		if err == nil && bad == nil && string(o.Answer.Value) != string(r.Answer.Value) {
			return Reading{}, errSeveral
		}
	}
	return r, err
}

// decoration is Markdown that models put around the mark and the answer.
const decoration = " \t\r*_#>`"

// The marks. echoed matches what small models repeat of prompts, as in "The answer is
// one number."
var (
	answerLabel = regexp.MustCompile(`(?i)^(?:(?:my|the|so|thus|therefore|hence)[, ]+)*(?:final |correct )?answer[` + "`" + `*_ \t]*:`)
	answerIs    = regexp.MustCompile(`(?i)(?:^|[.!?,;\n] *|\b(?:so|thus|therefore|hence) )(?:the|my) (?:final |correct )?answer is:?[ \t]+([^\n]+)`)
	echoed      = regexp.MustCompile(`(?i)^(?:one number|a short text|a set of|a value for each)`)
	boxedOpen   = `\boxed{`
)

// answerLine finds the last line that is marked with "Answer:", or else what is
// marked in another way. What stands within a literal is data.
func answerLine(text string, within []literal, spec methods.AnswerSpec) marked {
	isData := func(at int) bool {
		return slices.ContainsFunc(within, func(l literal) bool { return l.from < at && at < l.to })
	}
	for end := len(text); end >= 0; {
		start := strings.LastIndexByte(text[:end], '\n') + 1
		s := strings.TrimLeft(text[start:end], decoration)
		if label := answerLabel.FindString(s); label != "" && !isData(start) {
			line, rest := strings.Trim(s[len(label):], decoration), text[min(len(text), end+1):]
			if open := strings.TrimSpace(s[len(label):]); strings.HasPrefix(open, "```") && strings.Contains(rest, "```") {
				line, rest = "", open+"\n"+rest // a block that begins on the line of its mark
			}
			return marked{
				line: line, rest: rest, at: start,
				name: "a line that begins with \"Answer:\"", found: true,
			}
		}
		end = start - 1
	}
	all := otherMarks(text)
	all = slices.DeleteFunc(all, func(m marked) bool {
		if m.prose {
			_, err := readText(m.line, "", spec)
			return err != nil || echoed.MatchString(m.line) || isData(m.at)
		}
		return isData(m.at)
	})
	if len(all) == 0 {
		return marked{}
	}
	slices.SortStableFunc(all, func(a, b marked) int { return a.at - b.at })
	one := all[len(all)-1]
	one.found, one.loose = true, true
	for _, other := range all[:len(all)-1] {
		one.others = append(one.others, other.line)
	}
	return one
}

// otherMarks finds what is marked in other ways than "Answer:". An object that does
// not end is not text with marks.
func otherMarks(text string) (all []marked) {
	trimmed := strings.TrimSpace(text)
	if strings.HasPrefix(trimmed, "{") {
		if _, ok := literalAt(trimmed, 0); !ok {
			return nil
		}
	}
	last := strings.LastIndexByte(strings.TrimRight(text, " \t\r\n"), '\n') + 1
	if tail := strings.TrimSpace(text[last:]); strings.HasPrefix(tail, "####") && strings.TrimLeft(tail, "#") != "" {
		all = append(all, marked{line: strings.Trim(tail, decoration), at: last, name: "a last line that begins with \"####\""})
	}
	for i := strings.Index(text, boxedOpen); i >= 0; {
		line, to := boxed(text, i+len(boxedOpen))
		all = append(all, marked{line: line, at: i, name: "a box of LaTeX"})
		next := strings.Index(text[to:], boxedOpen)
		if i = to + next; next < 0 || len(all) >= maxCandidates {
			break
		}
	}
	if !strings.Contains(strings.ToLower(text), "answer is") { // the expression is slow on a long text
		return all
	}
	for _, m := range answerIs.FindAllStringSubmatchIndex(text, maxCandidates) {
		all = append(all, marked{line: sentence(text[m[2]:m[3]]), at: m[0], name: "a sentence \"The answer is …\"", prose: true})
	}
	return all
}

// boxed is what stands in the braces that open before at, and where they close.
func boxed(text string, at int) (string, int) {
	depth := 1
	for i := at; i < len(text); i++ {
		switch text[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				inner := strings.TrimSpace(text[at:i])
				if words, ok := strings.CutPrefix(inner, `\text{`); ok {
					inner = strings.TrimSuffix(words, "}")
				}
				return inner, i
			}
		}
	}
	return "", len(text)
}

// sentence is the text up to where a sentence ends, without decoration.
func sentence(text string) string {
	for i := 0; i+1 < len(text); i++ {
		if strings.IndexByte(".!?", text[i]) >= 0 && text[i+1] == ' ' {
			text = text[:i]
			break
		}
	}
	return strings.TrimRight(strings.Trim(text, decoration), ".!")
}
