package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"noema/kernel/base/score"
	"noema/kernel/lab"
	"noema/kernel/session/builtin"
	"noema/kernel/view"
)

// flaky writes a task of 40 questions and a model that answers 23 of them, 7
// rightly, and fails on 17.
func flaky(c *cli) {
	var questions strings.Builder
	for i := range 40 {
		kind := "wrong"
		switch {
		case i%7 < 3 && i < 37:
			kind = "lost"
		case i%3 == 0:
			kind = "right"
		}
		fmt.Fprintf(&questions, "{\"id\": \"q%02d\", \"input\": \"a %s question, number %d\", \"target\": \"yes\"}\n", i, kind, i)
	}
	c.write("quiz.jsonl", questions.String())
	c.write("model.yaml", `
model: flaky
rules:
  - match: a lost question
    error: {status: 400, message: the server is ill}
  - match: a right question
    reply: '{"answer": "yes"}'
default:
  reply: '{"answer": "no"}'
`)
}

// other is direct again.
const other = "direct?shuffle=false"

func flakyCompare() []string {
	return []string{"compare", "--task", "quiz.jsonl", "--model", "scripted/model.yaml", "--methods", "direct," + other, "--retries", "0"}
}

// TestEveryFaceShowsOneNumber: a run in which the provider failed 17 of 40
// trials has the same value, interval and n wherever it is shown.
// cellTag begins or ends a cell of a table in HTML.
var cellTag = regexp.MustCompile(`</?td[^>]*>`)

func TestEveryFaceShowsOneNumber(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
	c := newCLI(t)
	flaky(c)
	live := c.run(exitFailed, flakyCompare()...).stdout

	var shown struct {
		Run     string
		Methods []struct {
			N, Trials, Failed int
			Metrics           map[string]score.Metric
		}
	}
	decode := func(args ...string) {
		t.Helper()
		shown.Methods = nil
		if err := json.Unmarshal([]byte(c.run(0, args...).stdout), &shown); err != nil {
			t.Fatal(err)
		}
	}
	decode("runs", "show", "last", "--json")
	direct := shown.Methods[0]
	m := direct.Metrics["accuracy"]
	right := strings.Count(must(os.ReadFile(filepath.Join(c.dir, "quiz.jsonl"))), "a right question")
	if direct.N != 23 || direct.Trials != 40 || direct.Failed != 17 || m.N != 23 || m.Value != float64(right)/23 || !m.HasInterval() {
		t.Fatalf("%+v of %d right answers", direct, right)
	}
	for _, args := range [][]string{{"replay", "last", "--json"}, {"runs", "show", "last", "--json"}} {
		decode(args...)
		for _, method := range shown.Methods {
			if got := method.Metrics["accuracy"]; method.N != 23 || got.Value != m.Value || got.Low != m.Low || got.High != m.High || got.N != m.N {
				t.Errorf("%v: %+v, want %+v", args, got, m)
			}
		}
	}
	page := "page.html"
	c.run(0, "compare", "last", "--html", page)
	figure := fmt.Sprintf("%.2f [%.2f, %.2f]", m.Value, m.Low, m.High)
	left := "17 of 40 trials failed for other reasons than the method and are left out: 17 ×"
	for face, text := range map[string]string{
		"compare": live, "compare last": c.run(0, "compare", "last").stdout, "compare last --md": c.run(0, "compare", "last", "--md").stdout,
		"runs show": c.run(0, "runs", "show", "last").stdout, "replay": c.run(0, "replay", "last").stdout,
		"html": must(os.ReadFile(filepath.Join(c.dir, page))), "page of the run": c.page("/run/" + shown.Run),
	} {
		plain := strings.Join(strings.Fields(strings.NewReplacer("|", " ", `\[`, "[", `\]`, "]").Replace(cellTag.ReplaceAllString(text, " "))), " ")
		if !strings.Contains(plain, "direct 23 "+figure) || !strings.Contains(plain, other+" 23 "+figure) {
			t.Errorf("%s does not show %q of 23 samples:\n%s", face, figure, text)
		}
		if !strings.Contains(plain, "direct: "+left) || !strings.Contains(plain, "the server is ill") {
			t.Errorf("%s does not say %q:\n%s", face, left, text)
		}
	}
	c.checkExports(m)
	c.checkComparisons(m)
}

func must(raw []byte, err error) string {
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// checkComparisons demands the metric in the JSON of compare, of a run as it is
// made and of a stored one, and in a script.
func (c *cli) checkComparisons(want score.Metric) {
	c.t.Helper()
	type comparison struct {
		Methods []struct {
			N       int
			Metrics map[string]struct{ Value score.Metric }
		}
	}
	var again struct{ Comparison comparison }
	var stored comparison
	for _, of := range []struct {
		code int
		args []string
		into any
	}{{exitFailed, append(flakyCompare(), "--fresh", "--json"), &again}, {0, []string{"compare", "last", "--json"}, &stored}} {
		if err := json.Unmarshal([]byte(c.run(of.code, of.args...).stdout), of.into); err != nil {
			c.t.Fatal(err)
		}
	}
	for _, method := range slices.Concat(again.Comparison.Methods, stored.Methods) {
		if got := method.Metrics["accuracy"].Value; method.N != 23 || got.Value != want.Value || got.Low != want.Low || got.High != want.High || got.N != want.N {
			c.t.Errorf("%+v, want %+v", got, want)
		}
	}
	l := c.lab()
	defer l.Close()
	result, err := l.Load("last")
	if err != nil {
		c.t.Fatal(err)
	}
	if got, err := result.Metric(other, "accuracy"); err != nil || got.Value != want.Value || got.N != want.N {
		c.t.Errorf("in a script %+v, %v", got, err)
	}
	if n := len(result.Wrong("direct")); n != 23-int(want.Value*23+0.5) {
		c.t.Errorf("%d wrong trials", n)
	}
}

// checkExports demands that a mean over the rows is the metric, and the metric in
// the EvalLog.
func (c *cli) checkExports(want score.Metric) {
	c.t.Helper()
	rows, err := csv.NewReader(strings.NewReader(c.run(0, "runs", "export", "last", "--format", "csv").stdout)).ReadAll()
	if err != nil {
		c.t.Fatal(err)
	}
	method, left, accuracy := slices.Index(rows[0], "method"), slices.Index(rows[0], "infrastructure_failure"), slices.Index(rows[0], "score.accuracy")
	sum, n := 0.0, 0
	for _, row := range rows[1:] {
		if (row[left] == "true") != (row[accuracy] == "") {
			c.t.Errorf("row %q", row)
		}
		if v, err := strconv.ParseFloat(row[accuracy], 64); err == nil && row[method] == "direct" {
			sum, n = sum+v, n+1
		}
	}
	if n != want.N || sum/float64(n) != want.Value {
		c.t.Errorf("the rows have mean %v over %d, want %+v", sum/float64(n), n, want)
	}
	var log struct {
		Results struct {
			Completed int `json:"completed_samples"`
			Scores    []struct {
				Name    string
				Metrics map[string]struct{ Value float64 }
			}
		}
	}
	if err := json.Unmarshal([]byte(c.run(0, "runs", "export", "last", "--format", "evallog", "--method", "direct").stdout), &log); err != nil {
		c.t.Fatal(err)
	}
	if got := log.Results.Scores[0]; log.Results.Completed != 23 || got.Name != "accuracy" || got.Metrics["mean"].Value != want.Value || got.Metrics["ci_low"].Value != want.Low {
		c.t.Errorf("EvalLog %+v", log)
	}
}

func (c *cli) lab() *lab.Lab {
	return lab.Open(lab.Options{Home: c.home, Catalog: builtin.Catalog{}, Context: c.t.Context})
}

// page is what the web page shows at a path.
func (c *cli) page(path string) string {
	c.t.Helper()
	l := c.lab()
	defer l.Close()
	p, err := view.New(l)
	if err != nil {
		c.t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodGet, "http://localhost"+path, nil)
	r.AddCookie(&http.Cookie{Name: "noema_token_", Value: p.Token()}) // of no port
	w := httptest.NewRecorder()
	p.ServeHTTP(w, r)
	return w.Body.String()
}
