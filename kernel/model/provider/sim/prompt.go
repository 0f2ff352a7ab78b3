package sim

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"noema/methods"
)

// prompt is a request as the model reads it.
type prompt struct {
	text    string            // of the user message that asks
	frame   string            // text without what stands between tags: the method's own words
	after   []methods.Message // what was said after that message
	request methods.Request
}

// newPrompts are the request as each of its user messages asks it, the last first:
// those before the one that asks are examples, those behind it are what it led to.
func newPrompts(r methods.Request) []prompt {
	var all []prompt
	for i, m := range slices.Backward(r.Messages) {
		if m.Role == methods.User {
			all = append(all, prompt{text: m.Content, frame: frame(m.Content), after: r.Messages[i+1:], request: r})
		}
	}
	return all
}

var opening = regexp.MustCompile(`<([a-z_]+)>\n`)

// frame is text without its sections.
func frame(text string) string {
	var b strings.Builder
	for {
		at := opening.FindStringSubmatchIndex(text)
		if at == nil {
			return b.String() + text
		}
		_, rest, ok := section(text[at[0]:], text[at[2]:at[3]])
		if !ok {
			rest = text[at[1]:]
		}
		b.WriteString(text[:at[0]])
		text = rest
	}
}

// has reports whether the prompt has a section.
func (p prompt) has(tag string) bool { return strings.Contains(p.text, "<"+tag+">\n") }

// wants reports whether the method's own words hold a mark of the wanted reply.
func (p prompt) wants(mark string) bool { return strings.Contains(p.frame, mark) }

// question is the section with the question, if the prompt marks it.
func (p prompt) question() (text string, marked bool) {
	for _, tag := range []string{"request", "question", "query"} {
		if text, _, ok := section(p.text, tag); ok {
			return text, true
		}
	}
	return p.text, false
}

// asked is the prompt's question: as it is marked, or what find finds in the text.
func (p prompt) asked(find func(text string) string) string {
	text, marked := p.question()
	if !marked {
		text = find(text)
	}
	return strings.TrimSpace(text)
}

// data finds the JSON value of a name in the prompt's data: a line "name: …" or
// a field of an object.
func (p prompt) data(name string) (string, bool) {
	text := p.text
	if data, _, ok := section(text, "data"); ok {
		text = data
	}
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, name+": "); ok {
			return value, true
		}
	}
	_, value, ok := strings.Cut(text, `"`+name+`":`)
	return value, ok
}

// read decodes the JSON value at the beginning of the data of a name.
func (p prompt) read(name string, into any) bool {
	value, ok := p.data(name)
	return ok && json.NewDecoder(strings.NewReader(value)).Decode(into) == nil
}

// tools are the names of the tools on offer: those of the request, and those that
// the prompt lists, a JSON object a line.
func (p prompt) tools() []string {
	var names []string
	for _, t := range p.request.Tools {
		names = append(names, t.Name)
	}
	list, _, _ := section(p.text, "tools")
	for line := range strings.Lines(list) {
		var tool struct {
			Name string `json:"name"`
		}
		if json.Unmarshal([]byte(line), &tool) == nil {
			names = append(names, tool.Name)
		}
	}
	return names
}

// reasked is how often the prompt was asked again since a reply could not be used.
// What tools said does not count.
func (p prompt) reasked() (n int) {
	for _, m := range p.after {
		if m.Role == methods.User && !strings.HasPrefix(m.Content, "Observation: ") {
			n++
		}
	}
	return n
}

// results are what tools said so far, in the conversation.
func (p prompt) results() []string {
	var results []string
	for _, m := range p.after {
		seen, told := strings.CutPrefix(m.Content, "Observation: ")
		if m.Role == methods.Tool || told && m.Role == methods.User {
			results = append(results, seen)
		}
	}
	return results
}

// section is the text between a pair of tags that stand on lines of their
// own, and what follows it.
func section(text, tag string) (inside, rest string, ok bool) {
	_, after, ok := strings.Cut(text, "<"+tag+">\n")
	if !ok {
		return "", text, false
	}
	if rest, empty := strings.CutPrefix(after, "</"+tag+">"); empty {
		return "", rest, true
	}
	return strings.Cut(after, "\n</"+tag+">")
}

// numbered splits a line such as "12: value".
func numbered(line string) (number int, value string, ok bool) {
	head, value, ok := strings.Cut(line, ":")
	if !ok {
		return 0, "", false
	}
	number, err := strconv.Atoi(strings.TrimSpace(head))
	return number, strings.TrimSpace(value), err == nil && number > 0
}

// between is the first integer that stands between two texts.
func between(text, before, after string) (int, bool) {
	_, rest, ok := strings.Cut(text, before)
	if !ok {
		return 0, false
	}
	digits, _, ok := strings.Cut(rest, after)
	n, err := strconv.Atoi(strings.TrimSpace(digits))
	return n, ok && err == nil && n > 0
}

// listOf writes item numbers as JSON, as in "[1, 5, 10]".
func listOf(items []int) string {
	return strings.Join(strings.Fields(fmt.Sprint(items)), ", ")
}
