// Package redact takes the user's own keys out of whatever is stored, shown or
// exported. A server may echo a key in its answer, and a message may quote one.
//
// A key is known by its value and found in every spelling that JSON and URLs give
// it, also one inside the other, and in base64 and hexadecimal digits, wherever it
// stands in what was encoded. Its place is taken by [Mark], which is the same
// for every key, so that two people with different keys record the same.
package redact

import (
	"bytes"
	"cmp"
	"io"
	"slices"
	"strings"
)

// Mark stands where a key was.
const Mark = "[redacted]"

// shortest is the length in bytes from which a value counts as a key: shorter
// ones occur in texts by chance.
const shortest = 8

// Redactor replaces keys. A nil Redactor replaces nothing. It is safe for
// concurrent use.
type Redactor struct {
	keys    []string // longest first, since one may hold another
	reduced [][]byte // the same without their spelling

	encodings []encoding // of all keys
	run       int        // the shortest text of which a part of an encoding is made
}

// New returns a Redactor of keys; nil if none is long enough to be one.
func New(keys []string) *Redactor {
	keys = slices.DeleteFunc(slices.Clone(keys), func(k string) bool { return len(k) < shortest })
	slices.SortFunc(keys, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b)) })
	r := &Redactor{keys: slices.Compact(keys)}
	if len(r.keys) == 0 {
		return nil
	}
	for _, k := range r.keys {
		text, _ := reduce(k)
		r.reduced = append(r.reduced, text)
		r.encodings = append(r.encodings, encodings(k)...)
	}
	r.run = len(slices.MinFunc(r.encodings, func(a, b encoding) int { return cmp.Compare(len(a.text), len(b.text)) }).text) / 2
	return r
}

// Variables returns the values of the variables that hold keys: those named, and
// those whose names end as the names of keys do. environment has the form of
// os.Environ.
func Variables(environment, names []string) []string {
	var keys []string
	for _, pair := range environment {
		name, value, _ := strings.Cut(pair, "=")
		upper := strings.ToUpper(name)
		secret := strings.HasSuffix(upper, "_KEY") || strings.HasSuffix(upper, "_TOKEN") || strings.HasSuffix(upper, "_SECRET")
		if secret || slices.Contains(names, name) {
			keys = append(keys, strings.TrimSpace(value))
		}
	}
	return keys
}

// Text returns s without keys.
func (r *Redactor) Text(s string) string {
	if r == nil {
		return s
	}
	for _, k := range r.keys {
		if strings.Contains(s, k) {
			s = strings.ReplaceAll(s, k, Mark)
		}
	}
	if strings.ContainsAny(s, `\%+`) {
		s = r.spelt(s)
	}
	return r.encoded(s)
}

// spelt returns s without keys that are written in another way.
func (r *Redactor) spelt(s string) string {
	text, at := reduce(s)
	for _, k := range r.reduced {
		var clean strings.Builder
		done := 0
		for from := 0; ; {
			i := bytes.Index(text[from:], k)
			if i < 0 {
				break
			}
			begin, end := from+i, from+i+len(k)
			clean.WriteString(s[done:at[begin]])
			clean.WriteString(Mark)
			done, from = at[end], end
		}
		if done > 0 {
			s = clean.String() + s[done:]
			text, at = reduce(s)
		}
	}
	return s
}

// Bytes is Text of bytes, such as JSON. What holds no key is returned as it is.
func (r *Redactor) Bytes(b []byte) []byte {
	if r == nil || len(b) == 0 {
		return b
	}
	s := string(b)
	if clean := r.Text(s); clean != s {
		return []byte(clean)
	}
	return b
}

// Error returns err with a message that has no key. What it wraps can still be
// found.
func (r *Redactor) Error(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	clean := r.Text(text)
	if clean == text {
		return err
	}
	return &failure{clean, err}
}

type failure struct {
	text string
	err  error
}

func (f *failure) Error() string { return f.text }
func (f *failure) Unwrap() error { return f.err }

// Writer returns a writer that redacts what is written to w, each Write by
// itself.
func (r *Redactor) Writer(w io.Writer) io.Writer {
	if r == nil {
		return w
	}
	return writer{r, w}
}

type writer struct {
	r *Redactor
	w io.Writer
}

// Write implements io.Writer.
func (w writer) Write(p []byte) (int, error) {
	if _, err := w.w.Write(w.r.Bytes(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}
