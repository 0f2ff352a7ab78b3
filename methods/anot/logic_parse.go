package anot

import (
	"fmt"
	"strconv"
	"strings"
)

// maxLogicDepth bounds the nesting of a logic.
const maxLogicDepth = 50

// ParseLogic reads AND(...), OR(...) and NOT(...) over condition numbers.
func ParseLogic(text string) (*Logic, error) {
	p := &logicParser{rest: text}
	l, err := p.node(0)
	if err != nil {
		return nil, fmt.Errorf("LOGIC: %w", err)
	}
	if p.space(); p.rest != "" {
		return nil, fmt.Errorf("LOGIC: %.40q stands after the end; write it as AND(1, OR(2, 3))", p.rest)
	}
	return l, nil
}

type logicParser struct {
	rest string
}

func (p *logicParser) space() { p.rest = strings.TrimLeft(p.rest, " \t") }

// take consumes token and reports whether it was there.
func (p *logicParser) take(token string) bool {
	p.space()
	rest, ok := strings.CutPrefix(p.rest, token)
	p.rest = rest
	return ok
}

func (p *logicParser) node(depth int) (*Logic, error) {
	if depth > maxLogicDepth {
		return nil, fmt.Errorf("nested deeper than %d", maxLogicDepth)
	}
	p.space()
	n := strings.IndexFunc(p.rest, func(r rune) bool { return strings.ContainsRune(" \t(),", r) })
	if n < 0 {
		n = len(p.rest)
	}
	word := p.rest[:n]
	p.rest = p.rest[n:]
	switch op := LogicOp(strings.ToUpper(word)); op {
	case And, Or, Not:
		return p.operator(op, depth)
	}
	number, err := strconv.Atoi(word)
	if err != nil || number < 1 {
		return nil, fmt.Errorf("want AND, OR, NOT or a condition number, have %.40q", word+p.rest)
	}
	return &Logic{Condition: number}, nil
}

func (p *logicParser) operator(op LogicOp, depth int) (*Logic, error) {
	if !p.take("(") {
		return nil, fmt.Errorf("want \"(\" after %s", op)
	}
	l := &Logic{Op: op}
	for {
		arg, err := p.node(depth + 1)
		if err != nil {
			return nil, err
		}
		l.Args = append(l.Args, arg)
		if p.take(")") {
			break
		}
		if !p.take(",") {
			return nil, fmt.Errorf("want \",\" or \")\" in %s, have %.40q", op, p.rest)
		}
	}
	if op == Not && len(l.Args) != 1 {
		return nil, fmt.Errorf("NOT takes one argument, have %d", len(l.Args))
	}
	return l, nil
}
