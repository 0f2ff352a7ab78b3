package table

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"

	"noema/kernel/task"
	"noema/methods/methodtest"
)

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func gz(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	return b.String()
}

func zst(t *testing.T, text string) string {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(w.EncodeAll([]byte(text), nil))
}

type quizRow struct {
	Question string   `parquet:"question,dict"`
	Options  []string `parquet:"options,list"`
	Answer   *string  `parquet:"answer,optional"`
}

// quiz is the same three rows in every format.
func quiz(t *testing.T) map[string]string {
	t.Helper()
	csv := "question,options,answer\n\"Which, \"\"x\"\" or y?\",\"[\"\"x\"\", \"\"y\"\"]\",B\n\"two\nlines é\",\"['a', 'b']\",a\nopen,\"[1,2]\",\n"
	lines := `{"question":"Which, \"x\" or y?","options":["x","y"],"answer":"B"}` + "\n" +
		`{"question":"two\nlines é","options":["a","b"],"answer":"a"}` + "\n" + `{"question":"open","options":[1,2],"answer":null}` + "\n"
	b, a := "B", "a"
	var packed bytes.Buffer
	w := parquet.NewGenericWriter[quizRow](&packed)
	if _, err := w.Write([]quizRow{{`Which, "x" or y?`, []string{"x", "y"}, &b}, {"two\nlines é", []string{"a", "b"}, &a}, {"open", []string{"1", "2"}, nil}}); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	list := "[" + strings.Join(strings.Split(strings.TrimSpace(lines), "\n"), ",\n ") + "]"
	return map[string]string{
		"quiz.csv": csv, "quiz.tsv": strings.NewReplacer(",\"[", "\t\"[", "]\",", "]\"\t", "question,options,answer", "question\toptions\tanswer").Replace(csv),
		"quiz.json": list, "quiz.jsonl": lines, "quiz.ndjson": lines, "quiz.parquet": packed.String(),
		"quiz.csv.gz": gz(t, csv), "quiz.jsonl.zst": zst(t, lines), "quiz.json.gz": gz(t, list),
	}
}

// TestFormats reads the same rows in every format to the same task.
func TestFormats(t *testing.T) {
	digests := map[string]string{}
	for name, content := range quiz(t) {
		if name == "quiz.csv" { // a byte order mark and Windows' line ends change nothing
			content = "\ufeff" + strings.ReplaceAll(content, "\n", "\r\n")
		}
		made, err := loadFile(write(t, name, content))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(made.Samples) != 3 || made.Name != "quiz" {
			t.Fatalf("%s: %d samples of %q", name, len(made.Samples), made.Name)
		}
		digest, err := made.Digest()
		if err != nil {
			t.Fatal(err)
		}
		digests[digest] += name + " "
		s := made.Samples[1]
		if s.Problem.Query != "two\nlines é\n\nA) a\nB) b" || string(s.Target) != `"A"` || made.Samples[2].Scored() {
			t.Errorf("%s: %q, target %s", name, s.Problem.Query, s.Target)
		}
		if want := `the input is the column "question", the target "answer", the options "options"`; made.Notes[0] != want {
			t.Errorf("%s: notes %q", name, made.Notes)
		}
	}
	if len(digests) != 1 {
		t.Errorf("the formats give different tasks: %v", digests)
	}
}

// TestArrow reads files that pyarrow 26 wrote: the layout of ARC, and one column of
// each type.
func TestArrow(t *testing.T) {
	made, err := loadMapped("testdata/arc.parquet", Mapping{Target: "answerKey"})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{`"2" [1 2 3] M0`, `"B" [A B C] M1`} {
		s := made.Samples[i]
		if got := fmt.Sprintf("%s %v %s", s.Target, s.Problem.Answer.Labels, s.ID); got != want {
			t.Errorf("ARC: %s, want %s", got, want)
		}
	}
	made, err = loadMapped("testdata/odd.parquet", Mapping{Context: []string{"d", "t", "m", "nested", "s", "s.y", "u", "big"}})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"big":true,"d":"2020-01-02","m":{"k":1},"nested":[[1,2],[],null,[3]],"s":{"x":null,"y":[{"z":1}]},"s.y":[{"z":1}],"t":"2020-01-02T03:04:05.000006Z","u":1099511627776}`
	if s := made.Samples[0]; string(s.Problem.Context) != want || string(s.Target) != "-12.5" {
		t.Errorf("types: %s, target %s", s.Problem.Context, s.Target)
	}
	for path, m := range map[string]Mapping{"testdata/image.parquet": {}, "testdata/odd.parquet": {Context: []string{"b"}}} {
		if _, err := loadMapped(path, m); err == nil || !strings.Contains(err.Error(), "row 1: column") || !strings.Contains(err.Error(), "methods read text alone") {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestMappings(t *testing.T) {
	const people = "qid,q,passage,right,others,topic\n7,Who?,Ada wrote.,Ada,\"['A. L.', 'Ada']\",x\n8,What?,A book.,12,,y\n"
	for name, c := range map[string]struct {
		m    Mapping
		want string // kind, id, query, context, target, group of the first sample
	}{
		"text":     {Mapping{Input: "q", Target: "right", ID: "qid", Context: []string{"passage"}, Group: "topic"}, `text 7 "Who?" {"passage":"Ada wrote."} "Ada" x`},
		"aliases":  {Mapping{Input: "q", Target: "aliases:right,others"}, `text 1 "Who?"  ["Ada","A. L."] `},
		"set":      {Mapping{Input: "q", Target: "set:others"}, `set 1 "Who?"  ["A. L.","Ada"] `},
		"list":     {Mapping{Input: "q", Target: "list:others"}, `text 1 "Who?"  "A. L., Ada" `},
		"literal":  {Mapping{Input: "q", Target: "literal:yes", Labels: []string{"no", "yes"}}, `choice 1 "Who?"  "yes" `},
		"columns":  {Mapping{Input: "q", Choices: []string{"right", "passage", "topic"}, ID: "row"}, `choice 1 "Who?\n\nA) Ada\nB) Ada wrote.\nC) x"   `},
		"no label": {Mapping{Input: "q", Labels: []string{"no", "yes"}}, `choice 1 "Who?"   `},
	} {
		made, err := loadMapped(write(t, "people.csv", people), c.m)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		s := made.Samples[0]
		if got := fmt.Sprintf("%s %s %q %s %s %s", s.Problem.Answer.Kind, s.ID, s.Problem.Query, s.Problem.Context, s.Target, s.Group); got != c.want {
			t.Errorf("%s:\n got  %s\n want %s", name, got, c.want)
		}
	}
	for want, m := range map[string]Mapping{
		`no column is called "passages", did you mean "passage"?`:   {Input: "passages"},
		`people.csv:2: column "right": sample "1": target "Ada" is`: {Input: "q", Target: "number:right"},
		`"Ada" is neither a label nor the text`:                     {Input: "q", Target: "right", Labels: []string{"a", "b"}},
		`letter: needs options`:                                     {Input: "q", Target: "letter:right"},
		`would show the target to methods`:                          {Input: "q", Target: "right", Context: []string{"right"}},
		`write id=row to number the samples`:                        {Input: "q", ID: "passage"},
		`want a list, not "x", such as ["a","b"]`:                   {Input: "q", Target: "set:topic"},
		`want at least two options`:                                 {Input: "q", Choices: []string{"others", "right"}},
	} {
		text := people
		if m.ID == "passage" {
			text = strings.ReplaceAll(text, "A book.", "Ada wrote.")
		}
		if m.Choices != nil {
			text = strings.ReplaceAll(text, "12,,", ",12,")
		}
		if _, err := loadMapped(write(t, "people.csv", text), m); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", m, err, want)
		}
	}
}

// TestTargetsOfOptions: what may be a letter, a text or a number is never guessed.
func TestTargetsOfOptions(t *testing.T) {
	for row, want := range map[string]string{
		`{"question":"q","choices":["x","y"],"answer":1}`:                        `"B"`,
		`{"question":"q","choices":["x","y"],"answer":"y"}`:                      `"B"`,
		`{"question":"q","choices":["x","y"],"answer":"A"}`:                      `"A"`,
		`{"question":"q","choices":{"C":"x","D":"y"},"answer":"D"}`:              `"D"`,
		`{"question":"q","choices":["x","y"],"answer":2}`:                        `2 is not the number of one of 2 options: write index:`,
		`{"question":"q","choices":["x","y"],"answer":"1"}`:                      `"1" is neither a label nor the text of an option: write index:`,
		`{"question":"q","choices":["B","A"],"answer":"A"}`:                      `"A" is the label of one option and the text of another`,
		`{"question":"q","choices":["x","x"],"answer":"x"}`:                      `"x" is the text of two options`,
		`{"question":"q","choices":{"text":["x","y"],"label":["1"]},"answer":1}`: `2 texts and 1 labels`,
		`{"question":"q","choices":["x","y"],"answer":["A","B"]}`:                `the target is a list: write target=aliases:answer`,
		`{"question":"q","answer":["A","B"]}`:                                    `the target is a list: write target=aliases:answer`,
		`{"question":"q","choices":"x,y","answer":"x"}`:                          `want a list, not "x,y"`,
		`{"input":{"query":"q","labels":["x"]},"choices":["x","y"]}`:             `keep one`,
	} {
		made, err := loadFile(write(t, "q.jsonl", row))
		if err == nil && string(made.Samples[0].Target) != want || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v, want %s", row, made, err, want)
		}
	}
}

// TestConversations: turns are shown with who says them, and nothing is left out.
func TestConversations(t *testing.T) {
	user := `{"role":"user","content":"Hi","id":"m1","source":null}`
	for input, want := range map[string]string{
		`[` + user + `]`: "Hi",
		`[{"role":"system","content":"Be terse."},` + user + `,{"role":"assistant","content":"Yes?","tool_calls":null},{"role":"user","content":[{"type":"text","text":"Go."}]}]`: "system: Be terse.\n\nuser: Hi\n\nassistant: Yes?\n\nuser: Go.",
		`[{"role":"assistant","content":"Hi"}]`: `q.jsonl:1:10: the messages must end with one of the user`,
		`[]`:                                    `must end with one of the user`,
		`[{"role":"tool","content":"4"},` + user + `]`:                                                       `message 1: the role is "tool"`,
		`[{"role":"assistant","content":"","tool_calls":[{"id":"1"}]},` + user + `]`:                         `message 1: it calls tools`,
		`[{"role":"user","content":[{"type":"text","text":"See"},{"type":"image","image":"data:image/x"}]}]`: `message 1: it holds a part of type "image": methods read text alone`,
		`["Hi"]`:         "Hi",
		`["Hi", "And?"]`: `it is a list of 2 turns`,
		`[" "]`:          `the input is empty`,
		`["Hi", 7]`:      `want a text, or a list of messages`,
	} {
		made, err := loadFile(write(t, "q.jsonl", `{"input":`+input+`,"target":"x"}`))
		if err == nil && made.Samples[0].Problem.Query != want || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v, want %s", input, made, err, want)
		}
	}
}

// TestRefused: what cannot be read is refused with the place and the cure.
func TestRefused(t *testing.T) {
	own := `{"input":"q","target":"a",`
	for _, c := range []struct{ name, content, want string }{
		{"people.csv", "name,age\nAnn,7\n", "its columns are \"name\", \"age\"\nwrite which column asks and which one answers behind its name: input= and target="},
		{"two.csv", "question,prompt,answer\na,b,c\n", `the columns "question", "prompt" may each be the input: say which`},
		{"semi.csv", "question;answer\nq;a\nq,b\n", "semi.csv:1: the header is one column, \"question;answer\": write separator=semicolon"},
		{"latin.csv", "question,answer\nq,caf\xe9\n", "latin.csv:2:6: invalid UTF-8: it is Latin-1"},
		{"ragged.csv", "question,answer\nq,a\nq,a,b\n", "ragged.csv:3: 3 cells, where the header has 2 columns"},
		{"bare.csv", "question,answer\nsay \"x\",a\n", "bare.csv:2:5: a quote inside a cell"},
		{"open.csv", "question,answer\nq,a\n\"never closed,a\n", "in the record that begins in line 3"},
		{"twice.csv", "question,answer,answer\nq,a,b\n", `twice.csv:1: two columns are called "answer"`},
		{"empty.csv", "", "empty.csv has no samples"},
		{"header.csv", "question,answer\n", "header.csv has no samples"},
		{"wide.csv", "\xff\xfeq\x00", "its content is UTF-16: save it as UTF-8"},
		{"sheet.csv", "PK\x03\x04rest", "its content is a zip archive or a workbook"},
		{"packed.csv", "\x1f\x8b\x08rest", "packed with gzip: add .gz to its name"},
		{"page.json", "<!DOCTYPE html>", "a web page, not the data"},
		{"lfs.parquet", "version https://git-lfs.github.com/spec/v1", "a pointer of Git LFS"},
		{"text.parquet", "hello", "it is not a Parquet file"},
		{"cut.parquet", "PAR1rest", "cut.parquet: "},
		{"cut.jsonl.gz", gz(t, strings.Repeat(`{"input":"q"}`+"\n", 1000))[:40], "cut off"},
		{"not.jsonl.gz", "plain", "not packed as its name says"},
		{"not.csv.zst", "plain", "not.csv.zst"},
		{"old.csv.bz2", "BZh", ".bz2 files are not read"},
		{"book.xlsx", "PK", ".xlsx files are not read"},
		{"object.json", `{"data":[{"question":"q"}],"more":[{"question":"q"}]}`, `two lists of objects, "data" and "more"`},
		{"numbers.json", `{"data":[1,2]}`, `its columns are "data"`},
		{"columns.json", `{"question":{"0":"q"},"answer":{"0":"a"}}`, `in pandas with orient="records"`},
		{"list.json", `[{"question":"q"},7]`, "list.json: element 2: want an object, not a number"},
		{"cut.json", `[{"question":"q"},{"question"`, "cut.json: element 2: unexpected EOF"},
		{"late.jsonl", `{"question":"q","answer":"a"}` + "\n" + `{"question":"q","answer":"a","target":"b"}`, `late.jsonl:2:1: the input was taken from "question" and the target from "answer"`},
		{"never.jsonl", `{"question":{"a":1}}`, "the input is neither a text nor an object"},
		{"sandbox.jsonl", own + `"sandbox":{"type":"docker"}}`, `wants a sandbox to run in ("sandbox"), which methods do not have`},
		{"files.jsonl", own + `"files":{"a":"b"}}`, `wants files in a sandbox ("files")`},
		{"setup.jsonl", own + `"setup":"ls"}`, `wants a script in a sandbox ("setup")`},
	} {
		if _, err := loadFile(write(t, c.name, c.content)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// TestObjectAroundTheRows: rows are read alike whether they are a list or the one list of an
// object, on one line or several, packed or not; and an object that is a row is a row.
func TestObjectAroundTheRows(t *testing.T) {
	rows := `[{"id":"a","question":"q{[\"1","answer":"x"},{"id":"b","question":"2","answer":"y"}]`
	want, err := loadFile(write(t, "rows.json", rows))
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x", 3000) // more than is looked at to tell formats apart
	for i, text := range []string{
		`{"data":` + rows + `}`, `{"version":"1.1","of":{"deep":[{"question":"no"}]},"data":` + rows + `,"n":[1,2]}` + "\n",
		" {\"about\":\"" + long + "\",\"data\":" + rows + "}\r\n\r\n", "{\n\"data\":\n" + rows + "\n}", `{"about":"` + long + "\",\n\"data\":" + rows + "}",
	} {
		for name, content := range map[string]string{fmt.Sprint("rows", i, ".json"): text, fmt.Sprint("rows", i, ".json.gz"): gz(t, text)} {
			made, err := loadFile(write(t, name, content))
			if err != nil || !reflect.DeepEqual(made.Samples, want.Samples) {
				t.Errorf("%s: %v\n%.200s", name, err, text)
			}
		}
	}
	for name, text := range map[string]string{
		"one.json":   `{"question":"q","answer":"a","notes":[{"by":"me"}]}`,
		"lines.json": `{"question":"q","answer":"a"}` + "\n" + `{"question":"r","answer":"b"}`,
	} {
		if made, err := loadFile(write(t, name, text)); err != nil || len(made.Samples) != strings.Count(text, "answer") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNotes(t *testing.T) {
	for content, want := range map[string]string{
		"question,answer,x\nq,1,\n": "not used: \"x\"\nevery target is a number written as a text, and compared as a text: write target=number:answer to ask for numbers",
		"question,x\nq,1\n":         "nothing is scored without target=COLUMN",
		"input,target\nq,a\n":       `the input is the column "input", the target "target"`,
		`[{"question":"q","choices":["x","y","z"],"answer":1},{"question":"q","choices":["x","y"],"answer":1}]`: "none is 0: if they count from 1, write target=position:answer",
	} {
		name := "n.csv"
		if content[0] == '[' {
			name = "n.json"
		}
		made, err := loadFile(write(t, name, content))
		if err != nil || !strings.Contains(strings.Join(made.Notes, "\n"), want) {
			t.Errorf("%s: %+v, %v", content, made, err)
		}
	}
	made, err := loadFile(write(t, "own.jsonl", `{"id":"a","input":"q","target":["x"],"metadata":null}`))
	if err != nil || made.Notes != nil {
		t.Errorf("noema's own form needs no note: %+v, %v", made, err)
	}
}

// TestNumeralsAreTold: wherever targets that are compared as texts are numbers, all or some, in
// whichever form the file is and is mapped, a note says so; where none is, or numbers are asked for,
// none does.
func TestNumeralsAreTold(t *testing.T) {
	random := rand.New(rand.NewPCG(13, 2))
	numbers, words := []string{"7", "-24", "1.5", "3/4", "10%", "$5", "1,000", ".5", "2e3"}, []string{"Ada", "C++", "7 of 9", "x7", "U.S.", "10 apples"}
	for range 200 {
		var own, rows strings.Builder
		n, numerals := 1+random.IntN(6), 0
		for i := range n {
			text := words[random.IntN(len(words))]
			if random.IntN(3) == 0 {
				text = numbers[random.IntN(len(numbers))]
				numerals++
			}
			fmt.Fprintf(&own, "{\"id\":\"%d\",\"input\":\"q\",\"target\":%q}\n", i, text)
			fmt.Fprintf(&rows, "{\"id\":\"%d\",\"q\":\"q\",\"right\":%q,\"others\":[\"none\"],\"z\":{\"x\":%[2]q}}\n", i, text)
		}
		for form, c := range map[string]struct {
			content string
			m       Mapping
		}{
			"own": {own.String(), Mapping{}}, "plain": {rows.String(), Mapping{Input: "q", Target: "right"}}, "text": {rows.String(), Mapping{Input: "q", Target: "text:right"}},
			"aliases": {rows.String(), Mapping{Input: "q", Target: "aliases:right,others"}}, "nested": {rows.String(), Mapping{Input: "q", Target: "z.x"}},
		} {
			table, err := Open(t.Context(), write(t, "t.jsonl", c.content))
			if err != nil {
				t.Fatal(err)
			}
			made, err := Load(table, c.m)
			if err != nil {
				t.Fatalf("%s: %v", form, err)
			}
			want := map[bool]string{true: "every target is a number written as a text", false: fmt.Sprintf("%d of %d targets are numbers written as texts", numerals, n)}[numerals == n]
			if got := strings.Join(made.Notes, "\n"); strings.Contains(got, "written as") != (numerals > 0) || numerals > 0 && !strings.Contains(got, want) {
				t.Errorf("%s of\n%s\nnotes %q, want %q", form, c.content, got, want)
			}
		}
	}
}

// TestDamagedParquet: a file with any byte changed is read or refused, and soon.
func TestDamagedParquet(t *testing.T) {
	whole, err := os.ReadFile("testdata/arc.parquet")
	if err != nil {
		t.Fatal(err)
	}
	step := 13
	if os.Getenv("NOEMA_BENCH") != "" {
		step = 1
	}
	path := write(t, "arc.parquet", "")
	refused := 0
	for i := 4; i < len(whole); i += step {
		for _, mask := range []byte{0x01, 0x80, 0xff} {
			damaged := bytes.Clone(whole)
			damaged[i] ^= mask
			if err := os.WriteFile(path, damaged, 0o600); err != nil {
				t.Fatal(err)
			}
			var err error
			took := methodtest.CPU(func() { _, err = loadMapped(path, Mapping{Target: "answerKey"}) })
			if err != nil {
				refused++
			}
			if took > 5*time.Second {
				t.Fatalf("byte %d took %v", i, took)
			}
		}
	}
	if refused == 0 {
		t.Error("no damage was noticed")
	}
}

// FuzzCSV: whatever a CSV holds, each row has a cell for each column, and each cell
// is a text.
func FuzzCSV(f *testing.F) {
	f.Add([]byte("a,b\n1,\"x\ny\"\n"))
	f.Add([]byte("\ufeffa;b\r\n\"\",é\r\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		table := &Table{name: "f.csv", format: csvFormat, comma: ','}
		_ = table.eachCSV(bytes.NewReader(raw), func(r Row) error {
			for _, name := range r.Columns() {
				cell, err := r.Cell(name)
				if err != nil || cell != nil && (cell[0] != '"' || !json.Valid(cell)) {
					t.Fatalf("cell %q is %s (%v)", name, cell, err)
				}
			}
			return nil
		})
	})
}

// TestBooleansAndLetters: over random labels, spellings and booleans, a target is taken for
// the one label that it can mean, and refused where there is none or more than one.
func TestBooleansAndLetters(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	spellings := []string{"yes", "Yes", "YES", "no", "No", "true", "True", "false", "FALSE", "maybe", "Maybe"}
	taken, refused := 0, 0
	for range 5000 {
		var labels []string
		for _, i := range random.Perm(len(spellings))[:2+random.IntN(3)] {
			labels = append(labels, spellings[i])
		}
		text := spellings[random.IntN(len(spellings))]
		target := json.RawMessage(strconv.Quote(text))
		if random.IntN(2) == 0 {
			text = []string{"true", "false"}[random.IntN(2)]
			target = json.RawMessage(text)
		}
		label, ok := meant(target, labels)
		means := map[string]string{"true": "yes", "false": "no"}[text]
		var could []string
		for _, l := range labels {
			if strings.EqualFold(l, text) || means != "" && strings.EqualFold(l, means) {
				could = append(could, l)
			}
		}
		switch {
		case ok && !slices.Contains(could, label):
			t.Fatalf("%s of %q is taken for %q", target, labels, label)
		case ok && slices.Contains(labels, text) && label != text:
			t.Fatalf("%s of %q is taken for %q, although it is one of them", target, labels, label)
		case !ok && len(could) == 1:
			t.Fatalf("%s of %q is refused", target, labels)
		case ok:
			taken++
		default:
			refused++
		}
	}
	if taken < 500 || refused < 500 {
		t.Errorf("one-sided: %d taken, %d refused", taken, refused)
	}
}

// TestObjectsOverLines: rows are found in an object that holds them, and what has none, or
// two lists, is refused for that reason.
func TestObjectsOverLines(t *testing.T) {
	rows := "[\n{\"question\": \"q1\", \"answer\": true},\n{\"question\": \"q2\", \"answer\": false}\n]"
	for text, want := range map[string]string{
		"{\n\"version\": 2,\n\"data\": " + rows + "\n}":                                 "",
		"{\"data\": " + rows + ",\n\"labels\": [\"a\", \"b\"]}":                         "",
		"{\n\"meta\": {\"a\": [1, {\"b\": [2]}]}, \"labels\": [], \"x\": " + rows + "}": "",
		"{\n\"train\": " + rows + ", \"test\": " + rows + "}":                           `two lists of objects, "train" and "test"`,
		"{\n\"question\": \"q\", \"answer\": \"a\"\n}":                                  "one JSON object without a list of objects",
		"{\n\"a\": {\"question\": \"q\"},\n\"b\": {\"questions\": \"r\"}\n}":            "one JSON object without a list of objects",
		"{\n\"data\": " + rows + "\n} {}":                                               "something follows the JSON",
		"{\n\"data\": " + rows[:40]:                                                     "unexpected EOF",
	} {
		path := filepath.Join(t.TempDir(), "rows.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		opened, err := Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		loaded, err := Load(opened, Mapping{})
		if want != "" {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s\ngives %v, want %q", text, err, want)
			}
			continue
		}
		if err != nil || len(loaded.Samples) != 2 || string(loaded.Samples[0].Target) != `"yes"` || string(loaded.Samples[1].Target) != `"no"` {
			t.Errorf("%s\ngives %v, %v", text, loaded, err)
		}
	}
}

// TestOneShapeAfterTheOther: the same rows are read from a list, from an object around it, from lines, and from objects
// written one after the other over several lines, with and without a byte order mark; what follows them is refused.
func TestOneShapeAfterTheOther(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 7))
	for i := range 60 {
		rows := make([]any, 2+r.IntN(3))
		for n := range rows {
			row := map[string]any{"sQuestion": fmt.Sprintf("q%d [}", n), "target": strings.Repeat("x", r.IntN(900)), "id": fmt.Sprint("s", n)}
			if r.IntN(2) == 0 {
				row["steps"] = []any{map[string]any{"by": "me", "of": []any{1, []any{}}}}
			}
			rows[n] = row
		}
		around, lines, over := map[string]any{"about": "x", "data": rows}, &strings.Builder{}, &strings.Builder{}
		encodedLines, encodedOver := json.NewEncoder(lines), json.NewEncoder(over)
		encodedOver.SetIndent("", "  ")
		for _, row := range rows {
			if err := errors.Join(encodedLines.Encode(row), encodedOver.Encode(row)); err != nil {
				t.Fatal(err)
			}
		}
		list, err := json.MarshalIndent(rows, "", strings.Repeat(" ", r.IntN(3)))
		if err != nil {
			t.Fatal(err)
		}
		object, err := json.Marshal(around)
		if err != nil {
			t.Fatal(err)
		}
		var want []task.Sample
		for name, text := range map[string]string{
			"list.json": string(list), "object.json": string(object), "lines.jsonl": lines.String(), "lines.json": lines.String(),
			"over.json": over.String(), "over.jsonl": over.String(), "glued.json": strings.ReplaceAll(over.String(), "}\n{", "} {"),
		} {
			if r.IntN(2) == 0 {
				text = "\ufeff" + text
			}
			if r.IntN(4) == 0 {
				name, text = name+".gz", gz(t, text)
			}
			made, err := loadMapped(write(t, name, text), Mapping{Input: "sQuestion"})
			if err != nil {
				t.Fatalf("%d: %s: %v\n%.300s", i, name, err, text)
			}
			if want == nil {
				want = made.Samples
			}
			if !reflect.DeepEqual(made.Samples, want) {
				t.Errorf("%d: %s holds other samples:\n%.300s", i, name, text)
			}
		}
		for _, rest := range []string{"]", "}", "{", "7", "{\n", "null"} {
			if made, err := loadMapped(write(t, "over.json", over.String()+rest), Mapping{Input: "sQuestion"}); err == nil {
				t.Errorf("%d: %q is taken behind the objects: %d samples", i, rest, len(made.Samples))
			}
		}
	}
	if made, err := loadFile(write(t, "excel.csv", "\ufeff\"question\",answer\nq,a\n")); err != nil || len(made.Samples) != 1 {
		t.Errorf("a mark before a quoted header: %v", err)
	}
}
