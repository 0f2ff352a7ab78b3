package python_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"noema/methods"
	"noema/methods/reply"
)

// folder is where the command is built, while the tests run.
var folder string

// command builds the command once. Python outside of trials reads by it.
var command = sync.OnceValues(func() (string, error) {
	at := filepath.Join(folder, "noema")
	if out, err := exec.Command("go", "build", "-o", at, "noema/kernel/cmd/noema").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the command: %w\n%s", err, out)
	}
	return at, nil
})

func TestMain(m *testing.M) {
	folder = methods.Must(os.MkdirTemp("", "noema-command"))
	code := m.Run()
	if err := os.RemoveAll(folder); err != nil {
		panic(err)
	}
	os.Exit(code)
}

// withCommand is the environment in which Python finds the SDK and the command.
func withCommand(t testing.TB) []string {
	t.Helper()
	at, err := command()
	if err != nil {
		t.Fatal(err)
	}
	return append(os.Environ(), sdk(t), "PYTHONDONTWRITEBYTECODE=1", "NOEMA="+at)
}

// readCase is a reply, and what is asked of it.
type readCase struct {
	Text    string             `json:"text"`
	Cut     bool               `json:"cut"`
	Kind    methods.AnswerKind `json:"kind"`
	N       int                `json:"n"`
	K       int                `json:"k"`
	Labels  []string           `json:"labels,omitempty"`
	Names   []string           `json:"names,omitempty"`
	Texts   []string           `json:"texts,omitempty"`
	Decimal string             `json:"decimal"`
	Percent string             `json:"percent"`
}

// want is what Go reads.
func (c readCase) want() [3]string {
	a := reply.Conclude(c.Text, c.Cut, methods.AnswerSpec{
		Kind: c.Kind, N: c.N, K: c.K, Labels: c.Labels, Names: c.Names, Texts: c.Texts, Decimal: c.Decimal, Percent: c.Percent,
	})
	return [3]string{string(a.Value), string(a.Outcome), a.Reason}
}

// contextOf is the cases as JSON. What Go reads for half of a character is one in Python.
func contextOf(t testing.TB, cases []readCase) []byte {
	t.Helper()
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(map[string]any{"cases": cases}); err != nil {
		t.Fatal(err)
	}
	return bytes.ReplaceAll(out.Bytes(), []byte("\uFFFD"), []byte(`\ud834`))
}

// compareReadings holds what Python read, as JSON, to what Go reads.
func compareReadings(t *testing.T, road, got string, cases []readCase, wants [][3]string) {
	t.Helper()
	var all []*[3]string
	if err := json.Unmarshal([]byte(got), &all); err != nil || len(all) != len(cases) {
		t.Fatalf("%s: %d of %d readings, %v: %.200s", road, len(all), len(cases), err, got)
	}
	wrong := 0
	for i, c := range cases {
		if want := wants[i]; all[i] == nil || *all[i] != want {
			if wrong++; wrong <= 5 {
				t.Errorf("%s: %+v is\n%q, and in Go\n%q", road, c, all[i], want)
			}
		}
	}
	if wrong > 0 {
		t.Errorf("%s: %d of %d differ", road, wrong, len(cases))
	}
}

// TestReadingIsThatOfGo holds that Python reads what Go reads: in trials on threads and on an
// event loop, several at once, outside of trials, and in the tests of a method.
func TestReadingIsThatOfGo(t *testing.T) {
	t.Parallel()
	python(t)
	n := 10_000
	if testing.Short() {
		n = 1000
	}
	cases, wants := readCases(n), make([][3]string, n)
	answered := map[methods.AnswerKind][2]int{}
	for i, c := range cases {
		wants[i] = c.want()
		counts := answered[c.Kind]
		if counts[0]++; wants[i][1] == string(methods.Answered) {
			counts[1]++
		}
		answered[c.Kind] = counts
	}
	for kind, counts := range answered {
		t.Logf("%s: %d of %d answered", kind, counts[1], counts[0])
		if counts[1]*10 < counts[0] || counts[1]*100 > counts[0]*98 {
			t.Errorf("%s: the cases show little, since %d of %d are answered", kind, counts[1], counts[0])
		}
	}
	h := openHost(t)
	var roads sync.WaitGroup
	for _, name := range []string{"read", "async-read"} {
		p := open(t, h, name)
		for i := range 4 { // trials at once
			part, read := cases[i*n/4:(i+1)*n/4], wants[i*n/4:(i+1)*n/4]
			roads.Go(func() {
				k := newKernel()
				a, err := p.Solve(t.Context(), methods.Problem{Query: "?", Context: contextOf(t, part)}, k)
				text, _ := a.Text()
				if err != nil {
					t.Errorf("%s: %v", name, err)
					return
				}
				compareReadings(t, name, text, part, read)
			})
		}
	}
	roads.Wait()
	for _, args := range [][]string{{}, {"double"}} {
		cmd := exec.CommandContext(t.Context(), python(t), append([]string{"testdata/read.py"}, args...)...)
		cmd.Env, cmd.Stdin, cmd.Stderr = withCommand(t), bytes.NewReader(contextOf(t, cases)), os.Stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		_, out, _ = bytes.Cut(out, []byte("printed while importing\n"))
		compareReadings(t, fmt.Sprint("the command ", args), string(out), cases, wants)
	}
}

// readCases are replies of all kinds: answers in many forms and decorations, with thoughts,
// statements that contradict each other, hedges and what is left over.
func readCases(n int) []readCase {
	r := rand.New(rand.NewPCG(46, 10))
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	cases := make([]readCase, n)
	for i := range cases {
		c, value := readCaseOf(r, pick)
		var b strings.Builder
		if r.IntN(4) == 0 {
			b.WriteString(pick("<think>", "<thinking>", "[THINK]", "", "`<think>`", "<|begin_of_thought|>", "<|channel|>analysis<|message|>") + "It may be " + value() + ". " +
				pick("</think>", "</thinking>", "[/THINK]", "", "</think>\n<think>Hm.</think>", "<|end_of_thought|>", "<|end|><|start|>assistant<|channel|>final<|message|>"))
		}
		for range 1 + r.IntN(3) {
			b.WriteString(strings.ReplaceAll(pick(
				"The answer is @.", "Answer: @", "**Answer:** @", "So @ is correct.", `\boxed{@}`, `The final answer is: $\boxed{@}$. I hope it is correct.`,
				"#### @", `{"answer": @}`, `{"answer": "@"}`, "```json\n{\"answer\": @}\n```", "{'Answer': '@', 'why': None}", "<answer>@</answer>", "@", "**@**", "- @\n- @",
				"Wait, that is wrong. The answer is @.", "It is not @.", "@ or @", "Perhaps @?", "Final answer: @ \uFFFD", "Answer:\n@", "I cannot tell.", "答案：@。", `{"a": @, "b": [1]}`,
			), "@", value()))
			b.WriteString(pick("\n", " ", "\n\n", "", " million", " or so\n", "."))
		}
		c.Text, c.Cut = b.String(), r.IntN(10) == 0
		if r.IntN(20) == 0 { // cut anywhere
			c.Text = strings.ToValidUTF8(c.Text[:r.IntN(len(c.Text)+1)], "")
		}
		cases[i] = c
	}
	return cases
}

// readCaseOf is what a problem of some kind asks for, and what makes values for it.
func readCaseOf(r *rand.Rand, pick func(...string) string) (readCase, func() string) {
	number := func() string {
		x := r.IntN(100_000)
		return pick("", "-", "−", "minus ", "+", "$", "€") + pick(fmt.Sprint(x), fmt.Sprint(x%10), fmt.Sprintf("%d.%02d", x/100, x%100),
			fmt.Sprintf("%d,%03d", x/1000, x%1000), fmt.Sprintf("%d %03d", x/1000, x%1000), fmt.Sprintf("%d\u202f%03d", x/1000, x%1000), fmt.Sprintf("%d.%03d,50", x/1000, x%1000),
			fmt.Sprintf("%d'%03d", x/1000, x%1000), fmt.Sprintf("1/%d", x+1), "½", "٣٤", "１２", "3×10⁷", "1e400", "0x1F", "10:30", "1e-3", "0.10", "1000000000000000000000", `\frac{1}{2}`) +
			pick("", "", "%", " percent", "k", "M", " million", " apples", " km", "°")
	}
	word := func() string {
		return pick("pears", "St. Louis", "C#", "a_b", "*x*", "\"quoted\"", "<b>&amp;", "Ärzte", "𝄞", "A", "B", "c", "yes", "No", "two words", "x\\y", "\u2028", ">=", "J. R. R. Tolkien")
	}
	switch r.IntN(6) {
	case 0:
		return readCase{Kind: methods.Number, Decimal: pick("", "", "comma"), Percent: pick("", "", "fraction")}, number
	case 1:
		c := readCase{Kind: methods.Choice, Labels: []string{"A", "B", "C", "D"}}
		if r.IntN(2) == 0 {
			c.Texts = []string{"apples", "pears", "two words", "none of them"}
		} else if r.IntN(3) == 0 {
			c.Labels = []string{"Yes", "No", "Ärzte", "low \"risk\""}
		}
		return c, func() string {
			l := pick(c.Labels...)
			return pick(l, l, "("+l+")", l+") pears", "("+l+") two words", "**"+l+") pears**", "$"+l+"$", l+" because it is", l+" and "+pick(c.Labels...), pick("apples", "pears"), strings.ToLower(l), "E")
		}
	case 2:
		c := readCase{Kind: methods.Set}
		if r.IntN(2) == 0 {
			c.Labels = []string{"A", "B", "C", "D"}
		}
		return c, func() string {
			one := func() string { return pick("A", "B", "C", "D", word()) }
			return pick(one(), one()+", "+one(), one()+", "+one()+" and "+one(), one()+", "+one()+", and "+one(), "ACD", "(A), (C), (D)", `["A", "`+pick("B", "x")+`"]`, "[]", "none", "- A\n- B")
		}
	case 3:
		c := readCase{Kind: methods.Ranking, N: r.IntN(12), K: r.IntN(6)}
		return c, func() string {
			a, b, d := r.IntN(14), r.IntN(14), r.IntN(14)
			return pick(fmt.Sprint([]int{a, b}), fmt.Sprintf("[%d, %d, %d]", a, b, d), fmt.Sprintf("%d, %d", a, b), fmt.Sprintf("%d > %d > %d", a, b, d), fmt.Sprintf("c1=[%d, %d]", a, b), fmt.Sprintf("%d", a), fmt.Sprintf("1. %d\n2. %d", a, b))
		}
	case 4:
		c := readCase{Kind: methods.Fields, Names: []string{"a", "b"}}
		return c, func() string {
			return pick(`{"a": 1, "b": "x"}`, `{"a": 0.10, "b": [1, 1e400]}`, `{"b": null, "a": {"c": "é<&>"}}`, `{"a": 1}`, `{'a': True, 'b': (1, 2)}`, `{"a": NaN, "b": 1}`, "a=1, b=2")
		}
	}
	return readCase{Kind: methods.Text}, word
}

// BenchmarkReading is the time of one reading in Python: in a trial, and by the command.
func BenchmarkReading(b *testing.B) {
	p := open(b, openHost(b), "bench-read")
	b.Run("trial", func(b *testing.B) {
		if _, err := p.Solve(b.Context(), methods.Problem{Query: fmt.Sprint(b.N), Answer: methods.AnswerSpec{Kind: methods.Number}}, newKernel()); err != nil {
			b.Fatal(err)
		}
	})
	b.Run("command", func(b *testing.B) {
		const lines = "import sys, noema\nfor _ in range(int(sys.argv[1])): noema.read_answer('So 3 boxes of 12 make 36 pencils. The answer is 36.', noema.AnswerSpec('number'))"
		cmd := exec.CommandContext(b.Context(), python(b), "-c", lines, fmt.Sprint(b.N))
		cmd.Env = withCommand(b)
		b.ResetTimer()
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
	})
}
