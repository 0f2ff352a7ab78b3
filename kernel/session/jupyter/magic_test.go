package jupyter

import (
	"fmt"
	"strings"
	"testing"
)

func TestSplitCommands(t *testing.T) {
	for _, c := range []struct{ text, commands, rest string }{
		{"x := 1", "[]", "x := 1"},
		{"!ls -l\nx", `[{"!" "ls -l"}]`, "      \nx"},
		{"\n%who\n!pwd\n\nx % 2", `[{"who" ""} {"!" "pwd"}]`, "\n    \n    \n\nx % 2"},
		{"%time f(1)", `[{"time" "      f(1)"}]`, ""},
		{"%time f(1)\ng()", `[{"time" "      f(1)"}]`, "          \ng()"},
		{"!a\n%time f(1)", `[{"!" "a"} {"time" "  \n      f(1)"}]`, ""},
		{"%%time\nf(1)\ng()", `[{"time" "      \nf(1)\ng()"}]`, ""},
		{"%time", `[{"time" ""}]`, ""},
		{"%run a.go  \r\n", `[{"run" "a.go"}]`, ""},
		{"%who\r\nx", `[{"who" ""}]`, "     \nx"},
		{":rerun stale\n:time f(1)", `[{"rerun" "stale"} {"time" "            \n      f(1)"}]`, ""},
		{"!é\nx", `[{"!" "é"}]`, "   \nx"}, // columns are bytes
		{"x\n%who", "[]", "x\n%who"},
		{"%", `[{"" ""}]`, ""},
		{"!", `[{"!" ""}]`, ""},
		{"", "[]", ""},
		{" \n ", "[]", ""},
	} {
		commands, rest := splitCommands(c.text)
		if got := fmt.Sprintf("%q", commands); got != c.commands || rest != c.rest {
			t.Errorf("splitCommands(%q) is %s and %q, want %s and %q", c.text, got, rest, c.commands, c.rest)
		}
	}
}

// FuzzSplit checks that what Go gets stands where it stood.
func FuzzSplitCommands(f *testing.F) {
	for _, text := range []string{"x", "!ls\nx", "%time f()\ng()", "%%time\nx", "%\n!\n\n%who\r\ny"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		commands, rest := splitCommands(text)
		codes := []string{rest}
		for _, c := range commands {
			if c.Name == "time" {
				codes = append(codes, c.Args)
			}
		}
		for _, code := range codes {
			if len(code) > len(text) || strings.Count(code, "\n") != strings.Count(text[:len(code)], "\n") {
				t.Fatalf("splitCommands(%q) moved %q", text, code)
			}
			for i := range code {
				if code[i] != ' ' && code[i] != text[i] {
					t.Fatalf("splitCommands(%q) changed byte %d in %q", text, i, code)
				}
			}
		}
	})
}
