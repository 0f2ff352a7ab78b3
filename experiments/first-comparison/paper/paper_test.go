package paper_test

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"noema/cache/packfile"
	"noema/kernel/lab"
	"noema/kernel/lab/pack"
	"noema/kernel/result/record"
	"noema/kernel/session/builtin"
)

func TestMain(m *testing.M) {
	if builtin.Serve(os.Args[1:]) {
		return
	}
	os.Exit(m.Run())
}

// TestNoNumberIsTyped looks for digits in the papers that are not in the name of a number.
func TestNoNumberIsTyped(t *testing.T) {
	for file, c := range map[string]struct {
		from    string         // where the text begins
		allowed *regexp.Regexp // what may have a digit in it
	}{
		"paper.tex": {`\begin{abstract}`, regexp.MustCompile(`\\noema\{[^}]*\}|\\ci\{[^}]*\}|Hits@[15]`)},
		"paper.typ": {"We compare", regexp.MustCompile(`(noema|ci|at)\("[^)]*\)|Hits\\@[15]|columns: \d|\.\d+em`)},
		"paper.qmd": {"We compare", regexp.MustCompile("`{python} [^`]*`")},
	} {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, text, found := strings.Cut(string(raw), c.from)
		if typed := regexp.MustCompile(`.*\d.*`).FindString(c.allowed.ReplaceAllString(text, "")); !found || typed != "" {
			t.Errorf("%s: %q has a digit that was typed", file, typed)
		}
	}
}

// TestPaper makes the study, builds the papers from its numbers where there is what builds
// them, and verifies the numbers.
func TestPaper(t *testing.T) {
	file, dir := studied(t), t.TempDir()
	p, err := packfile.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	numbers, err := pack.Cite(t.Context(), builtin.Catalog{}, p)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := pack.JSON(numbers)
	if err != nil {
		t.Fatal(err)
	}
	tex := pack.LaTeX(numbers)
	for name, data := range map[string][]byte{"numbers.tex": tex, "numbers.json": plain, "paper.tex": nil, "paper.typ": nil, "paper.qmd": nil} {
		if data == nil {
			if data, err = os.ReadFile(name); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("LaTeX", func(t *testing.T) { buildLaTeX(t, dir) })
	t.Run("Typst", func(t *testing.T) { buildTypst(t, dir) })
	t.Run("Quarto", func(t *testing.T) { buildQuarto(t, dir) })
	for _, cited := range [][]byte{tex, plain} {
		v, err := pack.Verify{Catalog: builtin.Catalog{}, Cited: cited}.Do(t.Context(), p)
		if err != nil || !v.OK {
			t.Errorf("verify: %+v, %v", v, err)
		}
	}
}

// studied packs the study of README.md.
func studied(t *testing.T) string {
	t.Helper()
	l := lab.Open(lab.Options{Home: t.TempDir(), Catalog: builtin.Catalog{}, Stderr: io.Discard})
	t.Cleanup(func() { l.Close() })
	r, err := l.Run(lab.Experiment{Name: "first", Task: "cafes", Methods: []string{"direct", "cot", "anot"}, Limit: "30"})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w, err := packfile.NewWriter(&b)
	if err == nil {
		_, err = pack.Source{Lab: l, Runs: []*record.Run{r.Run}, Noema: "test"}.Write(t.Context(), w)
	}
	file := filepath.Join(t.TempDir(), "first.noema")
	if err == nil {
		err = os.WriteFile(file, b.Bytes(), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// buildLaTeX builds the paper with the first LaTeX that is there. A name that is not a
// number's is an error, at which it stops.
func buildLaTeX(t *testing.T, dir string) {
	for _, c := range [][]string{
		{"pdflatex", "-interaction=nonstopmode", "-halt-on-error"}, {"lualatex", "-interaction=nonstopmode", "-halt-on-error"},
		{"xelatex", "-interaction=nonstopmode", "-halt-on-error"}, {"tectonic"},
	} {
		if _, err := exec.LookPath(c[0]); err != nil {
			continue
		}
		build(t, dir, "paper.pdf", c[0], append(c[1:], "paper.tex")...)
		if err := os.WriteFile(filepath.Join(dir, "wrong.tex"), []byte(`\documentclass{article}\input{numbers}\begin{document}\noema{first/luck}\end{document}`), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), c[0], append(c[1:], "wrong.tex")...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), `there is no number "first/luck"`) {
			t.Errorf("an unknown name: %v\n%s", err, out)
		}
		return
	}
	t.Skip("no LaTeX here: install pdflatex, lualatex, xelatex or tectonic to build the paper")
}

// asQuarto runs the cells of a paper and prints its text with the values of its inline
// expressions, as Quarto does.
const asQuarto = `import re
text, names = open("paper.qmd").read(), {}
cell = re.compile(r"^` + "```" + `\{python\}\n(.*?)^` + "```" + `$", re.M | re.S)
for code in cell.findall(text): exec(code, names)
print(re.sub(r"` + "`" + `\{python\} (.*?)` + "`" + `", lambda m: str(eval(m[1], names)), cell.sub("", text), flags=re.S))
`

// buildQuarto renders the paper with Quarto, or at least computes what its text says.
func buildQuarto(t *testing.T, dir string) {
	if _, err := exec.LookPath("quarto"); err == nil {
		build(t, dir, "quarto.pdf", "quarto", "render", "paper.qmd", "--output", "quarto.pdf")
	}
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("no python3 here to read the paper as Quarto does")
	}
	cmd := exec.CommandContext(t.Context(), "python3", "-c", asQuarto)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if said := regexp.MustCompile(`(?s)on 30 requests .* first in 0\.\d+ \[0\.\d+, \d\.\d+\] .*difference is [+−]?\d.*\shash\s+of\s+the\s+run\s+is [0-9a-f]{64}\.`); err != nil || !said.Match(out) {
		t.Errorf("%v:\n%s", err, out)
	}
}

// buildTypst builds the paper with the Typst of PyPI, or the command.
func buildTypst(t *testing.T, dir string) {
	python := os.Getenv("NOEMA_TEST_PYTHON")
	if python == "" {
		python = "python3"
	}
	if _, err := exec.LookPath("typst"); err == nil {
		build(t, dir, "typst.pdf", "typst", "compile", "paper.typ", "typst.pdf")
		return
	}
	if err := exec.CommandContext(t.Context(), python, "-c", "import typst").Run(); err != nil {
		t.Skipf("no typst here, and %s has no module of that name: pip install typst, or set NOEMA_TEST_PYTHON to a Python that has it", python)
	}
	build(t, dir, "typst.pdf", python, "-c", "import typst; typst.compile('paper.typ', output='typst.pdf')")
}

// build runs a command, which must write a PDF.
func build(t *testing.T, dir, pdf, name string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
	raw, err := os.ReadFile(filepath.Join(dir, pdf))
	if err != nil || !bytes.HasPrefix(raw, []byte("%PDF-")) {
		t.Errorf("%s wrote no PDF: %v", name, err)
	}
}
