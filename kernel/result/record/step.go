package record

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"noema/kernel/base/display"
	"noema/methods"
)

// Step says what a call of a trial is about, as its method's graph or prompt tells.
type Step struct {
	Name string // one line, such as "attributes.Ambience.romantic = True"
	// Key is equal for steps of different methods that check the same condition or answer
	// the same sub-question, however the methods number and spell it. It is what the
	// condition names, without order: words, numbers, and comparisons other than equality.
	Key string
}

// Steps are the steps that a trial's graphs name, by call path. They are derived from what
// is recorded and are part of no hash, so records of before have them, too. A path that
// several nodes share, such as that of an item, has none.
func (t *Trial) Steps() map[string]Step {
	steps, times := map[string]Step{}, map[string]int{}
	if t.Transcript == nil {
		return steps
	}
	for _, e := range t.Events {
		var g methods.Graph
		if e.Kind != methods.GraphDrawn || json.Unmarshal(e.Data, &g) != nil {
			continue
		}
		for _, n := range g.Nodes {
			if times[n.Path]++; n.Path != "" {
				steps[n.Path] = StepOf(n)
			}
		}
	}
	for path, n := range times {
		if n > 1 {
			delete(steps, path)
		}
	}
	return steps
}

// StepOf is the step of a node.
func StepOf(n methods.Node) Step {
	about := display.About(n)
	return Step{Name: about, Key: stepKey(about)}
}

var stepWords = regexp.MustCompile(`[\pL\pN]+|[<>!]=?`)

// syntax are words of the languages in which methods write conditions: they say how a
// value is fetched, and not which.
var syntax = []string{"item", "get", "or", "op", "path", "value", "filter", "items", "bool"}

func stepKey(name string) string {
	words := stepWords.FindAllString(strings.ToLower(name), -1)
	words = slices.DeleteFunc(words, func(w string) bool { return slices.Contains(syntax, w) })
	slices.Sort(words)
	return strings.Join(slices.Compact(words), " ")
}
