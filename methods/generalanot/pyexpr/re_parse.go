package pyexpr

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Patterns of module re are ours, because no library keeps what a formula needs:
// package regexp has neither lookaround nor Unicode's \b and skips empty matches
// that findall keeps; regexp2 bounds a pattern that backtracks without end by the
// clock, so that another machine would compute another value.

type reFlags struct{ fold, multi, dotAll bool }

type regexKey struct {
	src   string
	flags reFlags
}

func (m *machine) regex(src string, flags reFlags) *regex {
	key := regexKey{src, flags}
	if x := m.regexes[key]; x != nil {
		return x
	}
	m.alloc(400 * len(src))
	m.step(len(src))
	p := &reParser{src: src, flags: flags, groups: 1, names: map[string]int{}, widths: map[int][2]int{}}
	p.leadingFlags()
	root := p.alternatives()
	if p.pos < len(p.src) {
		p.fail("unbalanced parenthesis")
	}
	x := &regex{code: root.build(accept), groups: p.groups, loops: p.loops, names: p.names}
	if root.low > 0 {
		x.first = root.first
	}
	if m.regexes == nil {
		m.regexes = map[regexKey]*regex{}
	}
	m.regexes[key] = x
	return x
}

type reParser struct {
	src    string
	pos    int
	flags  reFlags
	groups int
	loops  int
	names  map[string]int
	open   []int          // groups that are not closed yet
	widths map[int][2]int // of those that are
	behind int            // the first group of the look-behind around, 0 for none
	depth  int
}

func (p *reParser) fail(format string, args ...any) { raise(patternError, format, args...) }

func (p *reParser) lacks(what, cure string) {
	raise(patternError, "%s in a pattern is not supported: %s", what, cure)
}

func (p *reParser) have(s string) bool { return strings.HasPrefix(p.src[p.pos:], s) }

func (p *reParser) accept(s string) bool {
	if !p.have(s) {
		return false
	}
	p.pos += len(s)
	return true
}

func (p *reParser) rune() rune {
	r, n := utf8.DecodeRuneInString(p.src[p.pos:])
	if n == 0 {
		p.fail("unexpected end of pattern")
	}
	p.pos += n
	return r
}

// cut reads up to an end, which it passes.
func (p *reParser) cut(end, missing string) string {
	text, rest, ok := strings.Cut(p.src[p.pos:], end)
	if !ok {
		p.fail("%s", missing)
	}
	p.pos = len(p.src) - len(rest)
	return text
}

// leadingFlags reads (?i) at the start, which holds for the whole pattern.
func (p *reParser) leadingFlags() {
	for p.have("(?") {
		end := strings.IndexByte(p.src[p.pos:], ')')
		if end < 3 || strings.Trim(p.src[p.pos+2:p.pos+end], "aiLmsux") != "" {
			return
		}
		for _, c := range p.src[p.pos+2 : p.pos+end] {
			p.flag(&p.flags, c, true)
		}
		p.pos += end + 1
	}
}

func (p *reParser) flag(f *reFlags, c rune, on bool) {
	switch c {
	case 'i':
		f.fold = on
	case 'm':
		f.multi = on
	case 's':
		f.dotAll = on
	case 'u':
	case 'a', 'L', 'x':
		p.lacks("the flag "+string(c), "use i, m or s")
	default:
		p.fail("unknown flag")
	}
}

const maxRegexDepth = 100

func (p *reParser) alternatives() *reNode {
	if p.depth++; p.depth > maxRegexDepth {
		p.lacks("nesting deeper than "+strconv.Itoa(maxRegexDepth), "use fewer parentheses")
	}
	defer func() { p.depth-- }()
	parts := []*reNode{p.sequence()}
	for p.accept("|") {
		parts = append(parts, p.sequence())
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return alternatives(parts)
}

func (p *reParser) sequence() *reNode {
	var parts []*reNode
	for p.pos < len(p.src) && !p.have("|") && !p.have(")") {
		low, high, ok := p.count()
		switch last := len(parts) - 1; {
		case ok && last < 0:
			p.fail("nothing to repeat")
		case ok:
			parts[last] = p.repeats(parts[last], low, high)
		default:
			if n := p.atom(); n != nil { // nil is a comment
				parts = append(parts, n)
			}
		}
	}
	return inSequence(parts)
}

// repeats is a repeated atom, lazily with a "?" behind.
func (p *reParser) repeats(n *reNode, low, high int) *reNode {
	switch {
	case n.isPlace:
		p.fail("nothing to repeat")
	case n.isRepeat:
		p.fail("multiple repeat")
	}
	lazy := p.accept("?")
	if !lazy && p.have("+") {
		p.lacks("a possessive quantifier such as *+", "use * + ? {m,n}, each with a ? to take as little as possible")
	}
	if n.one == nil {
		p.loops++
	}
	return n.times(low, high, lazy, p.loops-1)
}

const endless = 1 << 30

// count reads * + ? or {m,n}.
func (p *reParser) count() (low, high int, ok bool) {
	switch {
	case p.accept("*"):
		return 0, endless, true
	case p.accept("+"):
		return 1, endless, true
	case p.accept("?"):
		return 0, 1, true
	case !p.have("{"):
		return 0, 0, false
	}
	body, _, found := strings.Cut(p.src[p.pos+1:], "}")
	from, to, comma := strings.Cut(body, ",")
	if !found || body == "" || strings.Trim(from+to, decimals) != "" {
		return 0, 0, false // a brace like any other character
	}
	if !comma {
		to = from
	}
	low, high = timesOf(from, 0), timesOf(to, endless)
	if low > high {
		p.fail("min repeat greater than max repeat")
	}
	p.pos += len(body) + 2
	return low, high, true
}

func timesOf(s string, missing int) int {
	if s == "" {
		return missing
	}
	n, err := strconv.Atoi(s)
	if err != nil || n >= endless {
		raise(overflowError, "the repetition number is too large")
	}
	return n
}

func (p *reParser) atom() *reNode {
	flags := p.flags
	switch r := p.rune(); r {
	case '.':
		return oneOf(charsOf(func(r rune) bool { return flags.dotAll || r != '\n' }))
	case '^':
		return standing(func(r *reRunner, pos int) bool { return pos == 0 || flags.multi && r.whole[pos-1] == '\n' })
	case '$':
		return standing(func(r *reRunner, pos int) bool {
			return pos == len(r.whole) || r.whole[pos] == '\n' && (flags.multi || pos == len(r.whole)-1)
		})
	case '(':
		return p.group()
	case '[':
		return p.class()
	case '\\':
		return p.escape()
	default:
		return p.literal(r)
	}
}

// group reads what follows an opening parenthesis.
func (p *reParser) group() *reNode {
	flags := p.flags
	defer func() { p.flags = flags }()
	const badName = "bad or unterminated group name"
	switch {
	case !p.have("?"):
		return p.captured("")
	case p.accept("?P<"):
		name := p.cut(">", badName)
		if !isIdentifier(name) {
			p.fail(badName)
		}
		return p.captured(name)
	case p.accept("?P="):
		name := p.cut(")", badName)
		n, ok := p.names[name]
		if !ok {
			p.fail("unknown group name %q", name)
		}
		return p.backref(n)
	case p.accept("?="):
		return look(p.body(), false, false)
	case p.accept("?!"):
		return look(p.body(), false, true)
	case p.accept("?#"):
		p.cut(")", "missing ), unterminated comment")
		return nil
	case p.have("?>"):
		p.lacks("an atomic group (?>…)", "use (?:…)")
	case p.have("?("):
		p.lacks("a conditional group (?(1)…)", "use two patterns")
	case p.have("?<=") || p.have("?<!"):
		return p.lookBehind()
	}
	p.scoped()
	n := *p.body()
	n.one, n.isPlace, n.isRepeat = nil, false, false
	return &n
}

// body reads the rest of a group.
func (p *reParser) body() *reNode {
	n := p.alternatives()
	if !p.accept(")") {
		p.fail("missing ), unterminated subpattern")
	}
	return n
}

func (p *reParser) lookBehind() *reNode {
	not := p.have("?<!")
	p.pos += len("?<!")
	outer := p.behind
	if outer == 0 {
		p.behind = p.groups
	}
	n := p.body()
	if p.behind = outer; n.low != n.high {
		p.fail("look-behind requires fixed-width pattern")
	}
	return look(n, true, not)
}

// captured reads a group that a match notes, perhaps by a name.
func (p *reParser) captured(name string) *reNode {
	group := p.groups
	if _, twice := p.names[name]; twice {
		p.fail("redefinition of group name %q", name)
	}
	if name != "" {
		p.names[name] = group
	}
	p.open = append(p.open, group)
	p.groups++
	n := p.body()
	p.open = p.open[:len(p.open)-1]
	p.widths[group] = [2]int{n.low, n.high}
	return capture(n, group)
}

// scoped reads the flags of (?i:…), or none of (?:…).
func (p *reParser) scoped() {
	p.accept("?")
	if p.pos < len(p.src) && !strings.ContainsRune("aiLmsux-:", rune(p.src[p.pos])) {
		p.fail("unknown extension ?%c", p.rune())
	}
	for on := true; !p.accept(":"); {
		switch c := p.rune(); {
		case c == '-' && on:
			on = false
		case c == ')':
			p.fail("global flags not at the start of the expression")
		default:
			p.flag(&p.flags, c, on)
		}
	}
}

func (p *reParser) backref(n int) *reNode {
	switch {
	case n >= p.groups:
		p.fail("invalid group reference %d", n)
	case slices.Contains(p.open, n):
		p.fail("cannot refer to an open group")
	case p.behind > 0 && n >= p.behind:
		p.fail("cannot refer to group defined in the same lookbehind subpattern")
	}
	return &reNode{low: p.widths[n][0], high: p.widths[n][1], size: 1, build: sameAs(n, p.flags.fold)}
}
