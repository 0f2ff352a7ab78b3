package reply

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"noema/methods"
)

// choiceIn reads what is said to be the answer of a choice: a label, the text of an option,
// or a label with the text of its option or with its reason behind it. What names two labels,
// or denies the one, is refused.
func choiceIn(value string, spec methods.AnswerSpec) (Reading, error) {
	bare := bareValue(value)
	label, err := label(bare, spec)
	other := optionOf(bare, spec)
	switch {
	case err == nil && (other == "" || slices.Contains(spec.Labels, bare) || `"`+other+`"` == string(label.Answer.Value)):
		return label, nil
	case err == nil:
		return Reading{}, errSeveral
	case other != "":
		return Reading{Answer: methods.ChoiceAnswer(other), Repair: "the text of an option"}, nil
	}
	for _, l := range byLength(spec.Labels) {
		if rest, ok := leads(bare, l); ok {
			return withGloss(l, rest, spec)
		}
	}
	if one, bad := onlyLabel(value, spec); bad == nil {
		if name, _ := one.Answer.Text(); namesOther(value, name, spec) {
			return Reading{}, errSeveral
		}
		return one, nil
	} else if bad == errSeveral {
		return Reading{}, errSeveral
	}
	return Reading{}, err
}

// optionOf is the label of the one option whose text is text; "" if none or several are.
func optionOf(text string, spec methods.AnswerSpec) (label string) {
	text = plainText(text)
	for i, t := range spec.Texts {
		if i < len(spec.Labels) && text != "" && plainText(t) == text {
			if label != "" {
				return ""
			}
			label = spec.Labels[i]
		}
	}
	return label
}

// plainText is a text for comparison with another's: small letters, single spaces, without
// emphasis, quotes and the marks of sentences around it.
func plainText(s string) string {
	return strings.Join(strings.Fields(strings.ToLower(bareValue(s))), " ")
}

// introduced matches the words before a label.
var introduced = regexp.MustCompile(`(?i)^(?:(?:the |an? )?(?:correct |right |best )?(?:option|choice|answer|letter|number|statement)s?:? +)?["'“(\[{*_$]*(?:\\(?:text|textbf|mathrm|mathbf|boxed)\{)?[("'*_]*`)

// leads is what follows the label l in a value that begins with it.
func leads(value, l string) (rest string, ok bool) {
	intro := introduced.FindString(value)
	for _, skip := range []string{intro, strings.TrimLeft(intro, " "), ""} {
		body := value[len(skip):]
		word := strings.Trim(l, decoration+".\"'()[]")
		if word == "" || len(body) < len(word) || !strings.EqualFold(body[:len(word)], word) {
			continue
		}
		rest = body[len(word):]
		if next, _ := utf8.DecodeRuneInString(rest); rest != "" && isWordRune(next) {
			continue
		}
		single := utf8.RuneCountInString(word) == 1
		enclosed := strings.ContainsAny(skip, "([{*_\"'“") || strings.IndexAny(rest, ").:]") == 0
		if single && body[:len(word)] != word && !enclosed {
			continue // "a pear" does not begin with A
		}
		return rest, true
	}
	return "", false
}

var (
	decimalRest = regexp.MustCompile(`^[.,:]\d`)
	// labelEnd ends a label before what explains it.
	labelEnd = regexp.MustCompile(`^(?:[)\]}*_"'”$]|\\\))*[ \t]*(?:[.):,;–—]+|-+\s|\s-+\s|\n|$|\()[)\]}*_"'”$]*`)
	// causal begins a reason, in which other labels may be named.
	causal   = regexp.MustCompile(`(?i)^[)\]}*_"'”$., ;–—-]*(?:because|since|given|due|for the reason|which means|the reason)\b`)
	elseWise = regexp.MustCompile(`(?i)\b(?:else|otherwise)\b`)
	// refuses denies the label before it.
	refuses = regexp.MustCompile(`(?i)^\W*(?:(?:is|was|seems|looks)(?: the)? )?(?:n['’]t|not|wrong|incorrect|false|no\b|never|cannot|can't|isn't|wasn't|out\b|ruled out|eliminated|excluded|impossible|also\b|too\b|or\b|and\b|nor\b|&|/)`)
)

// withGloss is the answer l with what explains it: the text of its option, or a reason.
func withGloss(l, rest string, spec methods.AnswerSpec) (Reading, error) {
	fault := fmt.Errorf("%.80q follows the label %q and is neither its option nor a reason", strings.TrimSpace(rest), l)
	r := Reading{Answer: methods.ChoiceAnswer(l), Repair: "a label with its reason"}
	if isDigit(rune(l[len(l)-1])) && decimalRest.MatchString(rest) {
		return Reading{}, fault // 2.5 does not begin with the label 2
	}
	ended := labelEnd.FindString(rest)
	gloss := strings.TrimSpace(rest[len(ended):])
	if strings.HasSuffix(strings.TrimSpace(ended), "(") {
		gloss = strings.TrimSuffix(strings.TrimRight(gloss, ". "), ")")
	}
	if own := spec.OptionText(l); own != "" {
		if after, ok := strings.CutPrefix(plainText(gloss), plainText(own)); ok && !beginsWord(after) {
			r.Repair = "a label with its option"
			if after == "" {
				return r, nil
			}
			gloss = after
		} else if other := optionOf(gloss, spec); other != "" && other != l {
			return Reading{}, errSeveral
		}
	}
	switch {
	case gloss == "" || strings.Trim(gloss, decoration+".!)\"'$\\") == "":
		return r, nil
	case refuses.MatchString(gloss):
		if namesOther(gloss, l, spec) {
			return Reading{}, errSeveral
		}
		return Reading{}, fault
	case elseWise.MatchString(gloss) && namesOther(gloss, l, spec):
		return Reading{}, errSeveral
	case causal.MatchString(gloss), causal.MatchString(rest):
		return r, nil
	case namesOther(gloss, l, spec):
		return Reading{}, errSeveral
	case ended == "" && r.Repair != "a label with its option":
		return wordBefore(l, rest, spec, fault)
	case negated(gloss, [2]int{0, 0}) && r.Repair != "a label with its option" && len(spec.Texts) == 0 && !smallWords[strings.ToLower(l)]:
		return Reading{}, fault
	}
	return r, nil
}

// wordBefore reads a label that is a word and goes on in a sentence: "High risk".
func wordBefore(l, rest string, spec methods.AnswerSpec, fault error) (Reading, error) {
	if utf8.RuneCountInString(l) == 1 {
		return Reading{}, fault
	}
	return onlyLabel(l+rest, spec)
}

func beginsWord(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return s != "" && isWordRune(r)
}

// namesOther reports whether a text names a label other than own.
func namesOther(text, own string, spec methods.AnswerSpec) bool {
	for _, l := range spec.Labels {
		if l != own && !strings.Contains(strings.ToLower(own), strings.ToLower(l)) && namesOne(text, l) {
			return true
		}
	}
	return false
}

// namesLabel reports whether a text names a label or the text of an option, or offers several.
func namesLabel(text string, spec methods.AnswerSpec) bool {
	for i, l := range spec.Labels {
		if namesOne(text, l) {
			return true
		}
		if i < len(spec.Texts) && spec.Texts[i] != "" && strings.Contains(plainText(text), plainText(spec.Texts[i])) {
			return true
		}
	}
	_, err := choiceIn(text, methods.AnswerSpec{Kind: methods.Choice, Labels: spec.Labels})
	return err == nil
}

// isArticle reports whether a letter that is also a word is that word, by what follows it.
func isArticle(after string) bool {
	word, ok := strings.CutPrefix(after, " ")
	word, _, _ = strings.Cut(strings.TrimLeft(word, " "), " ")
	if r, _ := utf8.DecodeRuneInString(word); !ok || !unicode.IsLower(r) {
		return false
	}
	return !slices.Contains([]string{"or", "and", "nor", "is", "was", "as", "but", "because", "since"}, strings.TrimRight(word, ".,;:!"))
}

// namesOne reports whether a text has label as a label: a word of it, or a single letter in its
// own case that is not an article.
func namesOne(text, label string) bool {
	word := strings.Trim(label, decoration+".\"'()[]")
	if word == "" {
		return false
	}
	single := utf8.RuneCountInString(word) == 1
	fold := strings.ToLower(text)
	if single {
		fold = text
	} else {
		word = strings.ToLower(word)
	}
	for from := 0; ; {
		i := strings.Index(fold[from:], word)
		if i < 0 {
			return false
		}
		i += from
		before, _ := utf8.DecodeLastRuneInString(fold[:i])
		after, _ := utf8.DecodeRuneInString(fold[i+len(word):])
		if !isWordRune(before) && !isWordRune(after) && before != '\'' && after != '\'' &&
			!(single && unicode.IsLetter([]rune(word)[0]) && (word == "A" || word == "I" || word == "a") && before != '(' && isArticle(fold[i+len(word):])) {
			return true
		}
		from = i + len(word)
	}
}

// onlyLine finds the label that single lines of a reply give and nothing else, such as a first
// line "B) pears".
func onlyLine(text string, spec methods.AnswerSpec) (r Reading, err error) {
	err = errNothing
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimLeft(line, lead)
		bare := bareValue(line)
		one, bad := label(bare, spec)
		if bad != nil {
			bad = errNothing
			for _, l := range byLength(spec.Labels) {
				if rest, ok := leads(bare, l); ok && (spec.OptionText(l) != "" && plainText(strings.TrimPrefix(rest, labelEnd.FindString(rest))) == plainText(spec.OptionText(l))) {
					one, bad = Reading{Answer: methods.ChoiceAnswer(l)}, nil
					break
				}
			}
		}
		if bad != nil {
			continue
		}
		if err == nil && string(one.Answer.Value) != string(r.Answer.Value) {
			return Reading{}, errSeveral
		}
		r, err = one, nil
	}
	return r, err
}
