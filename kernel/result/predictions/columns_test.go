package predictions

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"noema/kernel/task"
	"noema/methods"
)

// wordsOf are the words of a line to a shell, by its rules for single quotes.
func wordsOf(line string) (words []string) {
	var b strings.Builder
	inside := false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\'':
			inside = !inside
		case c == '\\' && !inside:
			i++
			b.WriteByte(line[i])
		case c == ' ' && !inside:
			words = append(words, b.String())
			b.Reset()
		default:
			b.WriteByte(c)
		}
	}
	return append(words, b.String())
}

// guesses is a file of predictions that is known.
type guesses struct {
	samples     []task.Sample
	said        []string // by sample
	columns     []string
	gold, right string // the columns of the targets and of the predictions
	rows        []map[string]string
}

func makeGuesses(r *rand.Rand) (w guesses) {
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	w.gold = pick("answer", "answer", "answer", "target", "completion", "gold", "label")
	w.right = pick("pred", "prediction", "predicted", "model_answer", "Prediction", "response", "output", "generated_text", "model_output", "pred text")
	if w.gold != "answer" && r.IntN(3) == 0 {
		w.right = "answer"
	}
	raw := r.IntN(3) == 0 && !slices.Contains([]string{"generated_text", "response", "output", "model_output"}, w.right)
	w.columns = []string{"id", w.gold, w.right}
	if raw {
		w.columns = append(w.columns, "generated_text")
	}
	r.Shuffle(len(w.columns), func(i, j int) { w.columns[i], w.columns[j] = w.columns[j], w.columns[i] })
	kind := r.IntN(3)
	for i := range 2 + r.IntN(6) {
		s := task.Sample{ID: fmt.Sprint("s", i)}
		var gold, said, target string
		switch kind {
		case 0:
			s.Problem.Answer = methods.AnswerSpec{Kind: methods.Choice, Labels: []string{"A", "B", "C", "D"}, Texts: []string{"tea", "rum", "gin", "ale"}}
			at := r.IntN(4)
			target, said = "ABCD"[at:at+1], pick("A", "B", "C", "D")
			gold = []string{target, fmt.Sprint(at), s.Problem.Answer.Texts[at]}[len(w.gold)%3]
			s.Target, _ = json.Marshal(target)
		case 1:
			s.Problem.Answer = methods.AnswerSpec{Kind: methods.Number}
			n := r.IntN(50)
			gold, said = fmt.Sprint(n, ".0"), fmt.Sprint(r.IntN(50))
			s.Target = json.RawMessage(fmt.Sprint(n))
		default:
			s.Problem.Answer = methods.AnswerSpec{Kind: methods.Text}
			gold, said = pick("York", "Ulm", "Rome"), pick("York", "Ulm", "Bonn")
			s.Target, _ = json.Marshal([]string{"Zug", gold})
		}
		s.Problem.Query = fmt.Sprint("question ", i)
		w.samples, w.said = append(w.samples, s), append(w.said, said)
		row := map[string]string{"id": s.ID, w.gold: gold, w.right: said}
		if raw {
			row["generated_text"] = "I think so. The answer is " + said + "."
		}
		w.rows = append(w.rows, row)
	}
	return w
}

func (w guesses) file(r *rand.Rand, dir string) (path string) {
	var b strings.Builder
	if r.IntN(2) == 0 {
		path = filepath.Join(dir, []string{"preds.csv", "it's + preds.csv"}[r.IntN(2)])
		out := csv.NewWriter(&b)
		_ = out.Write(w.columns) // a builder takes everything
		for _, row := range w.rows {
			var cells []string
			for _, name := range w.columns {
				cells = append(cells, row[name])
			}
			_ = out.Write(cells)
		}
		out.Flush()
	} else {
		path = filepath.Join(dir, []string{"preds.jsonl", "a & b?.jsonl"}[r.IntN(2)])
		for _, row := range w.rows {
			raw, _ := json.Marshal(row)
			fmt.Fprintf(&b, "%s\n", raw)
		}
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		panic(err)
	}
	return path
}

// is reports how pairs differ from what was predicted; "" if they do not.
func (w guesses) is(pairs Pairs) string {
	for i, s := range w.samples {
		a, err := pairs.Of[s.ID][0].To(s.Problem.Answer)
		if err != nil {
			return err.Error()
		}
		var got any
		_ = json.Unmarshal(a.Value, &got) // nil differs
		if fmt.Sprint(got) != w.said[i] {
			return fmt.Sprintf("sample %s: %v, and %s was predicted", s.ID, got, w.said[i])
		}
	}
	return ""
}

// TestColumns: over names of columns and where the targets stand, the predictions are read, or
// the file is refused with commands of which one reads them; never are the targets taken for
// them, and where the two are equal, a note says so.
func TestColumns(t *testing.T) {
	r := rand.New(rand.NewPCG(46, 11))
	dir, counts := t.TempDir(), map[string]int{}
	for i := range 1500 {
		w := makeGuesses(r)
		path := w.file(r, dir)
		known := r.IntN(4) > 0
		options := Options{Command: []string{"/bin/noema", "score", path, "--task", "a b.csv", "--method", "m"}}
		if known {
			options.Right = w.gold
		}
		read := func(path string, o Options) (Pairs, error) {
			f, err := Read(t.Context(), path, o)
			if err != nil {
				return Pairs{}, err
			}
			return Pair(f, w.samples, false)
		}
		pairs, err := read(path, options)
		if err == nil {
			if differs := w.is(pairs); differs != "" {
				t.Fatalf("%d: %s\n%+v", i, differs, w)
			}
			same := 0
			for k := range w.rows {
				if equals(json.RawMessage(fmt.Sprintf("%q", w.said[k])), w.samples[k]) {
					same++
				}
			}
			if told := strings.Contains(strings.Join(pairs.Notes, "\n"), "are the targets as they stand"); told != (same == len(w.rows)) {
				t.Fatalf("%d: %d of %d are the targets, told: %v\n%+v", i, same, len(w.rows), told, w)
			}
			counts["read"]++
			continue
		}
		if known && w.gold != "completion" && w.right != "answer" {
			t.Fatalf("%d: the task's column %q is known: %v\n%+v", i, w.gold, err, w)
		}
		counts["refused"]++
		works := 0
		for _, line := range strings.Split(err.Error(), "\n  ")[1:] {
			words := wordsOf(line)
			if len(words) != 7 || words[0] != "noema" || words[4] != "a b.csv" {
				t.Fatalf("%d: the line is not the command: %q", i, line)
			}
			if pairs, err := read(words[2], options); err == nil && w.is(pairs) == "" {
				works++
			}
		}
		if works == 0 {
			t.Fatalf("%d: no line reads the predictions: %v\n%+v", i, err, w)
		}
	}
	t.Log(counts)
	if counts["read"] < 500 || counts["refused"] < 150 {
		t.Errorf("one-sided: %v", counts)
	}
}

// TestTargetsAreChecked: a column that is called as the task's own and holds other values is no
// reason to take another.
func TestTargetsAreChecked(t *testing.T) {
	samples := []task.Sample{{ID: "1", Target: json.RawMessage(`"x"`), Problem: methods.Problem{Query: "q", Answer: methods.AnswerSpec{Kind: methods.Text}}}}
	f, err := Read(t.Context(), write(t, "p.jsonl", `{"id":"1","answer":"z","pred":"x"}`), Options{Right: "answer"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Pair(f, samples, false); err == nil || !strings.Contains(err.Error(), `the column "answer" says "z" for sample "1", whose target is "x"`) || !strings.Contains(err.Error(), "?answer=pred") {
		t.Errorf("%v", err)
	}
	for path, want := range map[string]string{"?answer=none": `has no column "none"`, "?anser=pred": `no option "anser"`} {
		if _, err := Read(t.Context(), write(t, "p.jsonl", `{"id":"1","answer":"z"}`)+path, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
