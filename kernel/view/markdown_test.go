package view

import (
	"html"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// A text that is set keeps every character, hides none but marks, and holds no other element.
func TestMarkedHidesOnlyMarks(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	parts := []string{"**", "*", "`", "```", "\n", "\n", "# ", "## ", " ", "a", "b", "2", "<i>", "<script>", "&amp;", "](http://x)", "json", "_", "é", "\x00", "\"", "</b>"}
	tag, hidden, mark := regexp.MustCompile(`</?(b|code|i)( class="(h|fence)")?>`), regexp.MustCompile(`<i>([^<]*)</i>`), regexp.MustCompile("^( *```| *#* |\\*\\*|`| *```[ \\t]*)?$")
	set := 0
	for range 20_000 {
		var b strings.Builder
		for range r.IntN(24) {
			b.WriteString(parts[r.IntN(len(parts))])
		}
		text := b.String()
		got := string(marked(text))
		if plain := tag.ReplaceAllString(got, ""); html.UnescapeString(plain) != text || strings.ContainsAny(plain, "<>") {
			t.Fatalf("%q becomes %q", text, got)
		}
		for _, m := range hidden.FindAllStringSubmatch(got, -1) {
			if set++; !mark.MatchString(m[1]) {
				t.Fatalf("%q hides %q", text, m[1])
			}
		}
	}
	if set < 1000 {
		t.Errorf("only %d marks were hidden", set)
	}
	for text, want := range map[string]string{
		"2**3**4 = 2*3*4": "2**3**4 = 2*3*4", "a **b** c": "a <b><i>**</i>b<i>**</i></b> c", "# x\ny": `<b class="h"><i># </i>x<i></i></b>` + "\ny",
		"```go\nx\n```\n`y`": `<code class="fence"><i>` + "```</i>go\nx\n<i>```</i></code>\n<code><i>`</i>y<i>`</i></code>",
	} {
		if got := string(marked(text)); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
