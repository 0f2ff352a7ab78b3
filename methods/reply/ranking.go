package reply

import (
	"regexp"
	"strconv"
	"strings"
)

// Ranked is what [Ranking] read from a text.
type Ranked struct {
	Items    []int    // 1-based item numbers, best first, each once
	Dropped  []string // what was left out: numbers out of range or repeated
	FromLine bool     // there was no list, so the last line was read
}

// intList matches a JSON-like list of integers; a last comma and quotes around
// the numbers are let pass.
var intList = regexp.MustCompile(`\[\s*["']?-?\d+["']?(?:\s*,\s*["']?-?\d+["']?)*\s*,?\s*\]`)

// aside matches what a list is introduced by that is not the ranking: what it was made from,
// or what it leaves out.
var aside = regexp.MustCompile(`(?i)\b(?:given|since|because|from|with|where|exclud(?:e|es|ed|ing)|except|left out|leaving out|omit(?:ted|ting)?|skip(?:ped|ping)?|ignor(?:ed|ing)|discard(?:ed|ing)?|without|not|unlike|instead of|rather than|dropped|removed|rejected|eliminated|was|were|before|over|than|scores?|votes?|ratings?|points?|anything but|all but)\b[^.;\n\[\]]*$`)

// announced matches what a list is introduced by that is the ranking.
var announced = regexp.MustCompile(`(?i)(?:\b(?:top|rank\w*|order\w*|best|final\w*|answer|choose|chose|pick\w*|select\w*|recommend\w*|result|so|therefore|thus|is|now|but)\b|:)[^.;\n\[\]]*$`)

// Ranking reads a ranking of the items 1..n from text: the last JSON-like
// list of integers in it that is not said to be something else, or else the integers of its
// last line that is not
// empty, after its last colon if it has one. Such a line must hold at least as
// many integers as other words: "3, then 1" is a ranking, "none of the 3 fits"
// is prose. Two lists that are joined do not make a ranking. Digits that belong to a word or a decimal
// number are never taken. Numbers out of range and repeated ones are left out and reported.
//
// Source: seed 000 §Phase 3. Differs: the original took every number in the
// text, so "Top-5: [3, 1]" ranked 5 first.
func Ranking(text string, n int) Ranked {
	var r Ranked
	var words []string
	list, any := lastList(text)
	switch {
	case list != "":
		words = fields(strings.Trim(list, "[]"))
	case any:
		return r
	default:
		r.FromLine = true
		line := lastLine(text)
		if words = numbered(text); words != nil {
			break
		}
		if words = fields(line); isProse(words) || unranked.MatchString(line) || strings.Contains(worstFirst.FindString(text), "worst") {
			return r
		}
	}
	seen := map[int]bool{}
	for _, w := range words {
		if !isInt(w) {
			continue
		}
		i, err := strconv.Atoi(w)
		if err != nil || i < 1 || i > n || seen[i] {
			r.Dropped = append(r.Dropped, OneLine(w, 20))
			continue
		}
		seen[i] = true
		r.Items = append(r.Items, i)
	}
	return r
}

var (
	// inPlace matches a line of a numbered ranking: its place, and the number of its item.
	inPlace = regexp.MustCompile(`^\W*(\d+)[.)]\s+(?:(?i:item|option|number|no\.?)\s+)?\W*(\d+)\b`)
	// loneItem matches a line that is the number of an item.
	loneItem = regexp.MustCompile(`^\W*(?:(?i:item|option)\s+)?\W*(\d+)\W*$`)
	// unranked matches what a line of items holds that is not a ranking of all of them, best first.
	unranked   = regexp.MustCompile(`(?i)<|\(|\d\)|\b(?:or|not|none|all|but|except|\d+(?:st|nd|rd|th))\b`)
	worstFirst = regexp.MustCompile(`(?i)worst (?:to|first)|(?:least|lowest) (?:to|first)`)
)

// numbered are the items of a ranking with a line for each, numbered from 1 or without numbers;
// nil where the lines are something else.
func numbered(text string) (items []string) {
	placed, lone := []string{}, []string{}
	for line := range strings.SplitSeq(text, "\n") {
		if m := inPlace.FindStringSubmatch(line); m != nil {
			if m[1] != strconv.Itoa(len(placed)+1) {
				return nil
			}
			placed = append(placed, m[2])
		} else if m := loneItem.FindStringSubmatch(line); m != nil {
			lone = append(lone, m[1])
		}
	}
	switch {
	case len(placed) > 1 && len(lone) == 0:
		return placed
	case len(lone) > 1 && len(placed) == 0:
		return lone
	}
	return nil
}

// lastList is the last list of integers that is not introduced as something else; any says
// whether there is a list at all.
func lastList(text string) (list string, any bool) {
	all := intList.FindAllStringIndex(text, -1)
	for i := len(all) - 1; i >= 0; i-- {
		before := text[max(0, all[i][0]-200):all[i][0]]
		if i > 0 {
			if between := text[all[i-1][1]:all[i][0]]; len(between) < 40 && joining.MatchString(between) {
				return "", true
			}
		}
		if !aside.MatchString(before[strings.LastIndexAny(before, ".;\n]")+1:]) {
			return text[all[i][0]:all[i][1]], true
		}
	}
	return "", len(all) > 0
}

// fields splits at what separates the items of a ranking, and takes off what
// decorates them, as in "#3", "**3**" and "3.".
func fields(s string) []string {
	words := strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(" \t\r\n,;>()[]{}\"'", r) })
	for i, w := range words {
		words[i] = strings.TrimRight(strings.Trim(w, "*_`#"), ".!")
	}
	return words
}

// isProse reports whether most words are not integers.
func isProse(words []string) bool {
	ints := 0
	for _, w := range words {
		if isInt(w) {
			ints++
		}
	}
	return 2*ints < len(words)
}

func isInt(w string) bool {
	digits := strings.TrimPrefix(w, "-")
	return digits != "" && strings.Trim(digits, "0123456789") == ""
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	line := text[strings.LastIndexByte(text, '\n')+1:]
	return line[strings.LastIndexByte(line, ':')+1:]
}
