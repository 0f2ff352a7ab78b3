package score

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"noema/methods"
)

// text scores free text against one or more accepted texts: the target is a
// string or a list of them, and the best match counts. Both sides are put
// through [Normalize] first. em, the same as accuracy, is 1 if they are then
// equal; f1 is the overlap of their words.
//
// Source: Rajpurkar et al. 2016, "SQuAD: 100,000+ Questions for Machine
// Comprehension of Text", and its evaluate-v2.0 script.
type text struct{ accepted []string }

func newText(target json.RawMessage) (grader, error) {
	one, err := parseTarget[string](methods.Text, target)
	if err == nil {
		return text{[]string{Normalize(one)}}, nil
	}
	many, err := parseTarget[[]string](methods.Text, target)
	if err != nil {
		return nil, err
	}
	if len(many) == 0 {
		return nil, fmt.Errorf("score: the target has no accepted answer")
	}
	for i := range many {
		many[i] = Normalize(many[i])
	}
	return text{many}, nil
}

func (t text) grade(a methods.Answer) (map[string]float64, error) {
	raw, err := a.Text()
	if err != nil {
		return nil, err
	}
	got := Normalize(raw)
	em := oneIf(slices.Contains(t.accepted, got))
	var f1 float64
	for _, want := range t.accepted {
		f1 = max(f1, wordF1(got, want))
	}
	return map[string]float64{Accuracy: em, EM: em, F1: f1}, nil
}

// TextRules is the version of the rules of [Normalize], by which texts are scored. It is part
// of the configuration of every run that asks for texts. Version 1 dropped all punctuation and
// symbols, so that -24, 3/4 and C++ were 24, 34 and C; version 2 dropped brackets in texts of
// signs, so that ") ) >" was ">".
const TextRules = 3

// Normalize brings a text into the form in which answers are compared: lower
// case, without articles and what stands around words (quotes, brackets, the marks of
// sentences, emphasis), single spaces.
// Differs from SQuAD's script, which drops all ASCII punctuation: punctuation is Unicode's, so
// that typographic quotes do not make an answer wrong; marks that tell texts apart stay, such as
// signs, points within numbers, slashes, percent and currency; and a
// text that is nothing else keeps all of it, so that "+" and "-" stay apart.
func Normalize(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) < 0 {
		return strings.Join(strings.Fields(s), " ") // signs alone
	}
	lower := strings.ToLower(alike.Replace(strings.TrimSpace(s)))
	if inner := strings.TrimSuffix(strings.TrimPrefix(lower, "**"), "**"); len(inner) == len(lower)-4 {
		lower = inner
	}
	all := strings.Fields(emphasis.ReplaceAllString(lower, "$1$2$3"))
	var words []string
	for i, w := range all {
		w, last := bare(w), len(words)-1
		switch {
		case w == "" || w == "a" || w == "an" || w == "the":
		case w == "%" && last >= 0: // 10 %
			words[last] += w
		case last >= 0 && words[last] == "-" && last == 0 && w[0] >= '0' && w[0] <= '9': // - 24
			words[last] += w
		case strings.Trim(w, "-*") == "" && i == len(all)-1: // a rule or a dash at the end
		default:
			words = append(words, w)
		}
	}
	if len(words) > 1 && strings.Trim(words[0], "-*") == "" { // a bullet
		words = words[1:]
	}
	if len(words) == 0 {
		words = strings.Fields(lower)
	}
	return strings.Join(words, " ")
}

// alike writes marks that look alike in one way. A long dash parts words; an apostrophe does not
// count.
var alike = strings.NewReplacer("\u2010", "-", "\u2011", "-", "\u2012", "-", "\u2013", "-", "\u2212", "-", "\uff0d", "-", "\u2014", " ", "\u2015", " ",
	"'", "", "\u2019", "", "\u2018", "", "\u02bc", "")

var (
	emphasis     = regexp.MustCompile("(^|\\s)(?:\\*+|_+|`+)([^*_`\\s](?:[^*_`]*[^*_`\\s])?)(?:\\*+|_+|`+)($|[\\s.,;:!?])")
	grouped      = regexp.MustCompile(`^\D*\d{1,3}(?:,\d{3})+(?:\.\d+)?\D*$`)
	abbreviation = regexp.MustCompile(`^(?:\pL\.)+\pL?$`)
)

// bare is a word without what stands around it. Between the digits of a number commas go, and
// between the letters of an abbreviation points.
func bare(word string) string {
	around := func(r rune) bool { return unicode.IsPunct(r) && !strings.ContainsRune(`-/%‰#&@*_\′″`, r) }
	w := strings.TrimLeftFunc(word, around)
	if at := len(word) - len(w); at > 0 && word[at-1] == '.' && w != "" && w[0] >= '0' && w[0] <= '9' {
		w = "." + w
	}
	w = strings.TrimRightFunc(w, around)
	switch {
	case grouped.MatchString(w):
		return strings.ReplaceAll(w, ",", "")
	case abbreviation.MatchString(w):
		return strings.ReplaceAll(w, ".", "")
	}
	return w
}

// wordF1 is the F1 of the two texts as bags of words. Two empty texts agree.
func wordF1(got, want string) float64 {
	g, w := strings.Fields(got), strings.Fields(want)
	if len(g) == 0 || len(w) == 0 {
		return oneIf(len(g) == len(w))
	}
	left := make(map[string]int, len(w))
	for _, word := range w {
		left[word]++
	}
	shared := 0
	for _, word := range g {
		if left[word] > 0 {
			left[word]--
			shared++
		}
	}
	return 2 * float64(shared) / float64(len(g)+len(w))
}
