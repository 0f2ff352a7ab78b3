package pyexpr

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A pattern of module re is parsed into nodes and matched by backtracking, as
// CPython does it, because what backtracking finds first is what a formula
// means: package regexp has neither lookaround nor Unicode's \b, and skips
// empty matches that findall keeps. The limits of the machine end a pattern
// that backtracks without end.

type reFlags struct{ fold, multi, dotAll bool }

// reNode is a node of a pattern: what it is, by its op, and its parts.
type reNode struct {
	op       byte // one of the re… constants
	r        rune
	set      *reSet
	subs     []*reNode // of a sequence or of alternatives, or the one of the others
	min, max int       // times; of a look-behind min is its width
	lazy     bool
	group    int
	flags    reFlags
}

const (
	reRune byte = iota
	reIn
	reSeq
	reAlt
	reRepeat
	reGroup    // capturing
	reBackref  // \1
	reAhead    // (?=…)
	reNotAhead // (?!…)
	reBehind   // (?<=…)
	reNotBehind
	reBegin // ^
	reEnd   // $
	reTextBegin
	reTextEnd
	reWord
	reNotWord
)

// reSet is a set of characters: ranges, classes such as \d, or what they lack.
type reSet struct {
	ranges  []rune // pairs
	classes []func(rune) bool
	not     bool
	fold    bool
	ascii   [2]uint64 // what has says of the first 128 characters
}

// ready fills the table for ASCII once the set is complete.
func (s *reSet) ready() *reSet {
	for r := range rune(utf8.RuneSelf) {
		if s.test(r) {
			s.ascii[r>>6] |= 1 << (r & 63)
		}
	}
	return s
}

func (s *reSet) has(r rune) bool {
	if r < utf8.RuneSelf {
		return s.ascii[r>>6]>>(r&63)&1 == 1
	}
	return s.test(r)
}

func (s *reSet) test(r rune) bool {
	in := s.holds(r)
	if s.fold && !in {
		for _, f := range foldings(r) {
			in = in || s.holds(f)
		}
	}
	return in != s.not
}

func (s *reSet) holds(r rune) bool {
	for i := 0; i < len(s.ranges); i += 2 {
		if s.ranges[i] <= r && r <= s.ranges[i+1] {
			return true
		}
	}
	return slices.ContainsFunc(s.classes, func(f func(rune) bool) bool { return f(r) })
}

type reParser struct {
	src    string
	pos    int
	flags  reFlags
	groups int
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

func parseRegex(src string, flags reFlags) (*reNode, *reParser) {
	p := &reParser{src: src, flags: flags, groups: 1, names: map[string]int{}, widths: map[int][2]int{}}
	p.leadingFlags()
	root := p.alternatives()
	if p.pos < len(p.src) {
		p.fail("unbalanced parenthesis")
	}
	return root, p
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

// leadingFlags reads (?i) at the start, which holds for the whole pattern.
func (p *reParser) leadingFlags() {
	for p.have("(?") {
		end := strings.IndexByte(p.src[p.pos:], ')')
		if end < 3 || strings.Trim(p.src[p.pos+2:p.pos+end], "aiLmsux") != "" {
			return
		}
		for _, c := range p.src[p.pos+2 : p.pos+end] {
			p.flag(&p.flags, c)
		}
		p.pos += end + 1
	}
}

func (p *reParser) flag(f *reFlags, c rune) {
	switch c {
	case 'i':
		f.fold = true
	case 'm':
		f.multi = true
	case 's':
		f.dotAll = true
	case 'u':
	default:
		p.lacks("the flag "+string(c), "use i, m or s")
	}
}

func (p *reParser) alternatives() *reNode {
	if p.depth++; p.depth > maxRegexDepth {
		p.lacks("nesting deeper than "+strconv.Itoa(maxRegexDepth), "use fewer parentheses")
	}
	defer func() { p.depth-- }()
	alt := &reNode{op: reAlt}
	for {
		alt.subs = append(alt.subs, p.sequence())
		if !p.accept("|") {
			break
		}
	}
	if len(alt.subs) == 1 {
		return alt.subs[0]
	}
	return alt
}

const maxRegexDepth = 100

func (p *reParser) sequence() *reNode {
	seq := &reNode{op: reSeq}
	for p.pos < len(p.src) && !p.have("|") && !p.have(")") {
		if last := len(seq.subs) - 1; last >= 0 && p.repeated() {
			seq.subs[last] = p.repeats(seq.subs[last])
		} else if n := p.atom(); n != nil { // nil is a comment
			seq.subs = append(seq.subs, n)
		}
	}
	return seq
}

// repeated reports whether a number of times comes next.
func (p *reParser) repeated() bool {
	start := p.pos
	_, _, ok := p.count()
	p.pos = start
	return ok
}

// repeats reads what follows an atom: * + ? {m,n}, each lazy with a "?".
func (p *reParser) repeats(n *reNode) *reNode {
	low, high, _ := p.count()
	switch {
	case n.op >= reBegin:
		p.fail("nothing to repeat")
	case n.op == reRepeat:
		p.fail("multiple repeat")
	}
	out := &reNode{op: reRepeat, subs: []*reNode{n}, min: low, max: high}
	switch {
	case p.accept("?"):
		out.lazy = true
	case p.have("+"):
		p.lacks("a possessive quantifier such as *+", "use * + ? {m,n}, each with a ? to take as little as possible")
	}
	return out
}

const endless = 1 << 30

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
	lo, hi, comma := strings.Cut(body, ",")
	if !found || body == "" || strings.Trim(lo+hi, decimals) != "" {
		return 0, 0, false // a brace like any other character
	}
	low, high = p.number(lo, 0), p.number(hi, endless)
	if !comma {
		high = low
	}
	if low > high {
		p.fail("min repeat greater than max repeat")
	}
	p.pos += len(body) + 2
	return low, high, true
}

func (p *reParser) number(s string, def int) int {
	if s == "" {
		return def
	}
	n, err := strconv.Atoi(s)
	if err != nil || n >= endless {
		raise(overflowError, "the repetition number is too large")
	}
	return n
}

func (p *reParser) atom() *reNode {
	switch {
	case p.have("*"), p.have("+"), p.have("?"):
		p.fail("nothing to repeat at position %d", p.pos)
	case p.have("{"):
		if _, _, ok := p.count(); ok {
			p.fail("nothing to repeat")
		}
	}
	switch r := p.rune(); r {
	case '.':
		return &reNode{op: reIn, set: (&reSet{not: true, ranges: map[bool][]rune{false: {'\n', '\n'}}[p.flags.dotAll]}).ready()}
	case '^':
		return &reNode{op: reBegin, flags: p.flags}
	case '$':
		return &reNode{op: reEnd, flags: p.flags}
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

func (p *reParser) literal(r rune) *reNode {
	if fs := foldings(r); p.flags.fold && len(fs) > 0 {
		return &reNode{op: reIn, set: (&reSet{ranges: []rune{r, r}, fold: true}).ready()}
	}
	return &reNode{op: reRune, r: r}
}
