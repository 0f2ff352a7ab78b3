package grammar

import (
	"slices"
	"unicode/utf8"
)

// allBytes is the alphabet of every byte.
var allBytes = func() string {
	b := make([]byte, 256)
	for i := range b {
		b[i] = byte(i)
	}
	return string(b)
}()

// stringPart is where in a JSON string an automaton stands. The parts between
// the bytes of one character keep to UTF-8 without overlong forms, surrogates
// or code points past U+10FFFF (Unicode 15, table 3-7), and those of a \u
// escape to surrogates in pairs.
type stringPart uint8

const (
	atQuote stringPart = iota // before the opening quote
	inString
	afterQuote
	afterBackslash
	tail1 // one continuation byte to come
	tail2
	tail3
	afterE0
	afterED
	afterF0
	afterF4
	hex4 // four hexadecimal digits to come
	hex3
	hex2
	hex1
	afterD     // after \ud
	high2      // two digits of a high surrogate to come
	high1      // one
	lowSlash   // the \ of a low surrogate's escape to come
	lowU       // its u
	lowD       // its d
	lowHighest // its digit c to f; two more digits follow
)

// stepString is the automaton of JSON strings with every valid escape.
func stepString(p stringPart, b byte) (stringPart, bool) {
	if p >= hex4 {
		return stepEscape(p, b)
	}
	switch p {
	case atQuote:
		return inString, b == '"'
	case inString:
		return stepContent(b)
	case afterBackslash:
		switch b {
		case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			return inString, true
		}
		return hex4, b == 'u'
	case tail1:
		return inString, isTail(b)
	case tail2:
		return tail1, isTail(b)
	case tail3:
		return tail2, isTail(b)
	case afterE0:
		return tail1, b >= 0xa0 && b <= 0xbf
	case afterED:
		return tail1, b >= 0x80 && b <= 0x9f
	case afterF0:
		return tail2, b >= 0x90 && b <= 0xbf
	case afterF4:
		return tail2, b >= 0x80 && b <= 0x8f
	}
	return 0, false
}

func isTail(b byte) bool { return b&0xc0 == 0x80 }

// stepContent begins a character, or ends the string.
func stepContent(b byte) (stringPart, bool) {
	switch {
	case b == '"':
		return afterQuote, true
	case b == '\\':
		return afterBackslash, true
	case b >= 0x20 && b < 0x80:
		return inString, true
	case b >= 0xc2 && b <= 0xdf:
		return tail1, true
	case b == 0xe0:
		return afterE0, true
	case b == 0xed:
		return afterED, true
	case b > 0xe0 && b <= 0xef:
		return tail2, true
	case b == 0xf0:
		return afterF0, true
	case b > 0xf0 && b < 0xf4:
		return tail3, true
	}
	return afterF4, b == 0xf4
}

// stepEscape is within the digits of a \u escape.
func stepEscape(p stringPart, b byte) (stringPart, bool) {
	digit := hexDigit(b)
	switch p {
	case hex4:
		if digit == 0xd {
			return afterD, true
		}
		return hex3, digit >= 0
	case hex3:
		return hex2, digit >= 0
	case hex2:
		return hex1, digit >= 0
	case hex1:
		return inString, digit >= 0
	case afterD:
		if digit >= 0 && digit < 8 {
			return hex2, true
		}
		return high2, digit >= 8 && digit < 0xc
	case high2:
		return high1, digit >= 0
	case high1:
		return lowSlash, digit >= 0
	case lowSlash:
		return lowU, b == '\\'
	case lowU:
		return lowD, b == 'u'
	case lowD:
		return lowHighest, digit == 0xd
	default:
		return hex2, digit >= 0xc
	}
}

func hexDigit(b byte) int {
	switch {
	case b >= '0' && b <= '9':
		return int(b - '0')
	case b >= 'a' && b <= 'f':
		return int(b-'a') + 10
	case b >= 'A' && b <= 'F':
		return int(b-'A') + 10
	}
	return -1
}

// inStringState is the number that explore gives to inString in the automaton
// of all strings: the second state that it meets.
const inStringState = 1

// anyString is a string of min to max code points in any spelling.
func (c *compiler) anyString(min, max int) (*lexeme, error) {
	if max >= 0 && max < min {
		return nil, nil
	}
	if c.strings == nil {
		d, err := explore(c, atQuote, allBytes, stepString, func(p stringPart) bool { return p == afterQuote })
		if err != nil {
			return nil, err
		}
		c.strings = d
	}
	return &lexeme{dfa: c.strings, counted: true, min: min, max: max}, nil
}

// sequence is a run of byte ranges that spells one range of characters and
// leads to a state.
type sequence struct {
	ranges [6][2]byte
	n      int
	to     int32
}

// appendRunes spells the characters lo to hi canonically, as sequences.
func appendRunes(dst []sequence, lo, hi rune, to int32) []sequence {
	for lo <= hi && lo <= '\\' {
		if esc := canonicalEscape(lo); esc != "" {
			s := sequence{n: len(esc), to: to}
			for i := range len(esc) {
				s.ranges[i] = [2]byte{esc[i], esc[i]}
			}
			dst = append(dst, s)
			lo++
			continue
		}
		end := min(hi, '\\'-1)
		if lo == ' ' || lo == '!' {
			end = min(hi, '!')
		}
		dst = append(dst, sequence{ranges: [6][2]byte{{byte(lo), byte(end)}}, n: 1, to: to})
		lo = end + 1
	}
	if lo <= hi {
		dst = appendUTF8(dst, lo, hi, to)
	}
	return dst
}

// appendUTF8 splits a range of characters into sequences of byte ranges, after
// the method of Ken Thompson's grep (also RE2's).
func appendUTF8(dst []sequence, lo, hi rune, to int32) []sequence {
	for _, last := range []rune{0x7f, 0x7ff, 0xffff} {
		if lo <= last && last < hi {
			return appendUTF8(appendUTF8(dst, lo, last, to), last+1, hi, to)
		}
	}
	if hi > 0x7f {
		for shift := 6; shift <= 18; shift += 6 {
			m := rune(1)<<shift - 1
			if lo&^m == hi&^m {
				continue
			}
			if lo&m != 0 {
				return appendUTF8(appendUTF8(dst, lo, lo|m, to), (lo|m)+1, hi, to)
			}
			if hi&m != m {
				return appendUTF8(appendUTF8(dst, lo, hi&^m-1, to), hi&^m, hi, to)
			}
		}
	}
	a, b := utf8.AppendRune(nil, lo), utf8.AppendRune(nil, hi)
	s := sequence{n: len(a), to: to}
	for i := range a {
		s.ranges[i] = [2]byte{a[i], b[i]}
	}
	return append(dst, s)
}

// speller turns sequences into states of a byte automaton, one for each set of
// rests of sequences.
type speller struct {
	c     *compiler
	d     *dfa
	known map[string]int32
}

// spell gives state the edges that the sequences begin with.
func (s *speller) spell(state int32, seqs []sequence) error {
	if err := s.c.spend(4 * len(seqs)); err != nil {
		return err
	}
	cuts := make([]int, 0, 2*len(seqs))
	for _, q := range seqs {
		cuts = append(cuts, int(q.ranges[0][0]), int(q.ranges[0][1])+1)
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	for i := 0; i+1 < len(cuts); i++ {
		lo, hi := byte(cuts[i]), byte(cuts[i+1]-1)
		var rest []sequence
		for _, q := range seqs {
			if q.ranges[0][0] <= lo && hi <= q.ranges[0][1] {
				r := sequence{n: q.n - 1, to: q.to}
				copy(r.ranges[:], q.ranges[1:q.n])
				rest = append(rest, r)
			}
		}
		if len(rest) == 0 {
			continue
		}
		to, err := s.state(rest)
		if err != nil {
			return err
		}
		s.d.addEdge(state, lo, hi, to)
	}
	return nil
}

// state returns the state that is left with the rests. UTF-8 and the escapes
// are prefix codes, so a rest without bytes stands alone.
func (s *speller) state(rest []sequence) (int32, error) {
	if rest[0].n == 0 {
		return rest[0].to, nil
	}
	var key []byte
	for _, q := range rest {
		key = append(key, byte(q.n), byte(q.to), byte(q.to>>8), byte(q.to>>16), byte(q.to>>24))
		for _, r := range q.ranges[:q.n] {
			key = append(key, r[0], r[1])
		}
	}
	if id, ok := s.known[string(key)]; ok {
		return id, nil
	}
	id := s.d.addState()
	s.known[string(key)] = id
	return id, s.spell(id, rest)
}
