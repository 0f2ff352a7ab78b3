package sim

import (
	"cmp"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"noema/kernel/model/provider"
)

// solution is the answer to a question, with the reasoning that led to it.
type solution struct {
	steps string // of the reasoning, each on a line of its own
	value string // the answer as JSON
	plain string // the answer as text; empty if that is the same
	none  string // what is said instead of an answer that the reading does not have
	tight bool   // no space after the key of an object: stored runs have it so
}

// solve answers the question of a prompt from what the prompt shows.
func (p prompt) solve(n noise) (solution, bool) {
	if len(p.request.Tools) > 0 {
		if w, ok := workOn(p, n); ok && w.next == nil {
			return w.solution, w.none != provider.NotUnderstood
		}
	}
	for _, read := range []func(prompt, noise) (solution, bool){solveStory, solvePuzzle, solvePolicy, solveArticles, solveRanking} {
		if s, ok := read(p, n); ok {
			return s, true
		}
	}
	return solution{}, false
}

// reply is the answer to the prompt's question in the wanted form: an object of
// the request's schema, or else what the last line that asks for a form wants,
// such as {"answer": 5} or "Answer: 5", or else the value alone.
func (p prompt) reply(n noise) (string, bool) {
	s, ok := p.solve(n)
	if !ok {
		return "", false
	}
	if p.request.Schema != nil {
		if text, ok := s.shaped(p.request.Schema.JSON); ok {
			return text, true
		}
	}
	lines := strings.Split(withoutData(p.frame), "\n")
	for _, line := range slices.Backward(lines) {
		switch named, keyed := answerLabel.FindStringSubmatch(line), firstKey.FindStringSubmatch(line); {
		case strings.Contains(line, `"answer":`):
			return s.object("answer"), true
		case named != nil:
			return s.reasoned(named[1]), true
		case keyed != nil:
			return s.object(keyed[1]), true
		}
	}
	if s.none != "" {
		return s.none, true
	}
	return s.text(), true
}

// longForm is longer than any form of a reply that a prompt shows: JSON of that
// size is data.
const longForm = 200

// withoutData is text without the JSON data in it.
func withoutData(text string) string {
	var b strings.Builder
	for {
		at := strings.IndexAny(text, "{[")
		if at < 0 {
			return b.String() + text
		}
		d := json.NewDecoder(strings.NewReader(text[at:]))
		var data json.RawMessage
		end := at + 1
		if d.Decode(&data) == nil && len(data) > longForm {
			b.WriteString(text[:at])
			end = at + len(data)
		} else {
			b.WriteString(text[:end])
		}
		text = text[end:]
	}
}

// answerLabel begins a line such as "Answer: NUMBER", or stands in quotes in one, and
// shows how the last line of a reasoned reply should look; firstKey is the first key
// of a JSON object.
var (
	answerLabel = regexp.MustCompile(`(?:^\W*|["'])((?:[Tt]he )?(?:[Ff]inal )?(?:[Aa]nswer|ANSWER|[Rr]esult)(?: is)?:)`)
	firstKey    = regexp.MustCompile(`\{\s*"(\w+)"\s*:`)
)

func (s solution) text() string {
	if s.plain != "" {
		return s.plain
	}
	return s.value
}

func (s solution) reasoned(label string) string {
	if s.none != "" {
		return s.steps + s.none
	}
	return s.steps + label + " " + s.text()
}

func (s solution) object(key string) string {
	if s.none != "" {
		return s.none
	}
	if s.tight {
		return "{" + plainJSON(key) + ":" + s.value + "}"
	}
	return "{" + plainJSON(key) + ": " + s.value + "}"
}

// schema is the part of a JSON Schema that decides how a reply looks.
type schema struct {
	Type       any
	Properties map[string]schema
	Required   []string
	Enum       []string
	AnyOf      []schema
}

// is reports whether values of the schema may be of a type.
func (s schema) is(kind string) bool {
	if len(s.AnyOf) > 0 {
		return slices.ContainsFunc(s.AnyOf, func(one schema) bool { return one.is(kind) })
	}
	list, _ := s.Type.([]any)
	return s.Type == nil || s.Type == kind || kind == "number" && s.Type == "integer" || slices.Contains(list, any(kind))
}

// asks reports whether an object of the schema has the property "answer".
func (s schema) asks() bool {
	_, ok := s.Properties["answer"]
	return ok || slices.ContainsFunc(s.AnyOf, schema.asks)
}

// hold is a value of a type in a form of the schema: as it is, or as the property
// "answer" of an object. An object holds another only if it has its properties.
func (s schema) hold(value, kind string) (string, bool) {
	for _, one := range s.AnyOf {
		if text, ok := one.hold(value, kind); ok {
			return text, true
		}
	}
	if inner, ok := s.Properties["answer"]; ok {
		text, ok := inner.hold(value, kind)
		return `{"answer": ` + text + "}", ok
	}
	var fields map[string]any
	if kind == "object" && len(s.Properties) > 0 && json.Unmarshal([]byte(value), &fields) == nil {
		for name := range fields {
			if _, known := s.Properties[name]; !known {
				return "", false
			}
		}
	}
	return value, len(s.AnyOf) == 0 && s.is(kind)
}

// shaped is the solution as a value of a schema: the answer stands in the
// property "answer", or in the first that can hold it; texts have the reasoning.
func (s solution) shaped(raw json.RawMessage) (string, bool) {
	var root schema
	if json.Unmarshal(raw, &root) != nil {
		return "", false
	}
	if s.none != "" {
		return s.none, true
	}
	kind := cmp.Or(map[byte]string{'"': "string", '[': "array", '{': "object"}[s.value[0]], "number")
	names := root.Required
	if len(names) == 0 {
		names = slices.Sorted(maps.Keys(root.Properties))
	}
	if _, ok := root.Properties["answer"]; ok && !slices.Contains(names, "answer") {
		names = append(slices.Clone(names), "answer")
	}
	at := slices.IndexFunc(names, func(name string) bool { _, ok := root.Properties[name].hold(s.value, kind); return ok })
	if i := slices.IndexFunc(names, func(name string) bool { return name == "answer" || root.Properties[name].asks() }); i >= 0 {
		at = i
	}
	if at < 0 {
		return s.value, len(names) == 0 || kind == "object" // whose properties are the fields themselves
	}
	if len(names) == 1 && len(root.Properties[names[at]].AnyOf) == 0 {
		return s.object(names[at]), true
	}
	parts := make([]string, len(names))
	for i, name := range names {
		value, ok := root.Properties[name].hold(s.value, kind)
		if !ok {
			value = s.value
		}
		if i != at {
			value = root.Properties[name].filler(strings.TrimSpace(s.steps))
		}
		parts[i] = plainJSON(name) + ": " + value
	}
	return "{" + strings.Join(parts, ", ") + "}", true
}

// filler is a value of a property beside the answer.
func (s schema) filler(text string) string {
	if len(s.Enum) > 0 {
		return plainJSON(s.Enum[0])
	}
	for _, value := range [][2]string{{"string", plainJSON(text)}, {"number", "1"}, {"boolean", "true"}, {"array", "[]"}, {"object", "{}"}} {
		if s.is(value[0]) {
			return value[1]
		}
	}
	return "null"
}
