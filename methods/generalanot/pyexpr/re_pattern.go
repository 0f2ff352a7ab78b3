package pyexpr

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
)

// Patterns are Python's, read by a translation into what regexp/syntax reads, and
// run by the loop in re_match.go. What that package cannot do in linear time is
// refused: look-around and references to groups. Package regexp itself does not fit,
// because its \b knows ASCII alone and its $ does not see a last line's end.
// regexp2 does not fit either: it bounds a pattern that backtracks without end by the
// clock, so that another machine would compute another value.

// The flags of re that patterns take: their values in Python.
const (
	foldCase = 2
	multi    = 8
	dotAll   = 16
)

type regexKey struct {
	src   string
	flags int
}

func (m *machine) regex(src string, flags int) *regex {
	key := regexKey{src, flags}
	if x := m.regexes[key]; x != nil {
		return x
	}
	m.alloc(400 * len(src))
	m.step(len(src))
	p := &reParser{m: m, src: src, flags: flags, groups: 1, names: map[string]int{}, most: 1}
	p.leadingFlags()
	for p.pos < len(p.src) {
		p.part()
	}
	m.alloc(100 * times(len(src), p.most)) // a count writes its part that often
	x := &regex{prog: p.program(), groups: p.groups, names: p.names, multi: p.flags&multi != 0}
	if m.regexes == nil {
		m.regexes = map[regexKey]*regex{}
	}
	m.regexes[key] = x
	return x
}

// reParser translates a pattern.
type reParser struct {
	m      *machine
	src    string
	pos    int
	out    strings.Builder
	flags  int
	groups int
	names  map[string]int
	most   int // the greatest count
	last   reLast
}

// reLast is what stands before a count.
type reLast int

const (
	nothing reLast = iota // or a place, such as ^
	anAtom
	aRepeat
)

func (p *reParser) fail(format string, args ...any) { raise(patternError, format, args...) }

func (p *reParser) lacks(what, cure string) {
	raise(patternError, "%s in a pattern is not supported: %s", what, cure)
}

// program compiles what was written.
func (p *reParser) program() *syntax.Prog {
	flags := syntax.ClassNL | syntax.PerlX | syntax.UnicodeGroups
	if p.flags&foldCase != 0 {
		flags |= syntax.FoldCase
	}
	if p.flags&dotAll != 0 {
		flags |= syntax.DotNL
	}
	re, err := syntax.Parse(p.out.String(), flags)
	if fault := new(syntax.Error); errors.As(err, &fault) {
		switch fault.Code {
		case syntax.ErrInvalidRepeatSize, syntax.ErrNestingDepth, syntax.ErrLarge:
			p.lacks("so many repetitions or parentheses", "use counts of at most 1000")
		}
		p.fail("%s", fault.Code)
	}
	if loopsOverNothing(re) {
		p.lacks("a repetition of what may be empty, such as (a*)*,", "repeat what has at least one character")
	}
	prog, err := syntax.Compile(re.Simplify())
	if err != nil {
		p.fail("%v", err)
	}
	p.m.alloc(48 * len(prog.Inst))
	return prog
}

func (p *reParser) write(text string) {
	p.m.alloc(2 * len(text))
	p.out.WriteString(text)
}

func (p *reParser) have(s string) bool { return strings.HasPrefix(p.src[p.pos:], s) }

func (p *reParser) accept(s string) bool {
	if !p.have(s) {
		return false
	}
	p.pos += len(s)
	return true
}

// leadingFlags reads (?i) at the start, which holds for the whole pattern.
func (p *reParser) leadingFlags() {
	for p.have("(?") {
		end := strings.IndexByte(p.src[p.pos:], ')')
		if end < 3 || strings.Trim(p.src[p.pos+2:p.pos+end], "aiLmsux") != "" {
			return
		}
		for _, c := range p.src[p.pos+2 : p.pos+end] {
			if strings.ContainsRune("aLx", c) {
				p.lacks("the flag "+string(c), "use i, m or s")
			}
			p.flags |= map[rune]int{'i': foldCase, 'm': multi, 's': dotAll}[c]
		}
		p.pos += end + 1
	}
}

// part translates what stands next.
func (p *reParser) part() {
	if low, high, ok := p.count(); ok {
		p.repeat(low, high)
		return
	}
	last := anAtom
	switch r := p.rune(); r {
	case '^', '$':
		p.write(string(r))
		last = nothing
	case '|':
		p.write("|")
		last = nothing
	case '.', ')':
		p.write(string(r))
	case '(':
		last = p.group()
	case '[':
		p.class()
	case '\\':
		last = p.escape()
	default:
		p.literal(r)
	}
	p.last = last
}

func (p *reParser) repeat(low, high int) {
	switch p.last {
	case nothing:
		p.fail("nothing to repeat")
	case aRepeat:
		p.fail("multiple repeat")
	}
	if p.last = aRepeat; p.have("+") {
		p.lacks("a possessive quantifier such as *+", "use * + ? {m,n}, each with a ? to take as little as possible")
	}
	p.most = max(p.most, low)
	to := ""
	if high < endless {
		p.most, to = max(p.most, high), strconv.Itoa(high)
	}
	p.write(fmt.Sprintf("{%d,%s}", low, to))
	if p.accept("?") {
		p.write("?")
	}
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

// group reads what follows an opening parenthesis. Its body is read as what stands
// next.
func (p *reParser) group() reLast {
	const lookAround = "use two patterns, joined by and, or a group"
	before := p.last
	switch {
	case !p.have("?"):
		p.capture("")
	case p.accept("?:"):
		p.write("(?:")
	case p.accept("?P<"):
		name, rest, ok := strings.Cut(p.src[p.pos:], ">")
		if !ok || !isIdentifier(name) {
			p.fail("bad or unterminated group name")
		}
		p.pos = len(p.src) - len(rest)
		p.capture(name)
	case p.accept("?#"):
		_, rest, ok := strings.Cut(p.src[p.pos:], ")")
		if !ok {
			p.fail("missing ), unterminated comment")
		}
		p.pos = len(p.src) - len(rest)
		return before
	case p.have("?=") || p.have("?!"):
		p.lacks("a look-ahead (?=…) (?!…)", lookAround)
	case p.have("?<=") || p.have("?<!"):
		p.lacks("a look-behind (?<=…) (?<!…)", lookAround)
	case p.have("?P="):
		p.lacks("a reference to a group", "compare the groups of the match")
	case p.have("?>"):
		p.lacks("an atomic group (?>…)", "use (?:…)")
	case p.have("?("):
		p.lacks("a conditional group (?(1)…)", "use two patterns")
	default:
		p.lacks("an extension (?…) or a flag behind the start", "put flags in front, as in (?i)nuts?")
	}
	return nothing
}

func (p *reParser) capture(name string) {
	if _, twice := p.names[name]; twice {
		p.fail("redefinition of group name %q", name)
	}
	if name != "" {
		p.names[name] = p.groups
	}
	p.groups++
	p.write("(")
}

// loopsOverNothing reports whether a part that may match nothing is repeated: then
// engines differ in what its groups hold.
func loopsOverNothing(re *syntax.Regexp) bool {
	again := re.Op == syntax.OpStar || re.Op == syntax.OpPlus || re.Op == syntax.OpRepeat && re.Max != 1 && re.Max != 0
	if again && mayBeEmpty(re.Sub[0]) {
		return true
	}
	return slices.ContainsFunc(re.Sub, loopsOverNothing)
}

func mayBeEmpty(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpLiteral, syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL, syntax.OpNoMatch:
		return false
	case syntax.OpCapture, syntax.OpPlus:
		return mayBeEmpty(re.Sub[0])
	case syntax.OpRepeat:
		return re.Min == 0 || mayBeEmpty(re.Sub[0])
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if !mayBeEmpty(sub) {
				return false
			}
		}
	case syntax.OpAlternate:
		return slices.ContainsFunc(re.Sub, mayBeEmpty)
	}
	return true
}
