package reply

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"noema/methods"
)

// setOf is the set of the texts. Where there are labels, each must be one: any other
// member says that the set was read wrongly.
func setOf(list []string, spec methods.AnswerSpec) (Reading, error) {
	if len(spec.Labels) == 0 {
		return Reading{Answer: methods.SetAnswer(list)}, nil
	}
	kept := []string{}
	for _, text := range list {
		name, ok := member(text, spec)
		if !ok {
			return Reading{}, fmt.Errorf("%.80q is not one of the labels %s", text, Quoted(spec.Labels))
		}
		kept = append(kept, name)
	}
	return Reading{Answer: methods.SetAnswer(kept)}, nil
}

// member is the label that a member of a set means: the label, the text of its option, or both.
func member(text string, spec methods.AnswerSpec) (string, bool) {
	bare := strings.TrimSpace(strings.Trim(bareValue(text), "()[]{}"))
	if one, err := label(bare, spec); err == nil {
		name, err := one.Answer.Text()
		return name, err == nil
	}
	if name := optionOf(text, spec); name != "" {
		return name, true
	}
	for _, l := range byLength(spec.Labels) {
		rest, ok := leads(bareValue(text), l)
		if !ok {
			continue
		}
		gloss := strings.TrimSpace(rest[len(labelEnd.FindString(rest)):])
		if gloss == "" || plainText(gloss) == plainText(spec.OptionText(l)) {
			return l, true
		}
	}
	return "", false
}

var (
	// conjunction joins the last members of a set.
	conjunction = regexp.MustCompile(`(?i),?\s+(?:and|as well as)\s+|\s*&\s*`)
	// bullet begins a line that is a member of a set.
	bullet = regexp.MustCompile(`^\s*(?:[-*•+]|\d+[.)])\s+`)
	// notMember matches a part that alters the set instead of naming a member.
	notMember = regexp.MustCompile(`(?i)^(?:or|not|nor|but|except|also)\s|\.\.\.$|…$`)
	// ofMembers matches the words around the members.
	ofMembers = regexp.MustCompile(`(?i)^(?:(?:both|only|just|options?|choices?|labels?|statements?|the)\s+)+|\s+(?:only|are (?:all )?(?:correct|right|true))\W*$`)
)

// setIn reads a list, or else the members that a line names, or the bullets below it.
func setIn(line, rest string, spec methods.AnswerSpec) (Reading, error) {
	if i := strings.IndexByte(line, '['); i >= 0 || strings.TrimSpace(line) == "" {
		if found, _ := literals(line + "\n" + rest); len(found) > 0 && found[0].raw[0] == '[' {
			if rest := strings.Trim(untilLine((line + "\n" + rest)[found[0].to:]), decoration+".)"); rest != "" && !causal.MatchString(rest) {
				return Reading{}, fmt.Errorf("%.80q follows the list", rest)
			}
			return readLiteral(found[0], spec)
		}
	}
	parts := membersOf(line)
	if bullet.MatchString(line) {
		parts = bullets(line)
	}
	if len(parts) == 0 {
		return Reading{}, errors.New("it names no member")
	}
	if i := slices.IndexFunc(parts, func(p string) bool { return notMember.MatchString(p) }); i >= 0 {
		return Reading{}, fmt.Errorf("%.80q does not name a member plainly", parts[i])
	}
	if len(parts) == 1 && len(spec.Labels) == 0 && conjunction.MatchString(parts[0]) {
		return Reading{}, fmt.Errorf("%.80q may be one member or two: a list is asked for", parts[0])
	}
	if len(parts) == 1 && len(spec.Labels) > 0 {
		if letters := lettersOf(parts[0], spec); letters != nil {
			parts = letters
		}
	}
	return setOf(parts, spec)
}

// bullets are the members of a list with a line for each, up to the first other line.
func bullets(text string) (parts []string) {
	for line := range strings.SplitSeq(text, "\n") {
		at := bullet.FindString(line)
		if at == "" {
			if strings.TrimSpace(line) == "" {
				continue
			}
			break
		}
		parts = append(parts, bareValue(line[len(at):]))
	}
	return parts
}

// membersOf are the parts of a line between commas, semicolons and the words that join.
func membersOf(line string) (parts []string) {
	first, _, _ := strings.Cut(strings.TrimSpace(strings.ReplaceAll(line, "as well as", "and")), "\n")
	first = bareValue(beside.ReplaceAllString(first, ""))
	first = ofMembers.ReplaceAllString(first, "")
	first = ofMembers.ReplaceAllString(first, "")
	for part := range strings.FieldsFuncSeq(first, func(r rune) bool { return r == ',' || r == ';' || r == '、' }) {
		part = strings.TrimSpace(part)
		for _, word := range []string{"and ", "And ", "AND "} {
			part = strings.TrimPrefix(part, word)
		}
		if part = bareValue(part); part != "" {
			parts = append(parts, part)
		}
	}
	if n := len(parts); n > 0 && (n > 1 || len(parts[0]) < 40) {
		if two := conjunction.Split(parts[n-1], -1); len(two) > 1 && (n > 1 || allShort(two)) {
			parts = append(parts[:n-1], two...)
		}
	}
	return parts
}

// allShort reports whether members are as short as labels: two of them joined are two.
func allShort(parts []string) bool {
	return !slices.ContainsFunc(parts, func(p string) bool { return utf8.RuneCountInString(strings.Trim(p, "()[]")) > 3 })
}

// lettersOf are the labels of a member such as "ACD" or "(A)(C)", where labels are single letters.
func lettersOf(text string, spec methods.AnswerSpec) (letters []string) {
	if utf8.RuneCountInString(text) < 2 || slices.Contains(spec.Labels, text) {
		return nil
	}
	for _, r := range text {
		if strings.ContainsRune("()[] ", r) {
			continue
		}
		if !slices.Contains(spec.Labels, string(r)) || slices.Contains(letters, string(r)) {
			return nil
		}
		letters = append(letters, string(r))
	}
	return letters
}
