package anot

import (
	"fmt"
	"strconv"
	"strings"
)

// call is a tool call in a reply of phase 2.
type call struct {
	name string
	args []any // int and string
	err  error // why it cannot be read, in words for the model
}

// toolNames are the tools of phase 2, in the order of the prompt.
func toolNames() []string {
	return []string{"lwt_insert", "lwt_set", "lwt_delete", "lwt_list", "read", "done"}
}

// parseCalls finds the calls in text, in their order. A call begins a line,
// after nothing but marks such as "-", "1." or "Action:", so that a call that
// prose mentions is not run; its arguments may span lines.
func parseCalls(text string) []call {
	var calls []call
	for pos := 0; pos < len(text); {
		name, start := callAt(text, pos)
		if name == "" {
			pos = lineEnd(text, pos)
			continue
		}
		for name != "" { // several calls may share a line
			c, end := parseCall(name, text, start)
			calls = append(calls, c)
			if pos = end; c.err != nil {
				break
			}
			name, start = callAt(text, end)
		}
		pos = lineEnd(text, pos)
	}
	return calls
}

func lineEnd(text string, pos int) int {
	if i := strings.IndexByte(text[pos:], '\n'); i >= 0 {
		return pos + i + 1
	}
	return len(text)
}

// decoration is what may stand before a call on its line.
const decoration = " \t-*>`.;:)0123456789"

// callAt returns the tool whose call begins at pos and where its arguments
// begin.
func callAt(text string, pos int) (string, int) {
	for {
		for pos < len(text) && strings.IndexByte(decoration, text[pos]) >= 0 {
			pos++
		}
		rest := text[pos:]
		if word := labelled(rest); word > 0 {
			pos += word
			continue
		}
		for _, name := range toolNames() {
			if after, ok := strings.CutPrefix(rest, name); ok {
				if trimmed := strings.TrimLeft(after, " \t"); strings.HasPrefix(trimmed, "(") {
					return name, len(text) - len(trimmed) + 1
				}
			}
		}
		return "", 0
	}
}

// labelled is the length of a label such as "Action:" at the start of s.
func labelled(s string) int {
	for _, label := range []string{"Action:", "Call:", "Tool:"} {
		if strings.HasPrefix(s, label) {
			return len(label)
		}
	}
	return 0
}

// parseCall reads the arguments from pos on and returns where the call ends.
// After a fault that is where the fault is.
func parseCall(name, text string, pos int) (call, int) {
	c := call{name: name}
	for {
		pos = skipSpace(text, pos)
		if pos < len(text) && text[pos] == ')' && len(c.args) == 0 {
			return c, pos + 1
		}
		arg, end, err := parseArg(text, pos)
		if err != nil {
			c.err = err
			return c, end
		}
		c.args = append(c.args, arg)
		switch pos = skipSpace(text, end); {
		case pos < len(text) && text[pos] == ',':
			pos++
		case pos < len(text) && text[pos] == ')':
			return c, pos + 1
		default:
			c.err = fmt.Errorf("want \",\" or \")\" after argument %d; a quote inside the string needs a backslash", len(c.args))
			return c, pos
		}
	}
}

func skipSpace(text string, pos int) int {
	for pos < len(text) && strings.IndexByte(" \t\r\n", text[pos]) >= 0 {
		pos++
	}
	return pos
}

// parseArg reads a whole number or a string in quotes.
func parseArg(text string, pos int) (any, int, error) {
	if pos == len(text) {
		return nil, pos, fmt.Errorf("the call has no end")
	}
	if text[pos] == '"' || text[pos] == '\'' {
		return parseString(text, pos)
	}
	end := pos
	for end < len(text) && strings.IndexByte("-0123456789", text[end]) >= 0 {
		end++
	}
	n, err := strconv.Atoi(text[pos:end])
	if err != nil {
		return nil, pos, fmt.Errorf("want a number or a string in quotes as argument")
	}
	return n, end, nil
}

// parseString reads a string. Escapes other than \" \' \\ \n and \t stay as
// they are, for the step inside to complain about.
func parseString(text string, pos int) (any, int, error) {
	start, quote := pos, text[pos]
	var b strings.Builder
	for pos++; pos < len(text); pos++ {
		c := text[pos]
		if c == quote {
			return b.String(), pos + 1, nil
		}
		if c == '\\' && pos+1 < len(text) {
			if i := strings.IndexByte(`"'\nt`, text[pos+1]); i >= 0 {
				c = "\"'\\\n\t"[i]
				pos++
			}
		}
		b.WriteByte(c)
	}
	return nil, start, fmt.Errorf("a string has no closing %c", quote)
}
