// Package lwt is the language in which ANoT writes down how a request is
// evaluated: LWT, a lightweight template. A program is a list of steps; each
// has a prompt with references to data and to other steps. Because the
// references say what a step needs, a program is also a graph, and its steps
// run as soon as what they need is there.
//
//	program   = { blank | comment | step } .
//	comment   = "#" { any character but newline } .
//	step      = "(" id ")" "=" "LLM" "(" string ")" .
//	id        = ( letter | "_" ) { letter | digit | "_" | "." } | digit { digit } .
//	string    = '"' { char | escape } '"' | "'" { char | escape } "'" .
//	escape    = "\" ( '"' | "'" | "\" | "n" | "t" ) .
//	letter    = "A" … "Z" | "a" … "z" .
//	digit     = "0" … "9" .
//
// A comment stands on a line of its own. Spaces and newlines may stand
// between any two tokens of a step, and a step is followed by the end of its
// line. A string may span lines; char is any character but the backslash and
// the quote that began the string. Two steps may not have the same id.
//
// In a prompt, after the escapes of the string are read:
//
//	reference = "{(" id ")}" { accessor } .
//	accessor  = "[" ( index | slice | bare | quoted ) "]" .
//	index     = digit { digit } .
//	slice     = [ index ] ":" [ index ] .
//	bare      = a key without "[", "]", quotes or newlines, trimmed of spaces .
//	quoted    = '"' … '"' | "'" … "'" with the escapes \" \' \\ .
//
// The names context, input and items stand for the problem's items, query for
// the request, any other key of the problem's context for its value, and the
// id of a step for its output. A reference is replaced in one pass: what is
// inserted is never read again, so data cannot refer to anything.
//
// Source: seed 000 §LWT Syntax. Differs: the original's regular expression
// dropped steps that span lines, ended a body at the first quote followed by
// ")", and let a later step shadow an earlier one of the same id.
package lwt

import (
	"fmt"
	"strings"
)

// Final is the id of the step whose output is the program's result.
const Final = "final"

// Program is a parsed LWT. Its steps have distinct ids.
type Program struct {
	Steps []Step
}

// Step is one step of a program.
type Step struct {
	ID     string
	Prompt string // with its references, and its escapes read
	Pos    Pos    // of the opening parenthesis
}

// Pos is a place in a source text. Line and Col count from 1, Col in
// characters; the zero Pos is unknown.
type Pos struct {
	Line, Col int
}

// String is line:col.
func (p Pos) String() string { return fmt.Sprintf("%d:%d", p.Line, p.Col) }

// Error is a fault in a program.
type Error struct {
	Pos  Pos
	Step string // id of the step that it is about; empty if none
	Msg  string
}

// Error implements error.
func (e *Error) Error() string {
	s := "lwt"
	if e.Pos != (Pos{}) {
		s += " " + e.Pos.String()
	}
	if e.Step != "" {
		s += ": step " + e.Step
	}
	return s + ": " + e.Msg
}

// String prints p, one step to a line. Parsing what it prints gives p again,
// positions aside.
func (p *Program) String() string {
	var b strings.Builder
	for _, s := range p.Steps {
		b.WriteString(s.String())
		b.WriteByte('\n')
	}
	return b.String()
}

// String prints s on one line, in double quotes.
func (s Step) String() string {
	return "(" + s.ID + ")=LLM(" + Quote(s.Prompt) + ")"
}

// Text prints p with the line breaks of its prompts, for people to edit. Parsing it
// gives p again, positions aside.
func (p *Program) Text() string {
	var b strings.Builder
	for _, s := range p.Steps {
		b.WriteString("(" + s.ID + ")=LLM(\"" + openQuoter.Replace(s.Prompt) + "\")\n")
	}
	return b.String()
}

var openQuoter = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\t", `\t`)

var quoter = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`)

// Quote writes s as a string of the language, in double quotes.
func Quote(s string) string { return `"` + quoter.Replace(s) + `"` }

// Ref writes a reference to the value under name that the keys lead to. A key
// that could be misread is quoted.
func Ref(name string, keys ...string) string {
	var b strings.Builder
	b.WriteString("{(" + name + ")}")
	for _, k := range keys {
		if !plainKey(k) {
			k = `"` + keyQuoter.Replace(k) + `"`
		}
		b.WriteString("[" + k + "]")
	}
	return b.String()
}

var keyQuoter = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// plainKey reports whether k can stand in brackets as it is.
func plainKey(k string) bool {
	if k == "" || k != strings.TrimSpace(k) || strings.ContainsRune(k, ':') {
		return false
	}
	return !strings.ContainsAny(k, "[]\"'\n\r")
}

// IsID reports whether s can name a step or a variable.
func IsID(s string) bool {
	if s == "" {
		return false
	}
	for i := range len(s) {
		if i == 0 && !isLetter(s[0]) && !isDigit(s[0]) {
			return false
		}
		if isDigit(s[0]) && !isDigit(s[i]) || !isIDByte(s[i]) {
			return false
		}
	}
	return true
}

func isIDByte(c byte) bool { return isLetter(c) || isDigit(c) || c == '.' }
func isLetter(c byte) bool { return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
