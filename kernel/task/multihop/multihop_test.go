package multihop

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"noema/kernel/task"
	"noema/kernel/task/table"
	"noema/methods"
)

// TestEveryAnswerFollowsFromTheArticles follows each question through the
// sections that its relations are stated in, as a reader would, and must arrive
// at the gold answer; and the section alone must say it.
func TestEveryAnswerFollowsFromTheArticles(t *testing.T) {
	made, err := New(Options{Questions: 60, Words: 400, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	if len(made.Samples) != 60 {
		t.Fatalf("%d questions", len(made.Samples))
	}
	groups := map[string]int{}
	for _, s := range made.Samples {
		groups[s.Group]++
		q, err := ReadQuestion(s.Problem.Query)
		if err != nil {
			t.Fatal(err)
		}
		var gold struct {
			Answer   string
			Evidence []string
		}
		if err := json.Unmarshal(s.Target, &gold); err != nil {
			t.Fatal(err)
		}
		var context struct {
			Articles []struct{ Title, Text string }
		}
		if err := json.Unmarshal(s.Problem.Context, &context); err != nil || len(context.Articles) != 12 {
			t.Fatalf("%d articles (%v)", len(context.Articles), err)
		}
		at := q.Start
		for i, name := range q.Chain {
			if gold.Evidence[i] != at {
				t.Errorf("%s: evidence %d is %q, not %q", s.ID, i, gold.Evidence[i], at)
			}
			r, _ := FindRelation(name)
			at = r.Read(section(t, made, at, r.Section), at)
		}
		if at != gold.Answer {
			t.Errorf("%s %q: the articles lead to %q, the target is %q", s.ID, s.Problem.Query, at, gold.Answer)
		}
	}
	if groups["2 hops"] != 19 || groups["3 hops"] != 21 || groups["4 hops"] != 20 { // the first is seed 003's, of 3 hops
		t.Errorf("groups are %v", groups)
	}
	if q := made.Samples[0].Problem.Query; q != "What is the capital of the birthplace of the director of Inception?" {
		t.Errorf("seed 003's question is %q", q)
	}
}

func section(t *testing.T, made *task.Task, title, name string) string {
	t.Helper()
	raw, err := json.Marshal(map[string]string{"url": title, "section": name})
	if err != nil {
		t.Fatal(err)
	}
	r, err := made.Environment.Call(t.Context(), methods.ToolCall{Name: "read_section", Arguments: raw})
	if err != nil || r.IsError {
		t.Fatalf("read %s of %s: %s (%v)", name, title, r.Content, err)
	}
	var got struct{ Text string }
	if err := json.Unmarshal([]byte(r.Content), &got); err != nil {
		t.Fatal(err)
	}
	return got.Text
}

func TestSameOptionsSameTask(t *testing.T) {
	digest := func(o Options) string {
		made, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		d, err := made.Digest()
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	o := Options{Questions: 12, Words: 200}
	if first, again := digest(o), digest(o); first != again {
		t.Error("the same options give two tasks")
	}
	o.Wikipedia = "http://127.0.0.1:1"
	if digest(Options{Questions: 12, Words: 200}) != digest(o) {
		t.Error("where articles come from makes another task")
	}
}

func TestOptionsOutOfRange(t *testing.T) {
	for _, o := range []Options{{Hops: 5}, {Hops: 1}, {Words: 7}, {Articles: 1000}, {Questions: -1}} {
		if _, err := New(o); err == nil {
			t.Errorf("%+v was accepted", o)
		}
	}
}

func TestPublicData(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) *table.Table {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		rows, err := table.Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		return rows
	}
	made, err := LoadMuSiQue(write("m.jsonl", `{"id":"2hop__1","question":"Who wrote x?","answer":"Ada","answer_aliases":["A. L."],"answerable":true,"question_decomposition":[{},{}],"paragraphs":[{"idx":0,"title":"X","paragraph_text":"X was written by Ada. It is long.","is_supporting":true},{"idx":1,"title":"Y","paragraph_text":"No.","is_supporting":false}]}
{"id":"2hop__2","question":"?","answer":"","answerable":false,"paragraphs":[]}
`), false)
	if err != nil || len(made.Samples) != 1 || made.Samples[0].Group != "2 hops" || string(made.Samples[0].Target) != `{"answer":"Ada","aliases":["A. L."],"evidence":["X"]}` {
		t.Fatalf("MuSiQue gives %+v (%v)", made, err)
	}
	if got := section(t, made, "X", "Text"); got != "X was written by Ada. It is long." {
		t.Errorf("its paragraph is %q", got)
	}
	made, err = LoadHotpotQA(write("h.json", `[{"_id":"h1","question":"Q?","answer":"yes","type":"comparison","level":"easy","supporting_facts":[["A",0],["A",1],["B",0]],"context":[["A",["One.", " Two."]],["B",["Three."]],["A",["Another."]]]}]`))
	if err != nil || string(made.Samples[0].Target) != `{"answer":"yes","evidence":["A","B"]}` {
		t.Fatalf("HotpotQA gives %+v (%v)", made, err)
	}
	if got := section(t, made, "A", "Text 2"); got != "Another." {
		t.Errorf("a second paragraph of one title is %q", got)
	}
	made, err = LoadHotpotQA(write("t.json", `[{"question":"Q?","answer":"yes","context":[["2016 Open",["A."]],["2017 Open",["B."]],["AIDS",["C."]],["Aids",["D."]]]},{"question":"R?","answer":"no","context":[["2016 Open",["A."]]]}]`))
	if err != nil || made.Reading.What != "1 to 4 paragraphs" {
		t.Fatalf("titles that differ in a year or in case give %+v (%v)", made, err)
	}
	for title, want := range map[string]string{"2016 Open": "A.", "2017 Open": "B.", "AIDS": "C.", "Aids": "D."} {
		if got := section(t, made, title, "Text"); got != want {
			t.Errorf("the paragraph of %q is %q, want %q", title, got, want)
		}
	}
	for name, text := range map[string]string{"a.json": `[{"question":"x"}]`, "b.json": `{}`, "c.json": `[]`, "d.json": `[{"supporting_facts":[["A"]]}]`} {
		if _, err := LoadHotpotQA(write(name, text)); err == nil {
			t.Errorf("%s is no error", text)
		}
	}
	if _, err := LoadMuSiQue(write("n.jsonl", `{"question":"x"}`), false); err == nil || !strings.Contains(err.Error(), "n.jsonl") {
		t.Errorf("a broken line gives %v", err)
	}
}

// TestRepacked reads the same questions as data sets are repacked: as a list, with
// JSON inside texts, in the hub's form, and without paragraphs beside a corpus.
func TestRepacked(t *testing.T) {
	read := func(name, text string) (table.Row, *table.Table) {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		rows, err := table.Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		first, err := rows.First()
		if err != nil {
			t.Fatal(err)
		}
		return first, rows
	}
	const gold = `{"answer":"Ada","aliases":["A. L."],"evidence":["X"]}`
	for name, text := range map[string]string{
		"list.json": `[{"id":"2hop__1","question":"Who wrote x?","answer":"Ada","answer_aliases":["A. L."],"question_decomposition":[{},{}],"paragraphs":[{"title":"X","paragraph_text":"By Ada.","is_supporting":true}]}]`,
		"texts.csv": "id,question,answer,answer_aliases,question_decomposition,paragraphs\n" +
			`2hop__1,Who wrote x?,Ada,"[""A. L.""]","[{},{}]","[{""title"":""X"",""paragraph_text"":""By Ada."",""is_supporting"":true}]"` + "\n",
	} {
		first, rows := read(name, text)
		made, err := LoadMuSiQue(rows, false)
		if !IsMuSiQue(first) || err != nil || string(made.Samples[0].Target) != gold || made.Samples[0].Group != "2 hops" {
			t.Errorf("%s gives %+v (%v)", name, made, err)
		}
	}
	bare := `{"question":"Who wrote x?","answer":"Ada","question_decomposition":"[{},{}]"}`
	if _, rows := read("bare.jsonl", bare); true {
		if _, err := LoadMuSiQue(rows, false); err == nil || !strings.Contains(err.Error(), "bare.jsonl:1:1: the paragraphs are missing: write corpus=FOLDER") {
			t.Errorf("without paragraphs: %v", err)
		}
		made, err := LoadMuSiQue(rows, true)
		if err != nil || made.Samples[0].Problem.Context != nil || made.Reading != nil {
			t.Errorf("beside a corpus it gives %+v (%v)", made, err)
		}
	}
	hub := `{"id":"h1","question":"Q?","answer":"yes","type":"bridge","supporting_facts":{"title":["A","B","A"],"sent_id":[0,1,1]},"context":{"title":["A","B"],"sentences":[["One."," Two."],["Three."]]}}`
	first, rows := read("hub.jsonl", hub)
	made, err := LoadHotpotQA(rows)
	if !IsHotpotQA(first) || err != nil || string(made.Samples[0].Target) != `{"answer":"yes","evidence":["A","B"]}` || made.Samples[0].ID != "h1" {
		t.Errorf("the hub's form gives %+v (%v)", made, err)
	}
	if first, _ := read("squad.jsonl", `{"question":"Q?","answer":"yes","context":"A text."}`); IsHotpotQA(first) {
		t.Error("a text as the context is taken for HotpotQA")
	}
}
