package reply

import (
	"regexp"
	"slices"
	"strings"

	"noema/methods"
)

// endsOnAnother reports whether a text ends on another number or label than the answer, as in
// "Adding the driver gives 13."
func endsOnAnother(text string, answer methods.Answer, spec methods.AnswerSpec) bool {
	text = strings.TrimRight(text, " \t\r\n.!*_$)\"'")
	last := text[strings.LastIndexByte(text, '\n')+1:]
	for i := sentenceEnd(last, true); i < len(last); i = sentenceEnd(last, true) {
		last = last[i:]
	}
	switch m := lastWord.FindStringIndex(last); {
	case m == nil, negation.MatchString(last[:m[0]]):
	case spec.Kind == methods.Number:
		r, err := numberIn(last[m[0]:], spec)
		return err == nil && string(r.Answer.Value) != string(answer.Value)
	case spec.Kind == methods.Choice && (m[0] == 0 || stated.MatchString(last[:m[0]]) || strings.HasSuffix(last[:m[0]], " ")):
		r, err := label(last[m[0]:], spec)
		return err == nil && string(r.Answer.Value) != string(answer.Value)
	}
	return false
}

// lastWord is a number or a single capital letter at the end of a text.
var lastWord = regexp.MustCompile(`(?:[-−]?\p{Sc}?\d[\d.,]*|\b\p{Lu})$`)

// contradicted reports whether a line of a text is another value and nothing else, as after a
// recount: what it says stands beside the answer that came before.
func contradicted(text string, answer methods.Answer, spec methods.AnswerSpec) bool {
	if endsOnAnother(text, answer, spec) {
		return true
	}
	for line := range strings.SplitSeq(text, "\n") {
		bare := bareValue(connective.ReplaceAllString(strings.TrimLeft(strings.TrimSpace(line), "#> "), ""))
		var one Reading
		err := errNothing
		switch {
		case bare == "" || len(bare) > 40:
		case spec.Kind == methods.Number && loneNumber.MatchString(bare):
			one, err = numberIn(bare, spec)
		case spec.Kind == methods.Choice:
			one, err = label(bare, spec)
		case spec.Kind == methods.Set && len(spec.Labels) > 0:
			if name, ok := member(bare, spec); ok && !strings.Contains(string(answer.Value), name) {
				return true
			}
		case spec.Kind == methods.Ranking && intList.FindString(bare) == bare:
			one, err = ranked(bare, spec)
		}
		if err == nil && string(one.Answer.Value) != string(answer.Value) {
			return true
		}
	}
	return false
}

var (
	// connective begins a line that says a value again or anew.
	connective = regexp.MustCompile(`(?i)^(?:(?:so|therefore|thus|hence|result|total|edit|update|final|finally|or|and|part [a-h]|\(?[a-h]\))[:,]? +)+`)
	loneNumber = regexp.MustCompile(`^[-−+]?\p{Sc}? ?[\d.,]+ ?(?:%|million|billion|thousand)?$`)
	// nextQuestion begins what a model goes on with behind its answer: a question of its own making.
	nextQuestion = regexp.MustCompile(`(?im)^\W*(?:question|q|problem|exercise)(?: ?\d+)?\s*[:.]|<\|(?:endoftext|im_end|im_start|eot_id|end_of_text)\|>|</s>`)
)

// asked is a reply up to the question that its model goes on with behind an answer.
func asked(text string, spec methods.AnswerSpec, form Form) string {
	at := nextQuestion.FindStringIndex(text)
	if at == nil || len(statements(text[:at[0]], spec, form)) == 0 {
		return text
	}
	return text[:at[0]]
}

// cues are the words of takenBack, one of which a text must have. They are looked for first,
// since expressions are slow on long texts.
var cues = []string{"wait", "hold on", "hang on", "hmm", "oops", "scratch", "strike", "second thought", "correction", "nevermind", "never mind", "actually", "no,", "no.", "no!",

	"sorry", "mistake", "alternatively", "maybe", "perhaps", "possibly", "rather", "or is it", "let me", "wrong", "incorrect", "mistaken", "error", "not right", "not correct", "not quite", "false", "could", "might", "may", "or ", "also", "plus", "edit", "disregard", "make ", "should", "must", "ought", " mis", "change", "meant", "withdraw", "'ll", "’ll", "recount", "redo", "revise", "too", "rule", "n't", "n’t", "not "}

// takesBack reports whether a text takes back the answer before it, or gives another.
func takesBack(text string) bool {
	lower := asciiLower(text)
	return slices.ContainsFunc(cues, func(cue string) bool { return strings.Contains(lower, cue) }) && takenBack.MatchString(text)
}
