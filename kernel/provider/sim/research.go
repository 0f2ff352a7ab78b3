package sim

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"noema/kernel/task/multihop"
)

// follow reads a chain of relations in a text for each subject, as far as the
// texts go. A misread step takes another name of the same text for where the
// relation leads.
func follow(q multihop.Question, textOf func(title string) string, n noise) (reached []string, complete bool) {
	at := q.Start
	for i, name := range q.Chain {
		r, ok := multihop.FindRelation(name)
		if !ok {
			return reached, false
		}
		if at = leads(r, textOf(at), at, n, i); at == "" {
			return reached, false
		}
		reached = append(reached, at)
	}
	return reached, true
}

// leads is where a text says that a relation leads, or what is taken for it.
func leads(r multihop.Relation, text, subject string, n noise, at int) string {
	object := r.Read(text, subject)
	if object != "" && n.errs(read, at) {
		return cmp.Or(otherName(text, subject, object, n, at), object)
	}
	return object
}

var properName = regexp.MustCompile(`[A-Z][a-z]+(?: [A-Z][a-z]+)*`)

// otherName is a name in a text that is neither the subject nor the object.
func otherName(text, subject, object string, n noise, at int) string {
	var names []string
	for _, name := range properName.FindAllString(text, -1) {
		if name != subject && name != object && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return names[n.below(len(names), read, at)]
}

// solveArticles answers a question from the full articles that a prompt shows.
func solveArticles(p prompt, n noise) (solution, bool) {
	q, err := multihop.ReadQuestion(p.asked(multihop.FindQuestion))
	var articles []struct{ Title, Text string }
	_, shown := p.data("articles")
	if err != nil || !shown && !p.has("data") || shown && !p.read("articles", &articles) {
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
