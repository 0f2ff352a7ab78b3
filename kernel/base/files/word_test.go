package files

import (
	"bytes"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"
)

// TestWordIsOneWordToAShell: what a shell reads of a word is the text.
func TestWordIsOneWordToAShell(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no sh here")
	}
	texts := []string{"", "a b", "it's", `"`, "a&b", "$(id)", "`id`", "a\nb", "-x", "~", "~root", "ä ö", "*", "x?y", "{a,b}", "#c", "!h", `\`, `\'`, "a;b", "=ls", "a\tb"}
	const letters = "ab'\"\\$`&;|<>(){}[]*?~#!=%^ \n\t-,.:/@+é世"
	random := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		var b strings.Builder
		for range random.IntN(8) {
			b.WriteRune([]rune(letters)[random.IntN(len([]rune(letters)))])
		}
		texts = append(texts, b.String())
	}
	line := `printf '%s\0'`
	for _, text := range texts {
		line += " " + Word(text)
	}
	cmd := exec.CommandContext(t.Context(), sh, "-c", line)
	cmd.Dir = t.TempDir()
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	read := strings.Split(string(bytes.TrimSuffix(out, []byte{0})), "\x00")
	if len(read) != len(texts) {
		t.Fatalf("%d words were written and %d read", len(texts), len(read))
	}
	for i, text := range texts {
		if read[i] != text {
			t.Errorf("%q is written %s, which a shell reads as %q", text, Word(text), read[i])
		}
	}
	for _, text := range []string{"study.noema", "./a/b-c_d.go", "local/m@1:q", "-M", "a=b"} {
		if Word(text) != text {
			t.Errorf("%q is quoted without need: %s", text, Word(text))
		}
	}
}
