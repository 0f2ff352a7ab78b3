package grammar

import "slices"

// stringPart is the place within a JSON string. Between the bytes of one
// character it keeps to UTF-8 without overlong forms, surrogates or code
// points past U+10FFFF (Unicode 15, table 3-7), and between the digits of \u
// escapes to surrogates in pairs.
type stringPart = int32

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

	afterU    // in canonical spelling, after \u
	afterU0   // \u0
	afterU00  // \u00
	afterU000 // \u000
	afterU001 // \u001

	stringParts
)

// transition leads from one part of a text to another, over pairs of a lowest
// and a highest byte.
type transition struct {
	from  int32
	pairs string
	to    int32
}

// takes says whether b is in one of the pairs.
func (t transition) takes(b byte) bool {
	for i := 0; i < len(t.pairs); i += 2 {
		if t.pairs[i] <= b && b <= t.pairs[i+1] {
			return true
		}
	}
	return false
}

// characters are the transitions of every string.
var characters = []transition{
	{atQuote, `""`, inString}, {inString, `""`, afterQuote}, {inString, `\\`, afterBackslash},
	{inString, " !#[]\x7f", inString},
	{inString, "\xc2\xdf", tail1}, {inString, "\xe1\xec\xee\xef", tail2}, {inString, "\xf1\xf3", tail3},
	{inString, "\xe0\xe0", afterE0}, {inString, "\xed\xed", afterED},
	{inString, "\xf0\xf0", afterF0}, {inString, "\xf4\xf4", afterF4},
	{afterE0, "\xa0\xbf", tail1}, {afterED, "\x80\x9f", tail1},
	{afterF0, "\x90\xbf", tail2}, {afterF4, "\x80\x8f", tail2},
	{tail3, "\x80\xbf", tail2}, {tail2, "\x80\xbf", tail1}, {tail1, "\x80\xbf", inString},
}

const hexDigits = "09AFaf"

// escapes are the transitions of all escapes that JSON has.
var escapes = []transition{
	{afterBackslash, `""//\\bbffnnrrtt`, inString}, {afterBackslash, "uu", hex4},
	{hex4, "09ACEFacef", hex3}, {hex4, "DDdd", afterD},
	{hex3, hexDigits, hex2}, {hex2, hexDigits, hex1}, {hex1, hexDigits, inString},
	{afterD, "07", hex2}, {afterD, "89ABab", high2}, {high2, hexDigits, high1}, {high1, hexDigits, lowSlash},
	{lowSlash, `\\`, lowU}, {lowU, "uu", lowD}, {lowD, "DDdd", lowHighest}, {lowHighest, "CFcf", hex2},
}

// canonicalEscapes are the transitions of the escapes that appendString writes.
var canonicalEscapes = []transition{
	{afterBackslash, `""\\bbffnnrrtt`, inString}, {afterBackslash, "uu", afterU},
	{afterU, "00", afterU0}, {afterU0, "00", afterU00}, {afterU00, "00", afterU000}, {afterU00, "11", afterU001},
	{afterU000, "07bbef", inString}, {afterU001, "09af", inString},
}

// anyStrings is the automaton of JSON strings in every spelling.
func anyStrings() *dfa { return stringAutomaton(characters, escapes) }

// canonicalStrings is that of strings as appendString spells them, so that two
// are the same if their bytes are.
func canonicalStrings() *dfa { return stringAutomaton(characters, canonicalEscapes) }

func stringAutomaton(tables ...[]transition) *dfa {
	d := &dfa{states: make([]dfaState, stringParts)}
	for _, t := range slices.Concat(tables...) {
		edges := &d.states[t.from].edges
		for i := 0; i < len(t.pairs); i += 2 {
			*edges = append(*edges, edge{t.pairs[i], t.pairs[i+1], t.to})
		}
		slices.SortFunc(*edges, func(a, b edge) int { return int(a.lo) - int(b.lo) })
	}
	d.states[afterQuote].accept = true
	d.finish()
	return d
}
