package table

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"noema/kernel/task"
	"noema/methods"
)

func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "quiz.jsonl")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// loadFile loads a file without a mapping.
func loadFile(path string) (*task.Task, error) { return loadMapped(path, Mapping{}) }

func loadMapped(path string, m Mapping) (*task.Task, error) {
	t, err := Open(context.Background(), path)
	if err != nil {
		return nil, err
	}
	return Load(t, m)
}

func TestLoadJSONL(t *testing.T) {
	for name, test := range map[string]struct {
		line, target, context string
		spec                  methods.AnswerSpec
	}{
		"no target":      {`{"id":"a","input":"q"}`, ``, ``, methods.AnswerSpec{Kind: methods.Text}},
		"null":           {`{"id":"a","input":{"query":"q","answer":"number"},"target":null}`, ``, ``, methods.AnswerSpec{Kind: methods.Number}},
		"no label":       {`{"id":"a","input":{"query":"q","labels":["x","y"]}}`, ``, ``, methods.AnswerSpec{Kind: methods.Choice, Labels: []string{"x", "y"}}},
		"no best item":   {`{"id":"a","input":{"query":"q","items":["x","y"]}}`, ``, `{"items":["x","y"]}`, methods.AnswerSpec{Kind: methods.Ranking, N: 2, K: 2}},
		"open fields":    {`{"id":"a","input":{"query":"q","answer":"fields:x,\"y, z\""}}`, ``, ``, methods.AnswerSpec{Kind: methods.Fields, Names: []string{"x", "y, z"}}},
		"text":           {`{"id":"a","input":"q","target":"Paris"}`, `"Paris"`, ``, methods.AnswerSpec{Kind: methods.Text}},
		"number":         {`{"id":"a","input":"q","target":-4.50}`, `-4.50`, ``, methods.AnswerSpec{Kind: methods.Number}},
		"set":            {`{"id":"a","input":"q","target":["b", "a", "b"]}`, `["a","b"]`, ``, methods.AnswerSpec{Kind: methods.Set}},
		"empty set":      {`{"id":"a","input":"q","target":[]}`, `[]`, ``, methods.AnswerSpec{Kind: methods.Set}},
		"fields":         {`{"id":"a","input":"q","target":{"y": 1, "x": null}}`, `{"y":1,"x":null}`, ``, methods.AnswerSpec{Kind: methods.Fields, Names: []string{"x", "y"}}},
		"set of labels":  {`{"id":"a","input":{"query":"q","labels":["c","b","a"]},"target":["c","a"]}`, `["a","c"]`, ``, methods.AnswerSpec{Kind: methods.Set, Labels: []string{"c", "b", "a"}}},
		"choice":         {`{"id":"a","input":{"query":"q","labels":["no","yes"]},"target":"yes"}`, `"yes"`, ``, methods.AnswerSpec{Kind: methods.Choice, Labels: []string{"no", "yes"}}},
		"ranking":        {`{"id":"a","input":{"query":"q","items":[{"n": 1},"b","c"]},"target":2}`, `[2]`, `{"items":[{"n":1},"b","c"]}`, methods.AnswerSpec{Kind: methods.Ranking, N: 3, K: 3}},
		"ranking of two": {`{"id":"a","input":{"query":"q","items":[1,2,3,4,5,6],"k":2},"target":[6,1]}`, `[1,6]`, `{"items":[1,2,3,4,5,6]}`, methods.AnswerSpec{Kind: methods.Ranking, N: 6, K: 2}},
		"context":        {`{"id":"a","input":{"query":"q","context":{"friends":{"A":["B"]}}},"target":1}`, `1`, `{"friends":{"A":["B"]}}`, methods.AnswerSpec{Kind: methods.Number}},
		"both":           {`{"id":"a","input":{"query":"q","context":{"x":0},"items":[1,2]},"target":1}`, `[1]`, `{"items":[1,2],"x":0}`, methods.AnswerSpec{Kind: methods.Ranking, N: 2, K: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			tk, err := loadFile(file(t, test.line))
			if err != nil {
				t.Fatal(err)
			}
			s := tk.Samples[0]
			if s.ID != "a" || s.Problem.Query != "q" || string(s.Target) != test.target || string(s.Problem.Context) != test.context {
				t.Errorf("got %+v, target %s, context %s", s, s.Target, s.Problem.Context)
			}
			if fmt.Sprint(s.Problem.Answer) != fmt.Sprint(test.spec) {
				t.Errorf("got %+v, want %+v", s.Problem.Answer, test.spec)
			}
			if s.Scored() != (test.target != "") {
				t.Errorf("scored: %v, with target %q", s.Scored(), test.target)
			}
			if !s.Scored() {
				return
			}
			if !s.Scored() {
				return
			}
			if err := s.Problem.Answer.Check(methods.Answer{Value: s.Target, Outcome: methods.Answered}); err != nil {
				t.Errorf("the target is no answer: %v", err)
			}
		})
	}
}

func TestLoadJSONLFile(t *testing.T) {
	long := strings.Repeat("long ", 2<<20) // 10 MB on one line
	tk, err := loadFile(file(t, "\ufeff"+`{"input":"one","target":1,"metadata":{"group":"g","cluster":"c","level":3}}`+"\r\n"+
		"\r\n  \n"+`{"id":7,"input":"`+long+`","target":"x"}`))
	if err != nil {
		t.Fatal(err)
	}
	if tk.Name != "quiz" || len(tk.Samples) != 2 || !strings.HasPrefix(tk.Source, "file quiz.jsonl, sha256 ") {
		t.Fatalf("got %q of %q with %d samples", tk.Name, tk.Source, len(tk.Samples))
	}
	one, two := tk.Samples[0], tk.Samples[1]
	if one.ID != "1" || one.Group != "g" || one.Cluster != "c" || one.Metadata["level"] != "3" {
		t.Errorf("got %+v", one)
	}
	if two.ID != "7" || two.Problem.Query != long {
		t.Errorf("the long line: id %q, %d bytes", two.ID, len(two.Problem.Query))
	}
}

// TestLoadJSONLOdd: unusual, but right.
func TestLoadJSONLOdd(t *testing.T) {
	for text, want := range map[string]task.Sample{
		`{"input":"q\u2028\ud83d\ude00\u0000","target":""}`: {
			Problem: methods.Problem{Query: "q\u2028😀\x00", Answer: methods.AnswerSpec{Kind: methods.Text}}, Target: json.RawMessage(`""`),
		},
		"{\"input\":\"a\u2028b\u2029c\u0085\",\"target\":[]}": {
			Problem: methods.Problem{Query: "a\u2028b\u2029c\u0085", Answer: methods.AnswerSpec{Kind: methods.Set}}, Target: json.RawMessage(`[]`),
		},
		`{"input":"q\\ud83d","target":123456789012345678901234567890}`: {
			Problem: methods.Problem{Query: `q\ud83d`, Answer: methods.AnswerSpec{Kind: methods.Number}},
			Target:  json.RawMessage(`123456789012345678901234567890`),
		},
	} {
		tk, err := loadFile(file(t, text))
		if err == nil {
			tk.Samples[0].SeedDigest = ""
		}
		if want.ID = "1"; err != nil || !reflect.DeepEqual(tk.Samples, []task.Sample{want}) {
			t.Errorf("%q\n got  %+v, %v\n want %+v", text, tk, err, want)
		}
	}
}

func TestLoadJSONLFaults(t *testing.T) {
	for text, want := range map[string]string{
		``:         "quiz.jsonl has no samples",
		"\ufeff\n": "has no samples",
		`{"id":"a","input":"q","target":1}` + "\n" + `{"id":"a","input":"q","target":1}`:   `quiz.jsonl:2:1: id "a" is already used in line 1`,
		`{"id":"","input":"q","target":1}`:                                                 "the id is empty",
		`{"id":"a","input":{"query":"q","answer":"colour"}}`:                               `there is no such kind`,
		`{"id":"a","input":{"query":"q","answer":"ranking:x,y"}}`:                          `a ranking needs its items`,
		`{"id":"a","input":{"query":"q","answer":"number"},"target":4}`:                    `leave "answer" out`,
		`{"id":"a","input":{"query":"q","labels":["x","y"],"answer":"text"}}`:              `over labels it is "choice" or "set"`,
		`{"id":"a","target":1}`:                                                            `quiz.jsonl: no column is called input, question or prompt: its columns are "id", "target"`,
		`{"input":"q"}` + "\n" + `{"id":"a","target":1}`:                                   `quiz.jsonl:2:1: sample "a" has no input`,
		"\n" + `{"id":"é","input":"q","target":}`:                                          "quiz.jsonl:2:32: invalid character '}'",
		`{"id":"a","input":"q","target":1} {}`:                                             "more than one JSON value",
		`{"id":"a","input":"q","target":1`:                                                 "quiz.jsonl:1:33: the JSON value ends too early",
		`{"id":"a","input":"q","targets":1}`:                                               `quiz.jsonl:1:33: unknown field "targets", did you mean "target"?: the fields are id, input, target, metadata`,
		`{"id":"a","input":"\xff","target":1}`:                                             "invalid character 'x'",
		"{\"id\":\"a\",\"input\":\"\xff\",\"target\":1}":                                   "quiz.jsonl:1:20: invalid UTF-8",
		`{"id":"a","input":3,"target":1}`:                                                  "quiz.jsonl:1:19: the input is neither a text nor an object",
		`{"id":"a","input":{"items":[1,2]},"target":1}`:                                    "input has no query",
		`{"id":"é","input":{"query":"q","item":[1,2]},"target":1}`:                         `quiz.jsonl:1:32: unknown field "item", did you mean "items"?: the fields are query, context, items, labels, k`,
		`{"id":"é","input":{"query":"q","k":"all"},"target":1}`:                            "quiz.jsonl:1:",
		`{"id":"a","input":{"query":"q","context":[1]},"target":1}`:                        "quiz.jsonl:1:",
		`{"id":"a","input":{"query":"q","items":[1,2],"labels":["x"]},"target":1}`:         "the input has both items and labels: keep one",
		`{"id":"a","input":{"query":"q","items":[1,2],"context":{"items":[]}},"target":1}`: "items are given twice: in input and in context",
		`[1,2]`: "quiz.jsonl: element 1: want an object, not a number",
		`{"id":"a","input":{"query":"q","labels":"a"},"target":1}`:           `quiz.jsonl:1:43: "labels" must be a list of texts, not a text`,
		`{"id":"a","input":{"query":"q","k":2.5},"target":1}`:                `"k" must be a whole number, not 2.5`,
		`{"id":"a","input":{"query":"q","items":[]},"target":1}`:             "the sample has no items to rank",
		`{"id":"a","input":{"query":"q","k":2},"target":1}`:                  "k needs items",
		`{"id":"a","input":{"query":"q","items":[1]},"target":1}`:            "the sample has one item: a ranking needs at least two",
		`{"id":"a","input":{"query":"q","items":[1,2],"k":3},"target":1}`:    "k must be 1 to 2, the number of items, not 3",
		`{"id":"a","input":{"query":"q","items":[1,2]},"target":0}`:          "quiz.jsonl:1:56: sample \"a\": target 0 is not within 1..2: items are numbered from 1",
		`{"id":"a","input":{"query":"q","items":[1,2]},"target":[1,3]}`:      "target [1,3] is not within 1..2",
		`{"id":"a","input":{"query":"q","items":[1,2]},"target":[]}`:         "target names no item",
		`{"id":"a","input":{"query":"q","items":[1,2]},"target":"first"}`:    `target "first" is not an item number`,
		`{"id":"a","input":{"query":"q","labels":["x","y"]},"target":"z"}`:   `target "z" is not one of the labels ["x" "y"]`,
		`{"id":"a","input":{"query":"q","labels":["x","y"]},"target":["z"]}`: `target ["z"]: "z" is not one of the labels ["x" "y"]`,
		`{"id":"a","input":"q","target":[1,"x"]}`:                            "is not a list of texts",
		`{"id":"a","input":"q","target":{}}`:                                 "an object without fields",
		`{"id":"a","input":"q","target":1,"metadata":"x"}`:                   "quiz.jsonl:1:",
		`{"id":"a","input":"","target":"x"}`:                                 "quiz.jsonl:1:19: the input is empty",
		`{"id":"a","input":" \t","target":"x"}`:                              "quiz.jsonl:1:19: the input is empty",
		`{"id":"a","input":{"query":" "},"target":"x"}`:                      "quiz.jsonl:1:19: the input has no query",
		`{"id":" ","input":"q","target":"x"}`:                                "the id is empty",
		`{"id":"a","input":"q","target":["x",""]}`:                           `quiz.jsonl:1:32: sample "a": target ["x",""] has an empty text`,
		`{"id":"a","input":"q","target":1e400}`:                              `quiz.jsonl:1:32: sample "a": target 1e400 is not a number`,
		`{"id":"a","input":"é\\\ud83d","target":"x"}`:                        `quiz.jsonl:1:23: \ud83d is half of a character`,
		`{"id":"a","input":"\ude00\ud83d","target":"x"}`:                     `quiz.jsonl:1:20: \ude00 is half`,
		"{\"input\":\"q\",\"target\":1}\n\x00\n":                             "quiz.jsonl:2:1: invalid character '\\x00'",
		"{\"input\":\"q\x00\",\"target\":1}":                                 "quiz.jsonl:1:12: invalid character '\\x00'",
		"{\"input\":\"q\",\"target\":1}\r{\"input\":\"q\",\"target\":1}":     "quiz.jsonl:1:26: more than one JSON value",
		`{"input":"q","target":1}` + "\n\ufeff" + `{"input":"q","target":1}`: "quiz.jsonl:2:1: invalid character",
	} {
		if _, err := loadFile(file(t, text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\n got  %v\n want %s", text, err, want)
		}
	}
	if _, err := loadFile(filepath.Join(t.TempDir(), "none.jsonl")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}

func FuzzRow(f *testing.F) {
	f.Add([]byte(`{"id":"a","input":{"query":"q","items":[1,2],"k":1},"target":[1]}`))
	f.Add([]byte(`{"id":1,"input":"q","target":{"a":1},"metadata":{"x":[]}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		r := &reader{t: &Table{name: "f", format: linesFormat}, seen: map[string]bool{}, ids: map[string]int{}, own: true, task: &task.Task{}}
		if eachJSON(task.Line{File: "f", Number: 1, Raw: raw}, r.row) != nil {
			return
		}
		s := r.task.Samples[0]
		if !s.Scored() {
			return
		}
		if err := s.Problem.Answer.Check(methods.Answer{Value: s.Target, Outcome: methods.Answered}); err != nil {
			t.Fatalf("%s: the target is no answer: %v", raw, err)
		}
		if _, _, err := s.Present(1, true); err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
	})
}

// TestShuffle puts options into an order that each id draws, with the right one first in
// the data; the same rows in two files make the same task.
func TestShuffle(t *testing.T) {
	var b strings.Builder
	b.WriteString("q,right,wrong,worse\n")
	half, rows := "", 40
	for i := range rows {
		fmt.Fprintf(&b, "question %d,right,wrong,worse\n", i)
		if i == rows/2-1 {
			half = b.String()
		}
	}
	whole := b.String()
	m := Mapping{Input: "q", Choices: []string{"right", "wrong", "worse"}, Target: "literal:A", Shuffle: true}
	load := func(texts ...string) *task.Task {
		t.Helper()
		var parts []*Table
		for _, text := range texts {
			part, err := Open(t.Context(), write(t, "x.csv", text))
			if err != nil {
				t.Fatal(err)
			}
			parts = append(parts, part)
		}
		joined, err := Join("all", parts)
		if err != nil {
			t.Fatal(err)
		}
		made, err := Load(joined, m)
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	one, two := load(whole), load(half, "q,right,wrong,worse\n"+strings.TrimPrefix(whole, half))
	at := map[string]int{}
	for i, s := range one.Samples {
		var label string
		if err := json.Unmarshal(s.Target, &label); err != nil || !strings.Contains(s.Problem.Query, label+") right") {
			t.Errorf("sample %s: target %s in %q", s.ID, s.Target, s.Problem.Query)
		}
		at[label]++
		if s.Problem.Query != two.Samples[i].Problem.Query {
			t.Errorf("sample %s of two files is %q", s.ID, two.Samples[i].Problem.Query)
		}
	}
	if at["A"] < 5 || at["B"] < 5 || at["C"] < 5 {
		t.Errorf("the right option is at %v", at)
	}
}

// TestJoin refuses files of several formats.
func TestJoin(t *testing.T) {
	var parts []*Table
	for _, path := range []string{write(t, "a.csv", "q,answer\n"), write(t, "b.jsonl", "{}\n")} {
		part, err := Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, part)
	}
	if _, err := Join("all", parts); err == nil || err.Error() != "open all: a.csv is CSV and b.jsonl is JSON Lines: want one format" {
		t.Errorf("error %v", err)
	}
}
