package reply

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"noema/methods"
)

// sentences finds the sentences that say what the answer is.
func sentences(text string, spec methods.AnswerSpec) (all []statement) {
	add := func(at, value, to int, line string, doubt bool) {
		if plausible(line, spec) {
			all = append(all, statement{at: at, to: to, value: value, line: line, doubt: doubt, after: untilLine(text[to:]), name: "a sentence \"The answer is …\"", loose: true, prose: true})
		}
	}
	for _, m := range latest(answerMarks(text)) {
		clause := text[max(0, m[0]-200):m[0]]
		clause = clause[strings.LastIndexAny(clause, ".!?;\n")+1:]
		doubt := conditional.MatchString(clause) || otherAnswer.MatchString(clause) || deniedVerb.MatchString(text[m[0]:m[1]])
		at, value := m[0], m[1]
		if below := strings.TrimLeft(text[value:], " \t*_"); strings.HasPrefix(below, "\n") { // on the next line
			value = len(text) - len(strings.TrimLeft(below, "\n\r\t "))
		}
		to := value + sentenceEnd(text[value:min(len(text), value+maxSentence)], spec.Kind == methods.Choice)
		line := closed(text[at:value]+clause, strings.TrimSpace(text[value:to]))
		if spec.Kind == methods.Text || spec.Kind == methods.Fields {
			if mark := text[to-1]; (mark == '!' || mark == '?') && strings.TrimLeft(untilLine(text[to:]), " \t\"'*_") != "" {
				line += " …" // a title may go on behind its mark, or a sentence begin
			}
			if m := behindInitial.FindStringSubmatch(line); m != nil && sentenceWords.MatchString(m[1]) {
				line += " …" // an initial may end the sentence: "Malcolm X. Malcolm was born in 1925"
			}
			line = unpaired(strings.TrimSuffix(strings.TrimRight(line, "!。"), "."))
		}
		add(at, value, to, line, doubt)
	}
	if spec.Kind == methods.Choice {
		for _, at := range latest(places(text, " is ")) {
			m := isCorrect.FindStringIndex(text[at:min(len(text), at+80)])
			if m == nil {
				continue
			}
			from := clauseStart(text, at)
			line := strings.TrimSpace(text[from:at])
			if _, err := choiceIn(line, spec); err == nil {
				add(from, from, at+m[1], line, false)
			}
		}
	}
	return all
}

// nouns are the words for the answer, in small letters.
var nouns = []string{"answer", "option", "choice", "result", "solution", "respuesta", "antwort", "réponse", "reponse", "resposta", "risposta", "ответ", "উত্তর", "คำตอบ", "jibu"}

// answerMarks are where sentences of the answer begin and where their values do, in order.
func answerMarks(text string) (marks [][2]int) {
	lower := strings.ToLower(text)
	if len(lower) != len(text) { // a letter whose small form has another length
		lower = asciiLower(text)
	}
	for _, noun := range nouns {
		for _, at := range latest(places(lower, noun)) {
			m := answerIs.FindStringIndex(text[at:min(len(text), at+250)])
			if m == nil || at > 0 && isLetter(text[at-1]) {
				continue
			}
			from := at
			if adjective := called.FindStringIndex(text[max(0, at-10):at]); adjective != nil {
				from = max(0, at-10) + adjective[0]
			} else if noun[0] != 'a' && isLetter(noun[0]) && slices.Index(nouns, noun) < 5 {
				continue
			}
			marks = append(marks, [2]int{from, at + m[1]})
		}
	}
	if strings.ContainsRune(text, '答') {
		for _, m := range answerCJK.FindAllStringIndex(text, -1) {
			marks = append(marks, [2]int{m[0], m[1]})
		}
	}
	slices.SortFunc(marks, func(a, b [2]int) int { return a[0] - b[0] })
	return marks
}

// places are where a text has word.
func places(text, word string) (at []int) {
	for from := 0; ; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return at
		}
		at = append(at, from+i)
		from += i + len(word)
	}
}

// asciiLower is a text with the small letters of ASCII, and as long as it was.
func asciiLower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c | 0x20
		}
	}
	return string(b)
}

var (
	behindInitial = regexp.MustCompile(`(?:\b\p{Lu}|[ap]\.m)\. (\p{Lu}.*)$`)
	// sentenceWords are small words that names do not have.
	sentenceWords = regexp.MustCompile(`\b(?:was|were|is|are|has|had|have|he|she|it|they|wrote|founded|lost|won|born|open|its|who|which)\b`)
)

// untilLine is the rest of a line.
func untilLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// maxSentence bounds a sentence that says what the answer is, in bytes.
const maxSentence = 2000

// latest are the last of many places: earlier ones do not decide.
func latest[T any](places []T) []T { return places[max(0, len(places)-maxCandidates):] }

// clauseStart is where the clause begins that ends at to.
func clauseStart(text string, to int) int {
	from := max(0, to-200)
	from += strings.LastIndexAny(text[from:to], ".!?;,\n") + 1
	for _, word := range []string{"so ", "thus ", "therefore ", "hence ", "that "} {
		if i := strings.LastIndex(strings.ToLower(text[from:to]), word); i >= 0 {
			from += i + len(word)
		}
	}
	return from
}

// plausible reports whether the words of a sentence can be an answer. Those that speak of the
// answer are left to it. Few words count, and so does what denies or withholds the answer: it is
// unparsed then, whatever was said before.
func plausible(line string, spec methods.AnswerSpec) bool {
	if bareValue(line) == "" || echoed.MatchString(line) || about.MatchString(line) {
		return false
	}
	if spec.Kind == methods.Text || len(strings.Fields(line)) <= 3 || withheld.MatchString(line) {
		return true
	}
	switch spec.Kind {
	case methods.Number, methods.Ranking:
		return strings.ContainsFunc(line, unicode.IsDigit)
	case methods.Fields:
		return strings.ContainsAny(line, "{")
	}
	return len(spec.Labels) == 0 || namesLabel(line, spec)
}
