package repl

import (
	"regexp"
	"testing"
)

// TestHighlightChangesColoursAlone takes the colours off again.
func TestHighlightChangesColoursAlone(t *testing.T) {
	codes := regexp.MustCompile("\x1b\\[[0-9;]*m")
	for _, text := range []string{
		"for i := 0; i < 3; i++ { fmt.Println(\"é\", 'x', 1.5i) } // end", "x := `raw\nstring", "/* open", "a\r\nb", "\"open", "世界 := 1", ":type x", "!ls 'a'", "",
	} {
		got := highlighted([]rune(text))
		if codes.ReplaceAllString(got, "") != text {
			t.Errorf("%q becomes %q", text, got)
		}
	}
	if got, want := highlighted([]rune("return 1")), colorKeyword+"return"+plain+" "+colorNumber+"1"+plain; got != want {
		t.Errorf("it is %q, want %q", got, want)
	}
}
