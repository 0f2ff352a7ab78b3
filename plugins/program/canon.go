package program

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
)

// canon takes out of requests what differs between equal executions of a program,
// and puts it back into replies, so that one execution's reply means the same in
// another. It knows what is one and the same in all of them: the problem's own ids,
// and those that the endpoint issued.
type canon struct {
	folders [][2]string      // actual name and the one that stands for it, the longest first
	noise   []*regexp.Regexp // declared by the manifest
	problem string           // ids that stand in here are kept
	issued  func(id string) bool
}

// drawn are ids that clients and agents draw: those of the protocols, and UUIDs.
// Frameworks write them into the text of prompts, too.
var drawn = regexp.MustCompile(`\b(?:(?:call|toolu|tooluse|fc|fco|msg|resp|rs|run|lc_run|item|thread|chatcmpl)[_-]+(?:` + uuid + `|[0-9A-Za-z]{8,}(?:_\d+)?)|` + uuid + `)\b`)

const uuid = `[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}`

// uuidLength is that of a UUID as text.
const uuidLength = 36

// take returns body with tokens in the place of what differs, numbered by first
// appearance, and what puts it back.
func (c *canon) take(body []byte) (canonical []byte, back *strings.Replacer) {
	text := string(body)
	for _, f := range c.folders {
		text = strings.ReplaceAll(text, f[0], f[1])
	}
	t := tokens{of: map[string]string{}, body: text}
	text = drawn.ReplaceAllStringFunc(text, func(id string) string {
		if c.issued(id) || strings.Contains(c.problem, id) {
			return id
		}
		return t.token(id)
	})
	for i, pattern := range c.noise {
		text = pattern.ReplaceAllStringFunc(text, func(found string) string { return t.noise(i, found) })
	}
	for _, f := range c.folders {
		t.back = append(t.back, f[1], f[0])
	}
	return []byte(text), strings.NewReplacer(t.back...)
}

// tokens stand for what was found, one for each.
type tokens struct {
	of   map[string]string
	body string
	next int
	back []string // token and what it stands for, in turn
}

// token is what stands for an id: of the same form, and nowhere in the body.
func (t *tokens) token(id string) string {
	if known, ok := t.of[id]; ok {
		return known
	}
	for {
		t.next++
		made := fmt.Sprintf("00000000-0000-4000-8000-%012d", t.next)
		if len(id) != uuidLength || strings.Count(id, "-") != 4 {
			prefix := id[:strings.IndexAny(id, "_-")+1]
			made = fmt.Sprintf("%sn%d", prefix, t.next)
		}
		if !strings.Contains(t.body, made) {
			return t.keep(id, made)
		}
	}
}

// noise is what stands for a match of a pattern.
func (t *tokens) noise(pattern int, found string) string {
	if known, ok := t.of[found]; ok {
		return known
	}
	return t.keep(found, fmt.Sprintf("noise-%d", pattern+1))
}

func (t *tokens) keep(found, made string) string {
	t.of[found] = made
	t.back = append(t.back, made, found)
	return made
}

// restore puts back into a reply what was taken from its request.
func restore(back *strings.Replacer, reply []byte) []byte {
	if len(reply) == 0 {
		return reply
	}
	var out bytes.Buffer
	_, _ = back.WriteString(&out, string(reply)) // a buffer takes all
	return out.Bytes()
}
