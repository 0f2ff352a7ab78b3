package files

import (
	"bytes"
	"io"
)

// Finite reads JSON with NaN and infinities, which Python writes into it, as null.
func Finite(r io.Reader) io.Reader { return &finite{r: r} }

// finite turns NaN, Infinity and -Infinity into null. Outside of texts, JSON has no word with N
// or I; others are left as they are, and refused where they are read.
type finite struct {
	r       io.Reader
	in, buf []byte
	out     []byte // the part of buf that is not yet read
	quoted  bool   // within a text
	escaped bool   // behind a backslash there
	word    []byte // the beginning of such a word
	minus   bool   // behind a minus, which may be the sign of an infinity
}

// Read implements [io.Reader].
func (f *finite) Read(b []byte) (int, error) {
	if f.in == nil {
		f.in = make([]byte, 32<<10)
	}
	for len(f.out) == 0 {
		n, err := f.r.Read(f.in)
		f.buf = f.buf[:0]
		for rest := f.in[:n]; len(rest) > 0; {
			rest = rest[f.step(rest):]
		}
		if err != nil && (f.minus || f.word != nil) {
			f.flush()
		}
		if f.out = f.buf; err != nil && len(f.out) == 0 {
			return 0, err
		}
	}
	n := copy(b, f.out)
	f.out = f.out[n:]
	return n, nil
}

// step transforms the beginning of what was read, and returns how long that is.
func (f *finite) step(in []byte) int {
	c := in[0]
	switch {
	case f.escaped:
		f.escaped = false
	case f.quoted:
		if n := f.keep(in, `"\`); n > 0 {
			return n
		}
		f.escaped, f.quoted = c == '\\', c == '\\'
	case c == 'N', c == 'I', f.word != nil && ('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'):
		if f.word = append(f.word, c); len(f.word) > len("Infinity") {
			f.flush()
		}
		return 1
	case f.word != nil:
		f.flush()
		return 0
	case f.minus:
		f.minus = false
		f.buf = append(f.buf, '-')
		return 0
	case c == '-':
		f.minus = true
		return 1
	default:
		if c == '"' {
			f.quoted = true
			break
		}
		return f.keep(in, `"-NI`)
	}
	f.buf = append(f.buf, c)
	return 1
}

// flush writes the word that was read, or null in its place.
func (f *finite) flush() {
	if w := string(f.word); w == "NaN" || w == "Infinity" {
		f.buf = append(f.buf, "null"...)
	} else {
		if f.minus {
			f.buf = append(f.buf, '-')
		}
		f.buf = append(f.buf, w...)
	}
	f.word, f.minus = nil, false
}

// keep takes in over up to the first of some characters.
func (f *finite) keep(in []byte, chars string) int {
	n := bytes.IndexAny(in, chars)
	if n < 0 {
		n = len(in)
	}
	f.buf = append(f.buf, in[:n]...)
	return n
}
