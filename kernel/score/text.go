package score

import (
	"encoding/json"
	"fmt"
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

// Normalize brings a text into the form in which answers are compared: lower
// case, punctuation and the articles a, an and the dropped, single spaces.
// Differs from SQuAD's script: punctuation and symbols are Unicode's, not
// ASCII's alone, so that typographic quotes do not make an answer wrong; and a
// text that is nothing else keeps them, so that "+" and "-" stay apart.
func Normalize(s string) string {
	lower := strings.ToLower(s)
	bare := strings.Map(func(r rune) rune {
		if unicode.IsPunct(r) || unicode.IsSymbol(r) {
			return -1
		}
		return r
	}, lower)
	words := slices.DeleteFunc(strings.Fields(bare), func(w string) bool {
		return w == "a" || w == "an" || w == "the"
	})
	if len(words) == 0 {
		words = strings.Fields(lower)
	}
	return strings.Join(words, " ")
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
