package repl

import (
	"bytes"
	"testing"

	"noema/kernel/base/display"
)

// screenOf is a screen that writes both streams to one buffer.
func screenOf(terminal bool, columns, rows int) (*screen, *bytes.Buffer) {
	var b bytes.Buffer
	s := newScreen(Options{Out: &b, Err: &b, Terminal: terminal}, nil)
	s.size = func() (int, int) { return columns, rows }
	return s, &b
}

func TestLiveDisplays(t *testing.T) {
	const up1, up2, up3 = "\x1b[1A\x1b[J", "\x1b[2A\x1b[J", "\x1b[3A\x1b[J"
	show := func(id, text string) func(*screen) { return func(s *screen) { s.Show(id, plainText(text)) } }
	print := func(text string) func(*screen) { return func(s *screen) { s.Stream("stdout", []byte(text)) } }
	for _, c := range []struct {
		name          string
		terminal      bool
		columns, rows int
		steps         []func(*screen)
		want          string
	}{
		{"in its place", true, 80, 24, []func(*screen){show("a", "1"), show("a", "2\n2"), show("a", "3")}, "1\n" + up1 + "2\n2\n" + up2 + "3\n"},
		{"the last state once other things stand below", true, 80, 24,
			[]func(*screen){show("a", "1"), print("x\n"), show("a", "2"), show("a", "3")}, "1\nx\n3\n"},
		{"two of them", true, 80, 24, []func(*screen){show("a", "1"), show("b", "1"), show("a", "2"), show("b", "2")}, "1\n1\n" + up1 + "2\n2\n"},
		{"a line that wraps", true, 4, 24, []func(*screen){show("a", "12345678 0"), show("a", "2")}, "12345678 0\n" + up3 + "2\n"},
		{"wide characters wrap", true, 4, 24, []func(*screen){show("a", "日本語"), show("a", "2")}, "日本語\n" + up2 + "2\n"},
		{"taller than the terminal", true, 80, 2, []func(*screen){show("a", "1\n1\n1"), show("a", "2\n2\n2"), show("a", "3")}, "1\n1\n1\n3\n"},
		{"a pipe gets the last state", false, 0, 0, []func(*screen){show("a", "1"), print("x\n"), show("a", "2")}, "x\n2\n"},
		{"without id each is shown", false, 0, 0, []func(*screen){show("", "1"), show("", "2")}, "1\n2\n"},
		{"on a line of its own", false, 0, 0, []func(*screen){print("x"), show("", "1")}, "x\n1\n"},
		{"after a carriage return", true, 80, 24, []func(*screen){print("50%\r"), show("", "1")}, "50%\r1\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, out := screenOf(c.terminal, c.columns, c.rows)
			for range 2 { // a cell leaves nothing behind for the next
				out.Reset()
				for _, step := range c.steps {
					step(s)
				}
				s.finish()
				if got := out.String(); got != c.want {
					t.Errorf("writes %q, want %q", got, c.want)
				}
			}
		})
	}
}

func TestTextOf(t *testing.T) {
	for _, c := range []struct {
		bundle display.Bundle
		want   string
	}{
		{plainText("a\nb\n\n"), "a\nb"},
		{display.Bundle{display.SVG: nil, display.PNG: nil, display.HTML: nil}, "(image/png, image/svg+xml, text/html: shown in a notebook)"},
		{plainText(""), ""},
		{nil, ""},
	} {
		for range 20 { // maps have no order
			if got := textOf(c.bundle); got != c.want {
				t.Fatalf("the text of %v is %q, want %q", c.bundle, got, c.want)
			}
		}
	}
}

func TestUnfinishedLinesEnd(t *testing.T) {
	s, out := screenOf(true, 80, 24)
	s.Stream("stdout", []byte("a\nb"))
	s.endLine()
	s.endLine()
	if got := out.String(); got != "a\nb\n" {
		t.Errorf("a terminal gets %q", got)
	}
	s, out = screenOf(false, 0, 0)
	s.Stream("stdout", []byte("a\nb"))
	s.endLine()
	if got := out.String(); got != "a\nb" {
		t.Errorf("a pipe gets %q, which the cell did not print", got)
	}
}
