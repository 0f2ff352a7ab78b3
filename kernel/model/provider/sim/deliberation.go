package sim

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"noema/kernel/base/score"
	"noema/kernel/task/arithmetic"
)

// Earlier work on a question is shown in sections: steps, a solution or several, their
// faults, lessons, a part of the question or the results of several. Where a prompt shows
// such work, the question is read afresh: who checks a solution does not misread what its
// author misread, unless by chance.

// workTags are the tags of these sections.
var workTags = []string{"steps", "solution", "solutions", "faults", "lessons", "part", "parts"}

// work is a prompt without the earlier work that it shows, and that work by its tag.
func (p prompt) work() (rest prompt, shown map[string]string) {
	rest, shown = p, map[string]string{}
	for _, tag := range workTags {
		if inside, after, ok := section(rest.text, tag); ok {
			before, _, _ := strings.Cut(rest.text, "<"+tag+">\n")
			shown[tag], rest.text = inside, before+after
		}
	}
	return rest, shown
}

// deliberate answers the prompts that show earlier work, or that divide the question.
func deliberate(p prompt, n noise) (string, bool) {
	rest, shown := p.work()
	divides := p.wants(`{"parts": [`)
	if len(shown) == 0 && !divides {
		return "", false
	}
	for _, tag := range workTags {
		n.sample = n.at(request, 0, []any{tag, shown[tag]})
	}
	s, ok := solvePuzzle(p, n)
	if !ok {
		s, ok = rest.solve(n)
	}
	if !ok {
		return "", false
	}
	own := checker{p: rest, n: n, solution: s}
	switch {
	case divides:
		return plainJSON(map[string]any{"parts": own.parts()}), true
	case p.wants(`{"next": [`):
		return plainJSON(map[string]any{"next": own.next(shown["steps"])}), true
	case p.wants(`{"value": "`):
		return plainJSON(map[string]string{"value": map[bool]string{true: "sure", false: "impossible"}[own.approves(shown["steps"])]}), true
	case p.wants(`{"best": `):
		return plainJSON(map[string]int{"best": own.vote(listed(shown["solutions"]))}), true
	case p.wants(`{"faults": [`):
		faults := []string{}
		if !own.approves(shown["solution"]) {
			faults = []string{"As I work it out, the answer is not " + claimed(shown["solution"]) + "."}
		}
		return plainJSON(map[string]any{"faults": faults}), true
	case p.wants(`{"lessons": [`):
		return plainJSON(map[string]any{"lessons": []string{"Read every fact of the question again, and work each step out anew."}}), true
	case shown["part"] != "":
		return own.part(shown["part"]), true
	case shown["solutions"] != "":
		return own.merge(append(listed(shown["solutions"]), listed(shown["solution"])...)), true
	}
	if _, puzzling := arithmetic.FindPuzzle(rest.text); puzzling {
		return s.reasoned("Answer:"), true
	}
	return rest.reply(n)
}

// checker holds others' work to its own.
type checker struct {
	solution
	p prompt
	n noise
}

// lines are those of the checker's own working, without the answer.
func (c checker) lines() []string {
	return strings.FieldsFunc(c.steps, func(r rune) bool { return r == '\n' })
}

// right reports whether steps, or a whole solution, are right as the checker sees it.
func (c checker) right(text string) bool {
	said := claimed(text)
	if numbers, ok := arithmetic.FindPuzzle(c.p.text); ok {
		if said != "" {
			return score.Game24(said, numbers) == nil
		}
		z, _ := readPuzzle(c.p, strings.Split(text, "\n"))
		_, found := solvable(z.left)
		return !z.lost && (found || len(z.left) == 1 && z.left[0].value.Cmp(goal) == 0)
	}
	if said != "" {
		return c.none == "" && (said == c.text() || said == c.value)
	}
	for _, line := range strings.FieldsFunc(text, func(r rune) bool { return r == '\n' }) {
		if !slices.Contains(c.lines(), line) {
			return false
		}
	}
	return true
}

// approves is [checker.right], with an error of judgement now and then.
func (c checker) approves(text string) bool { return c.right(text) != c.n.errs(judge, text) }

// vote is the number of the first text that is approved, or of any.
func (c checker) vote(texts []string) int {
	if i := slices.IndexFunc(texts, c.approves); i >= 0 {
		return i + 1
	}
	return c.n.below(max(1, len(texts)), judge, 0, strings.Join(texts, "\n")) + 1
}

// next are steps that follow on those shown: of a puzzle as many as are asked for.
func (c checker) next(shown string) []string {
	steps := strings.Split(shown, "\n")
	for i, line := range c.lines() {
		if slices.Contains(steps, line) {
			continue
		}
		next := []string{line}
		if z, ok := readPuzzle(c.p, steps); ok && i == 0 {
			limit, _ := between(c.p.frame, "Propose up to ", " ")
			others := movesFrom(z.left)
			for at := range others {
				other := others[(at+c.n.below(len(others), compute, 0, shown))%len(others)].String()
				if len(next) < limit && !slices.Contains(next, other) {
					next = append(next, other)
				}
			}
		}
		return next
	}
	return []string{strings.TrimSpace(solution{value: c.value, plain: c.plain, none: c.none}.reasoned("Answer:"))}
}

// parts divides the checker's working in two, if it has two lines.
func (c checker) parts() []string {
	if half := len(c.lines()) / 2; half > 0 {
		if _, whole := arithmetic.FindPuzzle(c.p.text); !whole {
			return []string{"the first " + strconv.Itoa(half) + " steps", "the steps after the first " + strconv.Itoa(half)}
		}
	}
	return []string{}
}

// part is the working on one of [checker.parts].
func (c checker) part(name string) string {
	lines := c.lines()
	half, after := len(lines)/2, strings.Contains(name, "after")
	if after {
		return strings.Join(lines[half:], "\n")
	}
	return strings.Join(lines[:half], "\n")
}

// merge is the answer that most have, the checker with them; of a puzzle the first that
// is approved.
func (c checker) merge(texts []string) string {
	own := solution{steps: c.steps, value: c.value, plain: c.plain, none: c.none}.reasoned("Answer:")
	texts = append(texts, own)
	if _, ok := arithmetic.FindPuzzle(c.p.text); ok {
		return texts[c.vote(texts)-1]
	}
	count, best := map[string]int{}, own
	for _, text := range texts {
		if said := claimed(text); said != "" {
			if count[said]++; count[said] > count[claimed(best)] {
				best = text
			}
		}
	}
	return best
}

var (
	// numberLine opens one of several texts of a section.
	numberLine = regexp.MustCompile(`(?m)^\[\d+\]\n`)
	// lastAnswer is what a solution concludes in a line.
	lastAnswer = regexp.MustCompile(`(?s).*(?:^|\n)Answer: (.*)`)
)

// listed are the texts of a section.
func listed(shown string) (texts []string) {
	for _, text := range numberLine.Split(shown, -1) {
		if text = strings.TrimSpace(text); text != "" {
			texts = append(texts, text)
		}
	}
	return texts
}

// claimed is the answer that a solution concludes; empty if it has none.
func claimed(text string) string {
	if m := lastAnswer.FindStringSubmatch(text); m != nil {
		return strings.TrimSpace(m[1])
	}
	var body struct{ Answer json.RawMessage }
	if json.Unmarshal([]byte(text), &body) != nil {
		return ""
	}
	if quoted := ""; json.Unmarshal(body.Answer, &quoted) == nil {
		return quoted
	}
	return strings.TrimSpace(string(body.Answer))
}
