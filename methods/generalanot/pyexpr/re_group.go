package pyexpr

import (
	"slices"
	"strings"
)

// group reads what follows an opening parenthesis.
func (p *reParser) group() *reNode {
	flags := p.flags
	defer func() { p.flags = flags }()
	n := &reNode{op: reGroup}
	switch {
	case !p.have("?"):
		p.capture(n, "")
	case p.accept("?P<"):
		p.capture(n, p.groupName(">"))
	case p.accept("?P="):
		return p.named(p.groupName(")"))
	case p.accept("?:"):
		n.op = reSeq
	case p.accept("?="):
		n.op = reAhead
	case p.accept("?!"):
		n.op = reNotAhead
	case p.accept("?<="):
		n.op = reBehind
	case p.accept("?<!"):
		n.op = reNotBehind
	case p.accept("?#"):
		if _, rest, ok := strings.Cut(p.src[p.pos:], ")"); ok {
			p.pos = len(p.src) - len(rest)
			return nil
		}
		p.fail("missing ), unterminated comment")
	case p.have("?>"):
		p.lacks("an atomic group (?>…)", "use (?:…)")
	case p.have("?("):
		p.lacks("a conditional group (?(1)…)", "use two patterns")
	default:
		p.scoped()
		n.op = reSeq
	}
	p.body(n)
	return n
}

// body reads the rest of a group.
func (p *reParser) body(n *reNode) {
	behind := p.behind
	if isBehind := n.op == reBehind || n.op == reNotBehind; isBehind && behind == 0 {
		p.behind = p.groups
	}
	body := p.alternatives()
	if p.behind = behind; !p.accept(")") {
		p.fail("missing ), unterminated subpattern")
	}
	low, high := body.width()
	switch n.op {
	case reGroup:
		p.open = p.open[:len(p.open)-1]
		p.widths[n.group] = [2]int{low, high}
	case reBehind, reNotBehind:
		if n.min = low; low != high {
			p.fail("look-behind requires fixed-width pattern")
		}
	}
	n.subs = []*reNode{body}
}

func (p *reParser) capture(n *reNode, name string) {
	if name != "" {
		if _, twice := p.names[name]; twice {
			p.fail("redefinition of group name %q", name)
		}
		p.names[name] = p.groups
	}
	n.group = p.groups
	p.open = append(p.open, p.groups)
	p.groups++
}

func (p *reParser) groupName(end string) string {
	name, rest, ok := strings.Cut(p.src[p.pos:], end)
	if !ok || !isIdentifier(name) {
		p.fail("bad or unterminated group name")
	}
	p.pos = len(p.src) - len(rest)
	return name
}

// scoped reads the flags of (?i:…).
func (p *reParser) scoped() {
	p.accept("?")
	if c := p.rune(); !strings.ContainsRune("aiLmsux-", c) {
		p.fail("unknown extension ?%c", c)
	}
	p.pos--
	set, clear := p.flags, reFlags{}
	to := &set
	for !p.accept(":") {
		c := p.rune()
		switch {
		case c == '-' && to == &set:
			to = &clear
		case c == ')':
			p.fail("global flags not at the start of the expression")
		case strings.ContainsRune("imsaLux", c):
			p.flag(to, c)
		default:
			p.fail("unknown flag")
		}
	}
	set.fold, set.multi, set.dotAll = set.fold && !clear.fold, set.multi && !clear.multi, set.dotAll && !clear.dotAll
	p.flags = set
}

func (p *reParser) named(name string) *reNode {
	n, ok := p.names[name]
	if !ok {
		p.fail("unknown group name %q", name)
	}
	return p.backref(n)
}

func (p *reParser) backref(n int) *reNode {
	if n >= p.groups {
		p.fail("invalid group reference %d", n)
	}
	if slices.Contains(p.open, n) {
		p.fail("cannot refer to an open group")
	}
	if p.behind > 0 && n >= p.behind {
		p.fail("cannot refer to group defined in the same lookbehind subpattern")
	}
	width := p.widths[n]
	return &reNode{op: reBackref, group: n, min: width[0], max: width[1], flags: p.flags}
}
