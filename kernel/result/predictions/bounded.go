package predictions

import (
	"bytes"
	"fmt"
	"io"
)

// portion is a reader of a part that must end before left bytes are read. Whoever
// reads part after part sets left anew.
type portion struct {
	r    io.Reader
	left int64
}

// Read implements [io.Reader].
func (p *portion) Read(b []byte) (int, error) {
	if p.left <= 0 {
		return 0, fmt.Errorf("it has more than %d MiB", maxSample>>20)
	}
	n, err := p.r.Read(b[:min(int64(len(b)), p.left)])
	p.left -= int64(n)
	return n, err
}

// finite turns NaN and infinities, which Python writes into JSON, into null. Outside
// of texts, JSON has no other word with N or I.
type finite struct {
	r       io.Reader
	in, buf []byte
	out     []byte // the part of buf that is not yet read
	quoted  bool   // within a text
	escaped bool   // behind a backslash there
	word    bool   // within such a word
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
	case f.word && ('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'):
		return 1
	case c == 'N', c == 'I':
		f.word, f.minus = true, false
		f.buf = append(f.buf, "null"...)
		return 1
	case f.minus:
		f.minus = false
		f.buf = append(f.buf, '-')
		return 0
	case c == '-':
		f.word, f.minus = false, true
		return 1
	default:
		f.word = false
		if c == '"' {
			f.quoted = true
			break
		}
		return f.keep(in, `"-NI`)
	}
	f.buf = append(f.buf, c)
	return 1
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
