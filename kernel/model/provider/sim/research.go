package sim

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"noema/kernel/task/multihop"
)

// readHops reads a question over articles, with the errors of that: a hop that is
// misread is lost or takes another relation of the same kind of thing.
func readHops(query string, n noise) (multihop.Question, bool) {
	q, err := multihop.ReadQuestion(strings.TrimSpace(query))
	if err != nil {
		return q, false
	}
	read := multihop.Question{Start: q.Start}
	for i, name := range q.Chain {
		if n.errs(request, q.String(), i) {
			if len(q.Chain) > 1 && n.below(2, request, 0, q.String(), i) == 0 {
				continue
			}
			name = otherRelation(name)
		}
		read.Chain = append(read.Chain, name)
	}
	if len(read.Chain) == 0 {
		read.Chain = q.Chain[:1]
	}
	return read, true
}

// otherRelation is another relation of the same kind of thing, or the same if it is
// the only one.
func otherRelation(name string) string {
	r, _ := multihop.FindRelation(name) // the question was read by it
	for _, other := range multihop.Relations() {
		if other.Of == r.Of && other.Name != r.Name {
			return other.Name
		}
	}
	return name
}

// follow reads a chain of relations in a text for each subject, as far as the
// texts go.
func follow(q multihop.Question, textOf func(title string) string, n noise) (reached []string, complete bool) {
	at := q.Start
	for _, name := range q.Chain {
		if at = leads(name, textOf(at), at, n, 0); at == "" {
			return reached, false
		}
		reached = append(reached, at)
	}
	return reached, true
}

// leads is where a text says that a relation leads, or another name of the text that
// is taken for it, when the text is read for the first time or again.
func leads(relation, text, subject string, n noise, again int) string {
	r, _ := multihop.FindRelation(relation) // questions are read by their relations
	object := r.Read(text, subject)
	if object == "" || !n.errs(judge, relation, subject, again) {
		return object
	}
	var names []string
	for _, name := range properName.FindAllString(text, -1) {
		if name != subject && name != object && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return object
	}
	return names[n.below(len(names), judge, 0, relation, subject, again)]
}

// sectionOn is the section of a list that tells of a relation, or else the first that
// was not tried, "" without any.
func sectionOn(relation string, listed, tried []string) string {
	untried := slices.DeleteFunc(slices.Clone(listed), func(s string) bool { return slices.Contains(tried, s) })
	r, _ := multihop.FindRelation(relation)
	switch {
	case slices.Contains(untried, r.Section):
		return r.Section
	case len(untried) > 0:
		return untried[0]
	}
	return ""
}

var properName = regexp.MustCompile(`[A-Z][a-z]+(?: [A-Z][a-z]+)*`)

// solveArticles answers a question from the full articles that a prompt shows.
func solveArticles(p prompt, n noise) (solution, bool) {
	q, ok := readHops(p.asked(multihop.FindQuestion), n)
	var articles []struct{ Title, Text string }
	_, shown := p.data("articles")
	if !ok || !shown && !p.has("data") || shown && !p.read("articles", &articles) {
		return solution{}, false // cut short, perhaps
	}
	reached, complete := follow(q, func(title string) string {
		for _, a := range articles {
			if a.Title == title {
				return a.Text
			}
		}
		return ""
	}, n)
	if !complete {
		return solution{steps: "The articles do not say.\n", value: `"unknown"`, plain: "unknown"}, true
	}
	last := reached[len(reached)-1]
	return solution{steps: "I follow the articles: " + strings.Join(reached, ", then ") + ".\n", value: plainJSON(last), plain: last, tight: true}, true
}

var whichSection = regexp.MustCompile(`^Which section tells the (.+?) of (.+)\?$`)

// answerFrom answers AoT's question about one text: which section of an article's
// contents tells something, or where a relation leads.
func answerFrom(p prompt, n noise) (string, bool) {
	text, _, _ := section(p.text, "text")
	question, _ := p.question()
	answer := ""
	if m := whichSection.FindStringSubmatch(question); m != nil {
		var contents struct{ Sections []string }
		if _, known := multihop.FindRelation(m[1]); !known || json.Unmarshal([]byte(text), &contents) != nil {
			return "", false
		}
		answer = sectionOn(m[1], contents.Sections, nil)
	} else if q, err := multihop.ReadQuestion(question); err == nil && len(q.Chain) == 1 {
		answer = leads(q.Chain[0], strings.ReplaceAll(text, `\n`, "\n"), q.Start, n, 0)
	} else {
		return p.reply(n)
	}
	return plainJSON(map[string]string{"answer": cmp.Or(answer, "unknown")}), true
}
