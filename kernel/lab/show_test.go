package lab_test

import (
	"math"
	"strings"
	"testing"

	"noema/kernel/lab"
)

// TestAFailedExperimentShowsItsError: the result that comes with the error can be
// shown and asked like any other.
func TestAFailedExperimentShowsItsError(t *testing.T) {
	l := open(t)
	result, err := l.Run(lab.Experiment{Task: "arithmetic", Methods: []string{"nosuch"}})
	if err == nil || !strings.Contains(text(result), `error: unknown method "nosuch"`) {
		t.Fatalf("%v, and the result shows %q", err, text(result))
	}
	if !strings.Contains(text(result.Trials), "no trials") || result.ID() != "" || result.Root() != "" || len(result.Wrong("direct")) > 0 {
		t.Errorf("trials %q of run %q", text(result.Trials), result.ID())
	}
	if loaded, err := l.Load("nosuch"); err == nil || text(loaded) != "error: "+err.Error() {
		t.Errorf("a run that is not there: %v, and the result shows %q", err, text(loaded))
	}
	for name, ask := range map[string]func() error{
		"summary": func() error { _, err := result.Summary(); return err },
		"metric":  func() error { _, err := result.Metric("direct", "accuracy"); return err },
		"trial":   func() error { _, err := result.Trial("direct/1"); return err },
	} {
		if got := ask(); got == nil || got.Error() != err.Error() {
			t.Errorf("%s: %v, want %v", name, got, err)
		}
	}
	for name, ask := range map[string]func() error{
		"replay":  func() error { _, err := result.Replay(); return err },
		"compare": func() error { _, err := result.Compare(lab.Comparing{}); return err },
		"fork":    func() error { _, err := result.Fork("direct/1/1/x", "y"); return err },
	} {
		if ask() == nil {
			t.Errorf("%s of no run is no error", name)
		}
	}
}

// TestTrialsAreTables shows trials, a trial and its calls, of a number and of a
// range of samples.
func TestTrialsAreTables(t *testing.T) {
	l := open(t)
	for _, limit := range []any{2, "1-2"} {
		result, err := l.Run(lab.Experiment{Task: "arithmetic", Methods: []string{"cot"}, Limit: limit})
		if err != nil || len(result.Trials) != 2 {
			t.Fatalf("limit %v: %d trials (%v)", limit, len(result.Trials), err)
		}
		trial := result.Trials[0]
		for shown, parts := range map[string][]string{
			text(result.Trials):      {"model time", "$0.0", " ms\n", trial.ID.String()},
			text(trial):              {"trial " + trial.ID.String(), "outcome     answered", "cost        $0.0", " in, ", "model time  "},
			text(trial.Calls()):      {"kind      tokens", "complete", "$0.0"},
			text(trial.Transcript()): {"EVENTS", "CALLS", "reply"},
		} {
			for _, part := range parts {
				if !strings.Contains(shown, part) {
					t.Errorf("it lacks %q:\n%s", part, shown)
				}
			}
		}
	}
	for _, limit := range []any{0, -1, 2.5, "x", true, []int{1}} {
		if _, err := l.Run(lab.Experiment{Task: "arithmetic", Limit: limit}); err == nil || !strings.Contains(err.Error(), "use a count such as 10, or a range such as 10-20") {
			t.Errorf("limit %v: %v", limit, err)
		}
	}
}

// TestDisplays: each form for a notebook has a text for a terminal.
func TestDisplays(t *testing.T) {
	for name, test := range map[string]struct {
		shown      lab.Bundle
		form, want string
	}{
		"html": {lab.HTML("<h3>A  title</h3><p>one <b>two</b><br>three</p><script>no()</script><table><tr><td>1</td><td>2</td></tr></table>\x1b"),
			"text/html", "A title\none two\nthree\n1 2\n␛"},
		"markdown":     {lab.Markdown("# a\x1b[2J"), "text/markdown", "# a␛[2J"},
		"svg":          {lab.SVG(`<svg><text>a</text><text> b </text></svg>`), "image/svg+xml", "SVG picture of 41 bytes\na\nb"},
		"broken svg":   {lab.SVG("<svg"), "image/svg+xml", "SVG picture of 4 bytes"},
		"json":         {lab.JSON(map[string]int{"b": 1, "a": 2}), "application/json", "{\n  \"a\": 2,\n  \"b\": 1\n}"},
		"json text":    {lab.JSON(`[1]`), "application/json", "[\n  1\n]"},
		"broken json":  {lab.JSON(`[1`), "", "error: show JSON: unexpected end of JSON input"},
		"not for json": {lab.JSON(math.NaN()), "", "error: show JSON: json: unsupported value: NaN"},
		"long":         {lab.Markdown(strings.Repeat("a", 2<<20)), "text/markdown", strings.Repeat("a", 1<<20) + "\n… 1048576 more bytes"},
	} {
		if got := text(test.shown); got != test.want {
			t.Errorf("%s: %.200q, want %.200q", name, got, test.want)
		}
		if _, ok := test.shown[test.form]; !ok && test.form != "" {
			t.Errorf("%s: no %s", name, test.form)
		}
	}
}

// TestANotebookShowsTheNewsFirst: a comparison is shown with what is proven first and a result
// with its methods, as on the page of a run, and nothing there is typeset as a formula.
func TestANotebookShowsTheNewsFirst(t *testing.T) {
	l := open(t)
	result, err := l.Run(lab.Experiment{Task: "cafes", Methods: []string{"direct", "cot", "aot"}, Limit: 12})
	if err != nil {
		t.Fatal(err)
	}
	compared, err := result.Compare(lab.Comparing{})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		page     string
		verdicts int
		wants    []string
	}{
		"result":     {string(result.Display()["text/html"]), 0, nil},
		"comparison": {string(compared.Display()["text/html"]), 1, []string{`<span class="q">`, "Who beats whom", "Merit against cost"}},
	} {
		head, rest, _ := strings.Cut(c.page, "<details>")
		for _, want := range append(c.wants, "mathjax_ignore", "tex2jax_ignore", "$/1k", `<circle class="pt"`) {
			if !strings.Contains(head, want) {
				t.Errorf("%s: %q is not above the numbers", name, want)
			}
		}
		if strings.Count(c.page, "</h1>") != c.verdicts || !strings.Contains(rest, `<table class="noema">`) || strings.Contains(c.page, "<script") || strings.Contains(c.page, `href="`) {
			t.Errorf("%s: not %d verdicts, no numbers, or more than a page may hold:\n%s", name, c.verdicts, c.page)
		}
	}
}
