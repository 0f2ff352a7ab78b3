package runner

import (
	"slices"
	"strings"
	"testing"
)

// Lines are told when they are whole and one trial's; the end of all is kept.
func TestPrinted(t *testing.T) {
	var told []string
	p := &printed{line: func(line string) { told = append(told, line) }}
	for _, text := range []string{"one\ntw", "o\nthr", "ee \xff\n", "rest"} {
		p.write([]byte(text), false)
	}
	if want := []string{"one", "two", "three \uFFFD"}; !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
	if got := p.String(); got != "one\ntwo\nthree \uFFFD\nrest" {
		t.Errorf("kept %q", got)
	}
	p.reset()
	p.write([]byte("another's\n"), true)
	p.write([]byte(strings.Repeat("x", 3*maxPrinted)+"end\n"), true)
	got := p.String()
	if len(told) != 3 || !strings.HasPrefix(got, "[other trials ran in the same process") || !strings.Contains(got, "\n[…]\nxx") ||
		!strings.HasSuffix(got, "xend\n") || len(got) > maxPrinted+200 {
		t.Errorf("told %d lines, kept %d bytes: %.150q", len(told), len(got), got)
	}
	p.reset()
	p.write([]byte(strings.Repeat("y", 5*maxPrinted)), false)
	if got := len(told[len(told)-1]); len(told) != 4 || got > maxPrinted {
		t.Errorf("a line without end: told %d lines, the last of %d bytes", len(told), got)
	}
}
