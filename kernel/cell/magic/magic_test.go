package magic

import (
	"fmt"
	"testing"
)

func TestSplit(t *testing.T) {
	for _, c := range []struct{ text, commands, rest string }{
		{"x := 1", "[]", "x := 1"},
		{"!ls -l\nx", "[{! ls -l}]", "x"},
		{"\n%who\n!pwd\n\nx % 2", "[{who } {! pwd}]", "\nx % 2"},
		{"%time f(1)", "[{time f(1)}]", ""},
		{"%%time\nf(1)\ng()", "[{time f(1)\ng()}]", ""},
		{"x\n%who", "[]", "x\n%who"},
		{"", "[]", ""},
	} {
		commands, rest := Split(c.text)
		if fmt.Sprint(commands) != c.commands || rest != c.rest {
			t.Errorf("Split(%q) is %v and %q, want %s and %q", c.text, commands, rest, c.commands, c.rest)
		}
	}
}
