package sim

import (
	"fmt"
	"regexp"
	"strings"
)

// seed is a Formula Seed that scores an item: whether it fulfils the plan, and
// how near it comes to that, as ANoT's final step ranks. What the data say is
// read by formulas; mentions are read from the reviews.
func (p plan) seed() formulaSeed {
	s := formulaSeed{TaskName: "request", FilterKeywords: []string{}, ExtractionFields: []seedField{}, ComputeDAG: p.formulas(), OutputFields: []string{"score"}}
	var b strings.Builder
	b.WriteString("Say for each field whether the review mentions the words.\n")
	for i, t := range p.tests {
		if t.pattern == "" {
			continue
		}
		s.FilterKeywords = append(s.FilterKeywords, t.pattern)
		s.ExtractionFields = append(s.ExtractionFields, seedField{Name: mention(i + 1), Type: "boolean"})
		fmt.Fprintf(&b, "%s: true if the review mentions %s.\n", mention(i+1), noBraces.Replace(plainJSON(t.pattern)))
	}
	if len(s.ExtractionFields) > 0 {
		s.ExtractionPrompt = b.String() + "{review_text}"
	}
	return s
}

// mention is the field for what a numbered test wants mentioned.
func mention(number int) string { return fmt.Sprintf("mentions_%d", number) }

func conditionName(number int) string { return fmt.Sprintf("c%d", number) }

// formulas are a step for each test, fits and score.
func (p plan) formulas() []seedFormula {
	var list []seedFormula
	for i, t := range p.tests {
		list = append(list, seedFormula{conditionName(i + 1), t.formula(i + 1)})
	}
	return append(list, seedFormula{"fits", p.logic.python()}, seedFormula{"score", "2 * bool(fits) + " + p.logic.nearness()})
}

// formula is the numbered test as an expression over item, context and
// extractions.
func (t test) formula(number int) string {
	switch t.kind {
	case "HOURS":
		to := t.to
		if to <= t.from {
			to += day
		}
		return fmt.Sprintf("any(a <= %d and %d <= (b if b > a else b + 1440) for h in [%s] if h for a, b in [[int(x.split(':')[0]) * 60 + int(x.split(':')[1]) for x in h.split('-')]])",
			t.from, to, lookUp("hours."+t.day))
	case "REVIEW_TEXT":
		return fmt.Sprintf("any(e['%s'] for e in extractions)", mention(number))
	case "SOCIAL":
		near := fmt.Sprintf("context['friends'].get(%s, [])", pythonText(t.friend))
		if t.hops > 1 {
			near += fmt.Sprintf(" + [g for f in %s for g in context['friends'].get(f, []) if g != %s]", near, pythonText(t.friend))
		}
		if t.pattern == "" {
			return fmt.Sprintf("any(r['author'] in (%s) for r in reviews)", near)
		}
		return fmt.Sprintf("any(e['%s'] and e['author'] in (%s) for e in extractions)", mention(number), near)
	}
	return t.valueFormula(lookUp(t.path))
}

// valueFormula judges a value as [test.valueHolds] does: what is missing counts
// as false, as no number and as different from every text.
func (t test) valueFormula(value string) string {
	want := t.want
	if t.quoted {
		want = pythonText(want)
	}
	switch t.op {
	case "=", "!=":
		equal := fmt.Sprintf("%s == %s", value, want)
		if !t.quoted && t.want == "False" {
			equal = fmt.Sprintf("%s in (None, False)", value)
		}
		if t.op == "!=" {
			return "not (" + equal + ")"
		}
		return equal
	case "contains":
		return fmt.Sprintf("%s.lower() in str(%s or '').lower()", pythonText(t.want), value)
	}
	return fmt.Sprintf("any(v %s %s for v in [%s] if v is not None)", t.op, want, value)
}

// lookUp is an expression for what a dotted path leads to in an item, None
// where it leads nowhere.
func lookUp(path string) string {
	keys := strings.Split(path, ".")
	at := "item"
	for _, key := range keys[:len(keys)-1] {
		at = fmt.Sprintf("(%s.get(%s) or {})", at, pythonText(key))
	}
	return fmt.Sprintf("%s.get(%s)", at, pythonText(keys[len(keys)-1]))
}

// pythonEscapes are those of a Python string: making a replacer takes longer than using it.
var pythonEscapes = strings.NewReplacer(`\`, `\\`, "'", `\'`, "\n", `\n`)

// pythonText is s as a Python string.
func pythonText(s string) string { return "'" + pythonEscapes.Replace(s) + "'" }

// python is the tree over the steps c1, c2 and so on.
func (l logic) python() string {
	switch l.op {
	case "":
		return conditionName(l.leaf)
	case "NOT":
		return "(not " + l.args[0].python() + ")"
	}
	return "(" + l.joined(" "+strings.ToLower(l.op)+" ", logic.python) + ")"
}

// nearness is [logic.closeness] as an expression.
func (l logic) nearness() string {
	switch l.op {
	case "":
		return conditionName(l.leaf)
	case "NOT":
		return "(1 - " + l.args[0].nearness() + ")"
	case "OR":
		return "max(" + l.joined(", ", logic.nearness) + ", 0)"
	}
	return fmt.Sprintf("(%s) / %d", l.joined(" + ", logic.nearness), len(l.args))
}

var mentionRule = regexp.MustCompile(`(?m)^(\w+): .*?("(?:[^"\\]|\\.)*")`)

// extractMentions answers an extraction prompt whose fields are true or false,
// and which says of each in a line of its own which words it is about.
func extractMentions(prompt, text, lines string, n noise) (string, bool) {
	words := map[string]string{}
	for _, m := range mentionRule.FindAllStringSubmatch(prompt, -1) {
		if _, known := words[m[1]]; !known {
			words[m[1]], _ = unquote(m[2])
		}
	}
	var parts []string
	for line := range strings.Lines(lines) {
		name, domain, _ := strings.Cut(strings.TrimRight(line, "\r\n"), ": ")
		pattern, known := words[name]
		if !known || domain != "true or false" {
			return "", false
		}
		parts = append(parts, plainJSON(name)+": "+plainJSON(mentioned(text, pattern, n)))
	}
	return "{" + strings.Join(parts, ", ") + "}", len(parts) > 0
}
