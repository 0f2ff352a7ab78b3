package table

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"noema/kernel/task"
	"noema/methods"
)

// world is a table that is known, and one of the many files that may hold it.
type world struct {
	questions, golds []string   // golds are labels where there are options
	options          [][]string // nil for texts
	ask, right       string     // the names of their columns
	usual            bool       // both have usual names, and options too
	headless         bool
	form             string // of the options
	name, content    string
	sep              string
	columns          []string
}

// cellWords stand in cells: separators, quotes and signs of shells and addresses among them.
var cellWords = []string{"apple", "C#", "a, b", "x;y", `say "no"`, "it's", "A&B", "50%", "1+1", "$HOME", "naïve", "tab", "#5", "a=b", "(so)", "p|q", "line two"}

func phrase(r *rand.Rand, n int) string {
	var all []string
	for range 1 + r.IntN(n) {
		all = append(all, cellWords[r.IntN(len(cellWords))])
	}
	return strings.Join(all, " ")
}

func pick(r *rand.Rand, from ...string) string { return from[r.IntN(len(from))] }

// makeWorld draws a table and a file of it.
func makeWorld(r *rand.Rand) world {
	w := world{ask: pick(r, "question", "question", "input", "input", "prompt", "prompt", "Question", "Problem", "problem", "query", "PROMPT", "the question", "question+text", "a&b question"),
		right: pick(r, "answer", "answer", "target", "target", "label", "label", "expected", "Answer", "gold", "correct answer", "ground_truth", "answerKey", "answer_key", "Gold Label"), form: pick(r, "", "", "list", "objects", "text and label", "named")}
	csvFile := r.IntN(2) == 0
	w.headless = csvFile && r.IntN(3) == 0
	if csvFile && w.form != "" {
		w.form = pick(r, "list", "columns")
		if w.headless {
			w.form = "columns"
		}
	}
	n := 2 + r.IntN(5)
	wide := 3 + r.IntN(3)
	for i := range n {
		w.questions = append(w.questions, fmt.Sprintf("%d: What is %s?", i+1, phrase(r, 5)))
		if w.form == "" {
			w.golds = append(w.golds, fmt.Sprintf("%s %d", phrase(r, 2), i))
			continue
		}
		var options []string
		for k := range wide {
			options = append(options, fmt.Sprintf("%s %d", phrase(r, 2), k))
		}
		w.options, w.golds = append(w.options, options), append(w.golds, string(rune('A'+r.IntN(wide))))
	}
	if csvFile {
		w.asCSV(r)
	} else {
		w.asJSON(r)
	}
	in, target := slices.Contains(usualNames("input"), w.ask), slices.Contains(usualNames("target"), w.right)
	w.usual = in && target && !w.headless && w.form != "columns"
	return w
}

func (w *world) asCSV(r *rand.Rand) {
	var rows [][]string
	w.columns = []string{w.ask, w.right}
	switch w.form {
	case "list":
		w.columns = []string{w.ask, "options", w.right}
	case "columns":
		w.columns = []string{w.ask}
		for k := range w.options[0] {
			w.columns = append(w.columns, fmt.Sprintf("opt %d", k))
		}
		w.columns = append(w.columns, w.right)
	}
	if !w.headless {
		rows = append(rows, w.columns)
	}
	for i := range w.questions {
		row := []string{w.questions[i]}
		switch w.form {
		case "list":
			raw, _ := json.Marshal(w.options[i])
			row = append(row, string(raw))
		case "columns":
			row = append(row, w.options[i]...)
		}
		rows = append(rows, append(row, w.golds[i]))
	}
	w.sep = pick(r, ",", ";", "\t", "|")
	var b strings.Builder
	w.name = "own.csv"
	if w.sep == "\t" && r.IntN(2) == 0 {
		w.name = "own.tsv"
	}
	if r.IntN(5) == 0 {
		fmt.Fprintf(&b, "sep=%s\r\n", w.sep)
	}
	out := csv.NewWriter(&b)
	out.Comma, out.UseCRLF = rune(w.sep[0]), r.IntN(2) == 0
	_ = out.WriteAll(rows) // a builder takes everything
	w.content = b.String()
}

func (w *world) asJSON(r *rand.Rand) {
	var rows []map[string]any
	for i := range w.questions {
		row := map[string]any{w.ask: w.questions[i], w.right: w.golds[i]}
		if w.options != nil {
			var objects []any
			named, labels := map[string]string{}, []string{}
			for k, text := range w.options[i] {
				label := string(rune('A' + k))
				objects = append(objects, map[string]string{"label": label, "text": text})
				named[label], labels = text, append(labels, label)
			}
			row["choices"] = map[string]any{"list": w.options[i], "objects": objects, "text and label": map[string]any{"text": w.options[i], "label": labels}, "named": named}[w.form]
		}
		if i > 0 && r.IntN(2) == 0 {
			row["extra"] = "NaN"
		}
		rows = append(rows, row)
	}
	w.columns = []string{w.ask, w.right}
	var encoded []string
	keyed := map[string]any{}
	for i, row := range rows {
		raw, _ := json.Marshal(row)
		if row["extra"] != nil {
			raw = []byte(strings.Replace(string(raw), `"extra":"NaN"`, `"extra":`+pick(r, "NaN", "-Infinity", "Infinity"), 1))
		}
		encoded = append(encoded, string(raw))
		keyed[fmt.Sprint(i)] = row
	}
	switch pick(r, "lines", "list", "data", "keyed") {
	case "lines":
		w.name, w.content = "own.jsonl", strings.Join(encoded, "\n")
	case "list":
		w.name, w.content = "own.json", "["+strings.Join(encoded, ",")+"]"
	case "data":
		w.name, w.content = "own.json", `{"data": [`+strings.Join(encoded, ",\n")+"]}"
	default:
		for i := range encoded {
			encoded[i] = fmt.Sprintf("%q: %s", fmt.Sprint("k", i), encoded[i])
		}
		w.name, w.content = "own.json", "{"+strings.Join(encoded, ",\n")+"}"
	}
}

// is reports how a task differs from the table; "" if it does not.
func (w world) is(made *task.Task) string {
	if len(made.Samples) != len(w.questions) {
		return fmt.Sprintf("%d samples of %d rows", len(made.Samples), len(w.questions))
	}
	for i, s := range made.Samples {
		var gold string
		if err := json.Unmarshal(s.Target, &gold); err != nil {
			return fmt.Sprintf("target %s", s.Target)
		}
		unknown := w.form == "columns" && !w.headless // nothing says that these are options
		if (w.options == nil || unknown) && (s.Problem.Query != w.questions[i] || gold != w.golds[i]) {
			return fmt.Sprintf("%q with %q", s.Problem.Query, gold)
		}
		if w.options == nil || unknown {
			continue
		}
		query := w.questions[i] + "\n"
		for k, text := range w.options[i] {
			query += fmt.Sprintf("\n%c) %s", 'A'+k, text)
		}
		if s.Problem.Query != query || gold != w.golds[i] || !slices.Equal(s.Problem.Answer.Texts, w.options[i]) {
			return fmt.Sprintf("%q with %q, texts %q", s.Problem.Query, gold, s.Problem.Answer.Texts)
		}
	}
	return ""
}

// pasted matches the line that an error suggests.
var pasted = regexp.MustCompile(`(?s)\n  --task (.*)$`)

// fromShell is what a shell makes of the one word of a line, by its rules for single quotes.
func fromShell(word string) string {
	if !strings.HasPrefix(word, "'") {
		return word
	}
	return strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(word, "'"), "'"), `'\''`, "'")
}

// loadLine loads a task as its line after --task says.
func loadLine(t *testing.T, line string) (*task.Task, error) {
	t.Helper()
	path, written, _ := strings.Cut(line, "?")
	values, err := url.ParseQuery(written)
	if err != nil {
		return nil, err
	}
	given := map[string]string{}
	for name := range values {
		given[name] = values.Get(name)
	}
	var m Mapping
	if err := methods.ParseOptions(given, &m); err != nil {
		return nil, err
	}
	table, err := Open(t.Context(), path)
	if err == nil && m.Separator != "" {
		err = table.Separate(m.Separator)
	}
	if err != nil {
		return nil, err
	}
	return Load(table, m)
}

// TestWorlds: over formats, separators, headers, names of columns and forms of options, a file
// is read as the table that it holds, or refused; a line that the refusal suggests reads that
// table; and no row is lost in silence.
func TestWorlds(t *testing.T) {
	r := rand.New(rand.NewPCG(46, 12))
	n := 3000
	if testing.Short() {
		n = 500
	}
	counts := map[string]int{}
	dir := t.TempDir()
	for i := range n {
		w := makeWorld(r)
		path := filepath.Join(dir, pick(r, "", "it's a ", "a&b+")+w.name)
		if err := os.WriteFile(path, []byte(w.content), 0o600); err != nil {
			t.Fatal(err)
		}
		fault := func(what string, err error) {
			t.Fatalf("%d: %s: %v\n%+v\n%s", i, what, err, w, w.content)
		}
		made, err := loadLine(t, path)
		switch {
		case err == nil && w.is(made) != "":
			fault("read as another table: "+w.is(made), nil)
		case err == nil:
			counts["read"]++
		case w.usual:
			fault("usual names are refused", err)
		default:
			m := pasted.FindStringSubmatch(err.Error())
			if m == nil {
				counts["no suggestion"]++
				if w.headless && !strings.Contains(err.Error(), "header=none") && !strings.Contains(err.Error(), "separator=") {
					fault("a file without a header is not told", err)
				}
				continue
			}
			counts["suggested"]++
			made, bad := loadLine(t, fromShell(m[1]))
			if bad != nil || w.is(made) != "" {
				fault(fmt.Sprintf("the suggestion fails: %v", bad), err)
			}
		}
	}
	t.Log(counts)
	for _, what := range []string{"read", "suggested"} {
		if counts[what] < n/7 {
			t.Errorf("one-sided: %v", slices.Collect(maps.Keys(counts)))
		}
	}
}
