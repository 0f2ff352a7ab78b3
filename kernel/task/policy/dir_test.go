package policy

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"noema/methods"
)

// folder is a small one in the public shape.
func folder() map[string]string {
	return map[string]string{
		"dataset_K2.jsonl": `{"business_id": "b-1", "business": {"business_id": "b-1", "name": "Blue Spoon", "categories": "Italian, Pizza", "city": "X"}, "reviews": [` +
			`{"review_id": "r1", "user": {"name": "Ada", "fans": 3}, "stars": 5.0, "useful": 2, "funny": 0, "date": "2018-04-14 12:18:05", "text": "Fine.\nVery fine."},` +
			`{"review_id": "r2", "user": {}, "stars": 1, "date": "2019-01-02", "text": ""}]}

{"business_id": "b-2", "business": {"name": "Old Fox", "categories": ["Thai"]}, "reviews": [{"stars": 3, "date": "2020-02-02", "text": "Ok."}]}
{"business_id": "b-3", "business": {"name": "Nobody Judged"}, "reviews": [{"stars": 3, "date": "2020-02-02", "text": "Ok."}]}
`,
		"T1_K2_groundtruth.json": `{
  "policy_id": "T1",
  "k": 2,
  "restaurants": {
    "b-1": {"name": "Blue Spoon", "ground_truth": {"verdict": "High Risk", "score": 4.5, "n_incidents": 1, "flag": true, "incidents": [], "only_here": 1}},
    "b-2": {"name": "Old Fox", "ground_truth": {"verdict": "Low Risk", "score": 0, "n_incidents": 0, "flag": false, "incidents": []}}
  }
}
`,
		"T1_prompt.txt": "Assign a label: Low Risk, High Risk, or Critical Risk.\n",
		"README":        "not read",
	}
}

func lay(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "bench")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestLoadDir(t *testing.T) {
	got, err := LoadDir(lay(t, folder()), DirOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got.Name != "bench" || got.Config != "k=2&limit=0&task=T1&verdicts=Low Risk,High Risk" || len(got.Samples) != 2 {
		t.Errorf("loaded %q, config %q, %d samples", got.Name, got.Config, len(got.Samples))
	}
	for _, name := range []string{"dataset_K2.jsonl sha256 ", "T1_K2_groundtruth.json sha256 ", "T1_prompt.txt sha256 "} {
		if !strings.Contains(got.Source, name) {
			t.Errorf("source %q lacks %q", got.Source, name)
		}
	}
	notes := strings.Join(got.Notes, "\n")
	for _, want := range []string{
		"levels of the verdict, mildest first: Low Risk, High Risk",
		"fields left out: business.city, ground_truth.incidents, ground_truth.only_here, reviews.funny, reviews.review_id",
		"no ground truth: b-3", "1 restaurants have fewer than 2 reviews", "not checked",
	} {
		if !strings.Contains(notes, want) {
			t.Errorf("the notes lack %q:\n%s", want, notes)
		}
	}
	s := got.Samples[0]
	want := `{"restaurant":{"name":"Blue Spoon","categories":["Italian","Pizza"]},"reviews":[` +
		`{"author":"Ada","stars":5,"date":"2018-04-14","useful":2,"text":"Fine.\nVery fine."},` +
		`{"author":"","stars":1,"date":"2019-01-02","useful":0,"text":""}]}`
	if string(s.Problem.Context) != want {
		t.Errorf("context\n%s\nwant\n%s", s.Problem.Context, want)
	}
	if string(s.Target) != `{"flag":true,"n_incidents":1,"score":4.5,"verdict":"High Risk"}` {
		t.Errorf("target %s", s.Target)
	}
	spec := s.Problem.Answer
	if s.ID != "b-1" || s.Group != "T1" || spec.Kind != methods.Fields ||
		!slices.Equal(spec.Names, []string{"flag", "n_incidents", "score", "verdict"}) || !slices.Equal(spec.Labels, []string{"Low Risk", "High Risk"}) {
		t.Errorf("sample %q of %q wants %+v", s.ID, s.Group, spec)
	}
	if s.Problem.Query != "Assign a label: Low Risk, High Risk, or Critical Risk." {
		t.Errorf("query %q", s.Problem.Query)
	}
}

func TestLoadDirChoices(t *testing.T) {
	files := folder()
	files["dataset_K3.jsonl"] = files["dataset_K2.jsonl"]
	files["T1_K3_groundtruth.json"] = strings.Replace(files["T1_K2_groundtruth.json"], `"k": 2`, `"k": 3`, 1)
	files["T2_K3_groundtruth.json"] = files["T1_K3_groundtruth.json"]
	files["policy.md"] = "Low Risk or High Risk?"
	dir := lay(t, files)
	for _, test := range []struct {
		o      DirOptions
		config string
		err    string
	}{
		{DirOptions{}, "", "several datasets found (dataset_K2.jsonl, dataset_K3.jsonl): choose one, as in k=3"},
		{DirOptions{K: 4}, "", "dataset_K4.jsonl is missing"},
		{DirOptions{K: 2, Limit: 1}, "k=2&limit=1&task=T1&verdicts=Low Risk,High Risk", ""},
		{DirOptions{K: 3}, "", "several ground truths found, of the tasks T1, T2: choose one, as in task=T1"},
		{DirOptions{K: 3, Task: "T2"}, "k=3&limit=0&task=T2&verdicts=Low Risk,High Risk", ""},
		{DirOptions{K: 3, Task: "T9"}, "", "T9_K3_groundtruth.json is missing"},
		{DirOptions{K: 2, Verdicts: "High Risk, Low Risk ,None"}, "k=2&limit=0&task=T1&verdicts=High Risk,Low Risk,None", ""},
		{DirOptions{K: 2, Verdicts: "Low Risk"}, "", `verdict "High Risk", which is not among the levels Low Risk`},
	} {
		got, err := LoadDir(dir, test.o)
		switch {
		case test.err == "" && (err != nil || got.Config != test.config):
			t.Errorf("%+v: %v, %v", test.o, got, err)
		case test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)):
			t.Errorf("%+v: %v, want %q", test.o, err, test.err)
		}
		if err == nil && test.o.Limit > 0 && len(got.Samples) != test.o.Limit {
			t.Errorf("%+v: %d samples", test.o, len(got.Samples))
		}
	}
}

// TestLoadDirErrors holds that damaged data is refused with its file, line
// and cause.
func TestLoadDirErrors(t *testing.T) {
	for _, test := range []struct{ file, old, new, want string }{
		{"dataset_K2.jsonl", "", "", "the dataset is missing"},
		{"T1_K2_groundtruth.json", "", "", "TASK_K2_groundtruth.json is missing"},
		{"T1_prompt.txt", "", "", "the policy's text is missing: put it into one of T1_K2_prompt.txt"},
		{"T1_prompt.txt", "Assign a label: Low Risk, High Risk, or Critical Risk.", " ", "T1_prompt.txt:1: the policy is empty"},
		{"T1_prompt.txt", "High Risk", "Danger", `does not name the verdict "High Risk" of the ground truth: give the levels`},
		{"T1_K2_groundtruth.json", `"k": 2`, `"k": 25`, "T1_K2_groundtruth.json:3: k is 25"},
		{"T1_K2_groundtruth.json", `"verdict": "Low Risk", `, "", `T1_K2_groundtruth.json:6: restaurant "b-2" has no verdict`},
		{"T1_K2_groundtruth.json", `"name": "Old Fox",`, `"name": `, "T1_K2_groundtruth.json:6: invalid character"},
		{"T1_K2_groundtruth.json", `"restaurants": {`, `"restaurants": 7, "x": {`, "T1_K2_groundtruth.json:4: \"restaurants\" must be an object, not a number"},
		{"T1_K2_groundtruth.json", `"restaurants"`, `"places"`, "no restaurant of dataset_K2.jsonl has a ground truth"},
		{"dataset_K2.jsonl", `"business_id": "b-2"`, `"business_id": "b-1"`, `dataset_K2.jsonl:3:1: business_id "b-1" is empty or appears twice`},
		{"dataset_K2.jsonl", `"Old Fox"`, `""`, `dataset_K2.jsonl:3:1: restaurant "b-2" has no business.name`},
		{"dataset_K2.jsonl", `["Thai"]`, `7`, "dataset_K2.jsonl:3:1: business.categories: "},
		{"dataset_K2.jsonl", `"stars": 5.0`, `"stars": 4.5`, "dataset_K2.jsonl:1:1: review 1: stars must be 1 to 5, not 4.5"},
		{"dataset_K2.jsonl", `"stars": 5.0`, `"stars": 6`, "review 1: stars must be 1 to 5, not 6"},
		{"dataset_K2.jsonl", `"date": "2019-01-02"`, `"date": "2019-13-02"`, `review 2: date "2019-13-02" must start like 2024-05-01`},
		{"dataset_K2.jsonl", `"date": "2019-01-02"`, `"date": ""`, `review 2: date ""`},
		{"dataset_K2.jsonl", `"text": ""`, `"text": null`, "review 2: the text is missing"},
		{"dataset_K2.jsonl", `[{"stars": 3, "date": "2020-02-02", "text": "Ok."}]`, `[]`, `dataset_K2.jsonl:3:1: restaurant "b-2" has no reviews`},
		{"dataset_K2.jsonl", `"Old Fox"`, `"Old Fox`, "dataset_K2.jsonl:3:"},
		{"dataset_K2.jsonl", `"Old Fox"`, "\"Old \xff\"", "dataset_K2.jsonl:3:"},
	} {
		files := folder()
		if test.old == "" && test.new == "" {
			delete(files, test.file)
		} else {
			changed := strings.Replace(files[test.file], test.old, test.new, 1)
			if changed == files[test.file] {
				t.Errorf("%s has no %q", test.file, test.old)
			}
			files[test.file] = changed
		}
		_, err := LoadDir(lay(t, files), DirOptions{})
		if err == nil || !strings.HasPrefix(err.Error(), "load bench: ") || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s, %q for %q: %v, want %q", test.file, test.new, test.old, err, test.want)
		}
	}
	if _, err := LoadDir(filepath.Join(t.TempDir(), "none"), DirOptions{}); err == nil {
		t.Error("a missing folder was loaded")
	}
}
