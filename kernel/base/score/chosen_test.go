package score_test

import (
	"strings"
	"testing"

	"noema/kernel/base/score"
	"noema/methods"
)

func TestChosenScorers(t *testing.T) {
	text := methods.AnswerSpec{Kind: methods.Text}
	for _, c := range []struct {
		scorer, answer, target string
		want                   float64
	}{
		{"exact", `" -5 "`, `"-5"`, 1},
		{"exact", `"5"`, `"-5"`, 0},
		{"exact", `"B"`, `["A","B"]`, 1},
		{"includes", `"It is PARIS, of course"`, `"paris"`, 1},
		{"includes", `"Rome"`, `"paris"`, 0},
		{`pattern:answer is (\w+)`, `"The answer is Paris, not Rome."`, `"paris"`, 1},
		{`pattern:\d+`, `"12 or 13"`, `"13"`, 0},
		{`pattern:\d+`, `"none"`, `"13"`, 0},
		{"number", `"so it is $1,234.50."`, `"1234.5"`, 1},
		{"number:0.01", `"3.14"`, `"3.1415"`, 1},
		{"number:0.001", `"3.14"`, `"3.1415"`, 0},
		{"number:1%", `"99"`, `"100"`, 1},
		{"number", `"no idea"`, `"100"`, 0},
		{"choice", `"(B) Rome"`, `"B"`, 1},
		{"choice", `"A is wrong. The answer is **C**."`, `"C"`, 1},
		{"choice", `"Because"`, `"B"`, 0},
		{"f1", `"the cat sat"`, `"cat sat down"`, 0.8},
		{"math", `"$\\frac{1}{2}$"`, `"0.5"`, 1},
		{"json:a.b:number", "\"```json\\n{\\\"a\\\":{\\\"b\\\":7}}\\n```\"", `"7"`, 1},
		{"json:a:exact", `"{\"a\":\"x\"}"`, `"{\"a\":\"x\",\"c\":1}"`, 1},
		{"json:a:exact", `"not JSON"`, `""`, 0},
	} {
		by, err := score.Named(c.scorer).For(text)
		if err != nil {
			t.Fatal(err)
		}
		got, err := by.Score(text, given(c.answer, methods.Answered), raw(c.target))
		if err != nil {
			t.Errorf("%s of %s: %v", c.scorer, c.answer, err)
			continue
		}
		sameValues(t, got.Values, map[string]float64{score.Accuracy: c.want})
	}
}

func TestFirstScorerDecides(t *testing.T) {
	name, err := score.Choose([]string{"number", "exact", "f1"})
	if err != nil {
		t.Fatal(err)
	}
	text := methods.AnswerSpec{Kind: methods.Text}
	by, err := name.For(text)
	if err != nil {
		t.Fatal(err)
	}
	got, err := by.Score(text, given(`"it is 7"`, methods.Answered), raw(`"7"`))
	if err != nil {
		t.Fatal(err)
	}
	sameValues(t, got.Values, map[string]float64{score.Accuracy: 1, score.Exact: 0, score.F1: 0.5})
	if got, err = by.Score(text, given(`"7"`, methods.Defaulted), raw(`"7"`)); err != nil {
		t.Fatal(err)
	}
	sameValues(t, got.Values, map[string]float64{score.Accuracy: 0, score.Exact: 0, score.F1: 0})
	sameValues(t, got.Given, map[string]float64{score.Accuracy: 1, score.Exact: 1, score.F1: 1})
	if _, err := by.Score(text, methods.Answer{Outcome: methods.Unparsed}, raw(`"seven"`)); err == nil {
		t.Error("a target that is not a number was accepted")
	}
	for want, names := range map[string][]string{
		"did you mean \"exact\"?": {"exakt"}, "named twice": {"exact", "exact"}, "want a regular expression": {"pattern:("},
		"neither a number from 0": {"number:x"}, "takes no argument": {"f1:2"}, "want a field and a scorer": {"json:a"},
		"the scorers are exact, includes, pattern:REGEX": {"judge"},
	} {
		if _, err := score.Choose(names); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", names, err, want)
		}
	}
	set := methods.AnswerSpec{Kind: methods.Set}
	if _, err := by.Score(set, given(`["a"]`, methods.Answered), raw(`["a"]`)); err == nil {
		t.Error("a set was scored as a text")
	}
}

func TestSameMath(t *testing.T) {
	for _, equal := range [][2]string{
		{`\frac{1}{2}`, "0.5"}, {`\dfrac12`, "1/2"}, {`2\sqrt{3}`, `\sqrt{12}`}, {`\sqrt[3]{8}`, "2"}, {"1,234", "1234"},
		{`x = 5`, "5"}, {`The answer is $\boxed{\frac{3}{4}}$.`, "3/4"}, {`90^\circ`, "90"}, {`10\%`, "10"}, {`5\text{ cm}`, "5"},
		{`\left(3, \frac{\pi}{2}\right)`, `(3,\pi/2)`}, {"2x+3", "3+2x"}, {"(x+1)^2", "x^2+2x+1"}, {"2^{10}", "1024"}, {"-(-3)", "3"},
		{`[0,1)`, `[0, 1)`}, {`\text{Evelyn}`, `\text{Evelyn}`}, {"x^2y", "y*x^2"}, {`\frac{\sqrt{3}}{3}`, `\frac{1}{\sqrt{3}}`}, {"0.1+0.2", "0.3"}, {"2^{-1}", ".5"},
		{`\text{even}`, "even"}, {`\text{Even}`, "even"}, {`\text{(C)}`, "(C)"}, {`\text{(C)}`, "C"}, {`\$36`, "36"}, {"$36$", `\$36`}, {"28 percent", `28\%`},
		{`1\frac{12}{13}`, `\frac{25}{13}`}, {"1 1/2", "3/2"}, {`-1\frac12`, "-3/2"}, {"101_{2}", "101_2"}, {`x \in [-2,7]`, "[-2, 7]"}, {`\{1, 2\}`, `\{2,1\}`},
		{`\begin{pmatrix} 1 \\ \frac{1}{2} \end{pmatrix}`, `\begin{pmatrix}1\\0.5\end{pmatrix}`}, {"1, -2", "1,-2"}, {`(-\infty, 3) \cup (5, \infty)`, `(-\infty,3)\cup(5,\infty)`},
	} {
		if !score.SameMath(equal[0], equal[1]) || !score.SameMath(equal[1], equal[0]) {
			t.Errorf("%q and %q are not the same", equal[0], equal[1])
		}
	}
	for _, other := range [][2]string{
		{"1/3", "0.333333"}, {"(1,2)", "(2,1)"}, {"[0,1)", "[0,1]"}, {"x+1", "y+1"}, {"2x", "2"}, {"", ""}, {"1/0", "2/0"},
		{"9^9^9^9^9", "1"}, {strings.Repeat("(", 5000), "1"}, {strings.Repeat("2^", 400) + "2", "3"}, {`\frac{1}`, "1"}, {"3", "-3"},
		{`1\frac{12}{13}`, `\frac{12}{13}`}, {"1 1/2", "11/2"}, {`\text{even}`, `\text{odd}`}, {"101_2", "101"}, {"[1,2]", "(1,2)"}, {`\{1,2\}`, "(1,2)"},
		{`\begin{pmatrix}1\\2\end{pmatrix}`, `\begin{pmatrix}1&2\end{pmatrix}`}, {`\begin{pmatrix}1\\2\end{pmatrix}`, "1,2"}, {`\{1,1,2\}`, `\{1,2,2\}`},
	} {
		if score.SameMath(other[0], other[1]) {
			t.Errorf("%q and %q are the same", other[0], other[1])
		}
	}
}

func FuzzSameMath(f *testing.F) {
	f.Add(`\frac{1}{2}^{3}\sqrt[3]{x}`, "(1,2]")
	f.Fuzz(func(t *testing.T, a, b string) {
		if score.SameMath(a, b) != score.SameMath(b, a) {
			t.Errorf("%q and %q: the order matters", a, b)
		}
	})
}
