package builtin

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"noema/kernel/lab"
)

// Every task takes its documented defaults, and says what is wrong with others.
func TestTaskOptions(t *testing.T) {
	for _, entry := range (Catalog{}).Tasks() {
		defaults := map[string]string{}
		for _, o := range entry.Options {
			if o.Doc == "" {
				t.Errorf("%s: option %q is not documented", entry.Name, o.Name)
			}
			if o.Default != "" {
				defaults[o.Name] = o.Default
			}
		}
		given, err := Catalog{}.Task(t.Context(), lab.Spec{Name: entry.Name, Options: defaults})
		if err != nil {
			t.Fatal(err)
		}
		plain, err := Catalog{}.Task(t.Context(), lab.Spec{Name: entry.Name})
		if err != nil || plain.Config != given.Config {
			t.Errorf("%s: %q with its documented defaults, %q without, %v", entry.Name, given.Config, plain.Config, err)
		}
	}
	for _, c := range []struct{ task, option, value, want string }{
		{"cafes", "N", "50", `task "cafes": unknown option "N", did you mean "n"?: the options are n, requests, seed`},
		{"cafes", "n", "1", `option "n": 1 is too small: the minimum is 2`},
		{"cafes", "n", "ten", `option "n": "ten" is not a whole number`},
		{"cafes", "seed", "-1", `option "seed"`},
		{"policy", "policy", "weather", `option "policy": "weather" is not among allergy, hygiene`},
		{"policy", "k", "30", `option "k": "30" is not among 25, 50, 100, 200`},
		{"policy", "restaurants", "0", "the minimum is 1"},
		{"arithmetic", "level", "6", `"6" is not among`},
		{"multihop", "hops", "1", `"1" is not among`},
		{"logs", "rows", "3", "the minimum is 100"},
		{"cafe", "", "", `unknown task "cafe", did you mean "cafes"?`},
	} {
		options := map[string]string{}
		if c.option != "" {
			options[c.option] = c.value
		}
		if _, err := (Catalog{}).Task(t.Context(), lab.Spec{Name: c.task, Options: options}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s?%s=%s: %v, want %q", c.task, c.option, c.value, err, c.want)
		}
	}
}

// A file or folder of no known format is answered with what was looked for and
// the formats that there are.
func TestUnknownFormats(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, c := range []struct {
		path string
		want []string
	}{
		{write("people.csv", "name,age\nAnn,7\n"), []string{`people.csv: no column is called input, question or prompt: its columns are "name", "age"`, "write which column asks and which one answers behind its name: input= and target="}},
		{write("aime.csv", "ID,Problem,Answer\n1,How many?,7\n"), []string{"aime.csv?input=Problem&target=Answer'"}},
		{write("notes.txt", "hello\n"), []string{"notes.txt: its name does not say what it is", "The formats of a task file are:", "FILE.jsonl  one sample a line"}},
		{write("list.json", "{}\n"), []string{"list.json: no column is called input"}},
		// A record made here, of the shape of SQuAD's.
		{write("squad.json", `{"version":"1.1","data":[{"title":"T","paragraphs":[{"context":"C","qas":[{"id":"1","question":"Q","answers":[{"text":"A","answer_start":0}]}]}]}]}`),
			[]string{"its rows are articles, whose questions are deeper, in paragraphs and qas", "jq -c '", "context=context&target=aliases:answers"}},
		{filepath.Dir(write("other/notes.txt", "x")), []string{"found none of logs.yaml, restaurants.jsonl and dataset_K….jsonl", "FOLDER  logs of your own", "FOLDER  the public policy format"}},
		{filepath.Dir(write("part/reviews.jsonl", "{}\n")), []string{"restaurants.jsonl is missing: the folder needs"}},
	} {
		_, err := Catalog{}.Task(t.Context(), lab.Spec{Name: c.path})
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", c.path, err, want)
			}
		}
	}
}
