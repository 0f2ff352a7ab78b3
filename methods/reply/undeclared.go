package reply

import (
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"noema/methods"
)

// maxPlain bounds the text without a mark that is searched for one answer, in
// bytes, and maxWords the text that is an answer itself.
const (
	maxPlain = 4000
	maxWords = 10
)

var errNothing = errors.New("no answer found")

// undeclared reads a text that holds exactly one answer and no mark.
func undeclared(text string, spec methods.AnswerSpec) (r Reading, err error) {
	text = strings.TrimSpace(text)
	found, all := literals(text)
	switch {
	case text == "" || !all:
		return r, errNothing
	case takesBack(text[sentenceEnd(text, true):]):
		return r, errTakenBack
	case strings.IndexByte("{[", text[0]) >= 0 && (len(found) == 0 || found[0].from > 0):
		return r, errNothing // an object or list that does not end
	case len(found) == 1 && found[0].from == 0 && found[0].to == len(text), text[0] == '"' && json.Valid([]byte(text)):
		raw := json.RawMessage(text)
		if len(found) == 1 {
			raw = found[0].raw
		}
		if r, err = ReadValue(raw, spec); err == nil {
			r.Repair = "a value without the key \"answer\""
			return r, nil
		}
	}
	switch spec.Kind {
	case methods.Ranking:
		if r, err = onlyList(found, spec, isItemList); errors.Is(err, errSeveral) {
			r, err = lastOf(text, spec)
		}
	case methods.Set:
		r, err = onlyList(found, spec, isTextList)
		if errors.Is(err, errNothing) && len(spec.Labels) > 0 && !strings.Contains(text, "\n") {
			if one, bad := setIn(text, "", spec); bad == nil {
				r, err = one, nil
			}
		}
	case methods.Fields:
		r, err = onlyList(found, spec, func(raw json.RawMessage) bool { return raw[0] == '{' })
	case methods.Number:
		r, err = onlyNumber(text, spec)
	case methods.Choice:
		if r, err = onlyLine(text, spec); err == errNothing {
			if strings.Contains(text, "\n") {
				r, err = onlyLabel(text, spec)
			} else {
				if r, err = choiceIn(text, spec); err == nil && r.Repair == "a label with its reason" && negation.MatchString(text[sentenceWord(text):]) {
					r, err = Reading{}, errNothing // "No, it has none."
				}
			}
		}
	default:
		if r, err = onlyText(text); len(answerMarks(text)) > 0 {
			r, err = Reading{}, errNothing // what is said of the answer is not the answer
		}
	}
	if err == nil {
		r.Repair = "plain text"
	}
	return r, err
}

// onlyList reads the one list or object that is of the right kind.
func onlyList(found []literal, spec methods.AnswerSpec, is func(json.RawMessage) bool) (r Reading, err error) {
	err = errNothing
	for _, l := range found {
		if !is(l.raw) {
			continue
		}
		if err == nil {
			return Reading{}, errSeveral
		}
		one, bad := ReadValue(l.raw, spec)
		if bad == nil {
			r, err = one, nil
		}
	}
	return r, err
}

// lastOf reads the last of several lists, if it is announced as the ranking.
func lastOf(text string, spec methods.AnswerSpec) (Reading, error) {
	list, _ := lastList(text)
	before := text[:max(0, strings.LastIndex(text, list))]
	if list == "" || !announced.MatchString(before[max(0, len(before)-200):]) {
		return Reading{}, errSeveral
	}
	return ranked(list, spec)
}

func isItemList(raw json.RawMessage) bool {
	return raw[0] == '[' && intList.Match(raw) && len(intList.Find(raw)) == len(raw)
}

func isTextList(raw json.RawMessage) bool {
	_, err := members(raw, methods.AnswerSpec{})
	return raw[0] == '[' && err == nil
}

func onlyNumber(text string, spec methods.AnswerSpec) (Reading, error) {
	if len(text) > maxPlain {
		return Reading{}, errNothing
	}
	text = normalNumbers(text, spec.Decimal == methods.DecimalComma)
	if one, ok := ungrouped(strings.Trim(text, decoration)); ok {
		text = one
	}
	all := numbersIn(text, spec)
	switch {
	case len(all) == 0, len(all) == 1 && all[0].err != nil:
		return Reading{}, errNothing
	case len(all) > 1:
		return Reading{}, errSeveral
	}
	return exactly(all[0].value)
}

func onlyText(text string) (Reading, error) {
	text = strings.Trim(text, decoration)
	if strings.ContainsAny(text, "\n{") || text == "" || len(strings.Fields(text)) > maxWords || utf8.RuneCountInString(text) > 20*maxWords {
		return Reading{}, errNothing
	}
	return Reading{Answer: methods.TextAnswer(text)}, nil
}

// negation in the sentence of a label says that it may be what the answer is not.
var negation = regexp.MustCompile(`(?i)\b(?:not|no|nor|never|neither|none|without|cannot|unlike|except|but|doubt|hardly|barely|partially|less than|more than|nicht|kein|não|pas|wrong|incorrect|rather than|instead of)\b|n['’]t\b`)

// smallWords are labels that are also words of other meaning: they count only as
// the first or the last word of a text, set off by punctuation.
var smallWords = map[string]bool{
	"a": true, "i": true, "no": true, "not": true, "none": true, "yes": true, "true": true, "false": true, "or": true,
	"and": true, "it": true, "is": true, "in": true, "on": true, "to": true, "us": true, "may": true, "can": true,
	"will": true, "all": true, "any": true,
}

// onlyLabel finds the one label that a text names once, as whole words in any
// case, in a sentence that negates nothing. Labels within longer labels do not
// count.
func onlyLabel(text string, spec methods.AnswerSpec) (r Reading, err error) {
	if len(text) > maxPlain {
		return r, errNothing
	}
	taken := make([]bool, len(text))
	at, found := [2]int{}, ""
	for _, l := range byLength(spec.Labels) {
		for _, span := range mentions(text, l) {
			if slices.Contains(taken[span[0]:span[1]], true) {
				continue
			}
			for i := span[0]; i < span[1]; i++ {
				taken[i] = true
			}
			if found != "" {
				return r, errSeveral
			}
			at, found = span, l
		}
	}
	if found == "" || negated(text, at) || len(found) == 1 && !stated.MatchString(text[:at[0]]) {
		return r, errNothing
	}
	return Reading{Answer: methods.ChoiceAnswer(found), Repair: "plain text"}, nil
}

// stated ends the words before a letter that make it a label: it may be a part of a name else, as in
// "vitamin C".
var stated = regexp.MustCompile(`(?i)(?:^|[^\pL\s][\s*_"'(\[$\\{]*|\b(?:option|choice|answer|letter|is|be|was|choose|chose|pick|select|say|think|guess|so|therefore|thus|hence|with|to|for|as|likely|probably|definitely|either|the)[\s*_"'(\[$\\{:]+|[*_"'(\[$\\{])$`)

// byLength are labels with the longest first, so that those within longer ones come
// after them.
func byLength(labels []string) []string {
	labels = slices.Clone(labels)
	slices.SortStableFunc(labels, func(a, b string) int { return len(b) - len(a) })
	return labels
}

// mentions are the places where text has label as whole words.
func mentions(text, label string) (spans [][2]int) {
	own := strings.Trim(label, decoration+".\"'")
	word := own
	if word == "" {
		return nil
	}
	small := smallWords[strings.ToLower(word)] || utf8.RuneCountInString(word) == 1
	lower := strings.ToLower(text)
	word = strings.ToLower(word)
	if len(lower) != len(text) { // a letter whose small form has another length
		lower, word = asciiLower(text), asciiLower(word)
	}
	for _, from := range places(lower, word) {
		to := from + len(word)
		before, _ := utf8.DecodeLastRuneInString(text[:from])
		after, _ := utf8.DecodeRuneInString(text[to:])
		if isWordRune(before) || isWordRune(after) || small && !apart(text, from, to, own) {
			continue
		}
		spans = append(spans, [2]int{from, to})
	}
	return spans
}

func isWordRune(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_')
}

// apart reports whether a small word stands first or last in text, apart from the
// words beside it, and in its own case if it is one letter.
func apart(text string, from, to int, word string) bool {
	if utf8.RuneCountInString(word) == 1 && text[from:to] != word {
		return false
	}
	const marks = decoration + "\n\"'()[]."
	first := strings.Trim(text[:from], marks) == ""
	rest := strings.TrimLeft(text[to:], "*_`\"')]")
	last := strings.Trim(rest, marks+"!") == ""
	return last || first && strings.IndexByte(".,;:!\n", rest[0]) >= 0
}

// negated reports whether the sentence around a label holds a negation.
func negated(text string, at [2]int) bool {
	from := strings.LastIndexAny(text[:at[0]], ".!?;\n") + 1
	to := len(text)
	if i := strings.IndexAny(text[at[1]:], ".!?;\n"); i >= 0 {
		to = at[1] + i
	}
	return negation.MatchString(text[from:at[0]]) || negation.MatchString(text[at[1]:to])
}

// sentenceWord is where the first word of a text ends.
func sentenceWord(text string) int {
	if i := strings.IndexAny(text, " \t,.;:"); i >= 0 {
		return i
	}
	return len(text)
}
