package repl

import "strings"

// brackets tracks the open brackets of Go text line by line. It reads every line
// once; a scanner would start again with each line.
type brackets struct {
	open   []byte // of ( [ {, outermost first
	within byte   // '`' in a raw string, '*' in a comment, 0 elsewhere
	broken bool   // brackets do not match
}

// closed reports whether the text may be complete.
func (b *brackets) closed() bool { return b.broken || b.within == 0 && len(b.open) == 0 }

// line reads one more line.
func (b *brackets) line(s string) {
	for s != "" {
		if b.within != 0 {
			end := "`"
			if b.within == '*' {
				end = "*/"
			}
			_, after, found := strings.Cut(s, end)
			if !found {
				return
			}
			b.within, s = 0, after
			continue
		}
		s = s[b.token(s):]
	}
}

// token reads the token at the beginning of s and returns its length.
func (b *brackets) token(s string) int {
	switch c := s[0]; c {
	case '(', '[', '{':
		b.open = append(b.open, c)
	case ')', ']', '}':
		last := len(b.open) - 1
		if last < 0 || strings.IndexByte("([{", b.open[last]) != strings.IndexByte(")]}", c) {
			b.broken = true
			return len(s)
		}
		b.open = b.open[:last]
	case '`':
		b.within = c
	case '"', '\'':
		return quoted(s)
	case '/':
		switch {
		case strings.HasPrefix(s, "//"):
			return len(s)
		case strings.HasPrefix(s, "/*"):
			b.within = '*'
			return 2
		}
	}
	return 1
}

// quoted is the length of the string or the rune that s begins with. One that
// does not end ends with the line.
func quoted(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case s[0]:
			return i + 1
		}
	}
	return len(s)
}
