package cafes

import (
	"errors"
	"fmt"
	"strings"
)

// ErrNothing says that a text holds no phrase that the lexicon knows.
var ErrNothing = errors.New("no known phrase in it")

// ErrNesting says that a text nests deeper than any request does.
var ErrNesting = errors.New("nested too deeply")

const maxNesting = 100

// ParseRequest reads a request and returns what it asks for in normal form (see
// [Node.Normal]). For every text that Render made, that is equivalent to the
// rendered tree. Of other texts it takes the phrases that it recognises and
// skips the rest; if there are none, the error wraps [ErrNothing].
//
// Commas, "and", "but" and full stops join; "either … or …" and a plain "or"
// between two phrases choose; "both … and …" and "all of …, … and …" group;
// "neither … nor …" and words such as "not", "no" or "without" deny what
// follows. Parentheses group anything.
func ParseRequest(text string) (Node, error) {
	p := parser{in: lex(text)}
	args := p.sequence()
	for p.accept(")") { // one that nothing opened
		args = append(args, p.sequence()...)
	}
	if p.tooDeep {
		return Node{}, fmt.Errorf("parse request: %w", ErrNesting)
	}
	if len(args) == 0 {
		return Node{}, fmt.Errorf("parse request %.80q: %w", text, ErrNothing)
	}
	return AllOf(args...).Normal(), nil
}

// FindRequest is the last request in a longer text, such as a prompt, from its opener to
// the end of its line; "" if there is none.
func FindRequest(text string) string {
	at := -1
	for _, opener := range lexicon().Openers {
		at = max(at, strings.LastIndex(text, opener+" "))
	}
	if at < 0 {
		return ""
	}
	line, _, _ := strings.Cut(text[at:], "\n")
	line, _, _ = strings.Cut(line, "</")
	return strings.TrimRight(line, ` "”`)
}

// lexeme is a phrase's condition or a connecting word.
type lexeme struct {
	word string // "" for a condition
	node Node
}

// lex turns a text into conditions and connecting words, dropping the rest.
func lex(text string) []lexeme {
	tokens := tokenize(text)
	var out []lexeme
	for i := 0; i < len(tokens); {
		if node, n := match(tokens[i:]); n > 0 {
			out = append(out, lexeme{node: node})
			i += n
			continue
		}
		word, n := connector(tokens[i:])
		if word != "" {
			out = append(out, lexeme{word: word})
		}
		i += n
	}
	return out
}

// connector reads a connecting word and how many tokens it has.
func connector(tokens []token) (string, int) {
	if tokens[0].quoted {
		return "", 1
	}
	next := ""
	if len(tokens) > 1 {
		next = tokens[1].text
	}
	switch t := tokens[0].text; t {
	case "either", "or", "and", "both", "neither", "nor", "(", ")":
		return t, 1
	case "&":
		return "and", 1
	case ",", ".", ";", ":", "!", "?", "but":
		return ",", 1
	case "not", "no", "without", "isn't", "doesn't", "don't", "aren't", "never", "lacks":
		return "not", 1
	case "all":
		if next == "of" {
			return "all", 2
		}
	case "together":
		if next == "with" {
			return "with", 2
		}
	}
	return "", 1
}

// parser is a recursive descent over lexemes. It never fails: what does not
// fit is skipped.
type parser struct {
	in      []lexeme
	depth   int
	tooDeep bool
}

func (p *parser) peek() string {
	if len(p.in) == 0 {
		return "end"
	}
	return p.in[0].word
}

func (p *parser) accept(word string) bool {
	if p.peek() != word {
		return false
	}
	p.in = p.in[1:]
	return true
}

// sequence reads joined units up to the end or a closing parenthesis.
func (p *parser) sequence() []Node {
	var args []Node
	for {
		switch p.peek() {
		case "end", ")":
			return args
		case ",", "and", "nor", "with":
			p.in = p.in[1:]
		case "or":
			p.in = p.in[1:]
			if u, ok := p.unit(false); ok && len(args) > 0 {
				last := &args[len(args)-1]
				*last = AnyOf(*last, u)
			} else if ok {
				args = append(args, u)
			}
		default:
			if u, ok := p.unit(false); ok {
				args = append(args, u)
			} else if p.tooDeep {
				return nil
			}
		}
	}
}

// unit reads one condition or group, and what "together with" ties to it. In
// a list of alternatives, "or" belongs to the list.
func (p *parser) unit(inList bool) (Node, bool) {
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > maxNesting {
		p.tooDeep, p.in = true, nil
		return Node{}, false
	}
	n, ok := p.single(inList)
	for ok && p.accept("with") {
		m, more := p.unit(inList)
		if !more {
			break
		}
		n = AllOf(n, m)
	}
	return n, ok
}

func (p *parser) single(inList bool) (Node, bool) {
	switch {
	case p.accept("either"):
		return p.list(AnyOf, "or")
	case p.accept("all"):
		return p.list(AllOf, "and")
	case p.accept("both"):
		return p.pair()
	case p.accept("neither"):
		return p.neither()
	case p.accept("not"):
		return p.denied(inList)
	case p.accept("("):
		args := p.sequence()
		p.accept(")")
		return AllOf(args...), len(args) > 0
	case p.peek() == "":
		n := p.in[0].node
		p.in = p.in[1:]
		return n, true
	}
	if p.peek() == "," { // nothing can follow that this word would need
		return Node{}, false
	}
	if len(p.in) > 0 && p.peek() != ")" {
		p.in = p.in[1:]
	}
	return Node{}, false
}

// list reads "A, B or C" after its opening word; without the last word it is
// not a list, but a sequence that the opening word misled about.
func (p *parser) list(join func(...Node) Node, last string) (Node, bool) {
	var args []Node
	closed := false
	for {
		before := p.in
		for p.accept(",") {
		}
		if p.accept(last) {
			closed = true
		} else if len(args) > 0 && (closed || len(before) == len(p.in)) {
			p.in = before
			break
		}
		if p.peek() == "end" || p.peek() == ")" {
			p.in = before
			break
		}
		n, ok := p.unit(true)
		if !ok {
			p.in = before
			break
		}
		args = append(args, n)
		if closed && last == "and" {
			break // "all of A, B and C" ends here: the next "and" is not its own
		}
	}
	if !closed {
		join = AllOf
	}
	return join(args...), len(args) > 0
}

// pair reads "A and B" after "both".
func (p *parser) pair() (Node, bool) {
	a, ok := p.unit(true)
	if !ok {
		return a, false
	}
	before := p.in
	p.accept(",")
	if !p.accept("and") {
		p.in = before
		return a, true
	}
	b, ok := p.unit(true)
	if !ok {
		return a, true
	}
	return AllOf(a, b), true
}

// neither reads "A nor B" after "neither".
func (p *parser) neither() (Node, bool) {
	a, ok := p.unit(true)
	if !ok {
		return a, false
	}
	args := []Node{No(a)}
	for p.accept("nor") {
		if b, ok := p.unit(true); ok {
			args = append(args, No(b))
		}
	}
	return AllOf(args...), true
}

// denied reads what a denying word denies. Outside a list of alternatives it
// is all of "A or B", as in "without A or B".
func (p *parser) denied(inList bool) (Node, bool) {
	a, ok := p.unit(true)
	if !ok {
		return a, false
	}
	args := []Node{a}
	for !inList && p.accept("or") {
		if b, ok := p.unit(true); ok {
			args = append(args, b)
		}
	}
	return No(AnyOf(args...)), true
}
