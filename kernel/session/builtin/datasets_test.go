package builtin

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"noema/kernel/internal/test/hubtest"
	"noema/kernel/lab"
	"noema/kernel/task"
	"noema/kernel/task/dataset"
	"noema/methods"
)

// datasetsOf is what a fresh cache has of h. It never waits in earnest.
func datasetsOf(t *testing.T, h *hubtest.Hub) dataset.Library {
	t.Helper()
	t.Setenv("HF_ENDPOINT", h.URL)
	t.Setenv("HF_HOME", t.TempDir())
	t.Setenv("HF_TOKEN", hubtest.Token)
	l, err := Datasets()
	if err != nil {
		t.Fatal(err)
	}
	l.Hub.Wait = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	return l
}

// opened pulls a data set and opens it as a task.
func opened(t *testing.T, l dataset.Library, name string) *task.Task {
	t.Helper()
	if _, err := Pull(t.Context(), l, name, func(dataset.Dataset) {}); err != nil {
		t.Fatal(err)
	}
	made, err := openNamed(name)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func openNamed(name string) (*task.Task, error) {
	s, err := lab.ParseSpec(name)
	if err != nil {
		return nil, err
	}
	return Catalog{}.Task(context.Background(), s)
}

// add puts a data set on h, at the commit of its ready mapping if it has one.
func add(h *hubtest.Hub, id string, files fstest.MapFS) {
	r := hubtest.Repo{Files: files}
	for _, m := range dataset.Mappings() {
		if m.Repo == id {
			r.Commit = m.Commit
		}
	}
	h.Add("datasets", id, r)
}

// published are one or two rows of ours for each data set with a ready mapping, in the
// files, columns and types that the hub has them in.
func published() map[string]fstest.MapFS {
	hotpot := hubtest.HotpotQA{ID: "5a7", Question: "Which of two rivers is longer?", Answer: "Elba", Type: "comparison", Level: "hard"}
	hotpot.Facts.Title, hotpot.Facts.Sentence = []string{"Elba", "Wesa"}, []int32{0, 1}
	hotpot.Context.Title, hotpot.Context.Sentences = []string{"Elba", "Wesa"}, [][]string{{"Elba is 9 km.", " It is long."}, {"Wesa is a river.", " It is 3 km."}}
	rows, _ := hubtest.WordProblems(4).Files.(fstest.MapFS)
	return map[string]fstest.MapFS{
		"openai/gsm8k": rows,
		"HuggingFaceH4/MATH-500": {"README.md": hubtest.Text("# no YAML\n"), "test.jsonl": hubtest.Text(
			`{"problem":"What is $\\frac{1}{2}+\\frac{1}{4}$?","solution":"…","answer":"\\frac{3}{4}","subject":"Algebra","level":2,"unique_id":"test/algebra/1.json"}` + "\n")},
		"HuggingFaceH4/aime_2024": {"README.md": hubtest.Card("default train=data/train-*"), "data/train-00000-of-00001.parquet": hubtest.Parquet(
			hubtest.AIME{ID: 60, Problem: "How many?", Solution: "…", Answer: "025", URL: "https://example.org", Year: "2024"})},
		"Idavidrein/gpqa": {
			"README.md": hubtest.Text("---\nconfigs:\n- config_name: gpqa_diamond\n  data_files: gpqa_diamond.csv\n- config_name: gpqa_main\n  data_files: gpqa_main.csv\n---\n"),
			"gpqa_diamond.csv": hubtest.Text("Question,Correct Answer,Incorrect Answer 1,Incorrect Answer 2,Incorrect Answer 3,Explanation,Subdomain,High-level domain,Record ID\n" +
				"Which one?,right,wrong,wrong too,not it,…,Genetics,Biology,rec1\nAnd now?,\"yes, this\",no,never,nothing,…,Optics,Physics,rec2\n"),
			"gpqa_main.csv": hubtest.Text("Question\nx\n"),
		},
		"TIGER-Lab/MMLU-Pro": {"README.md": hubtest.Card("default test=data/test-* validation=data/validation-*"),
			"data/test-00000-of-00001.parquet": hubtest.Parquet(
				hubtest.MMLUPro{ID: 70, Question: "Which fits?", Options: []string{"a", "B", "c", "d", "e", "f", "g", "h", "i", "j"}, Answer: "B", Index: 1, Category: "law", Source: "ori"},
				hubtest.MMLUPro{ID: 71, Question: "Which is I?", Options: []string{"I", "J", "K"}, Answer: "C", Index: 2, Category: "law", Source: "ori"}),
			"data/validation-00000-of-00001.parquet": hubtest.Parquet(hubtest.MMLUPro{Question: "x"})},
		"TAUR-Lab/MuSR": {
			"README.md":          hubtest.Card("default murder_mysteries=murder_mystery.csv team_allocation=team_allocation.csv"),
			"murder_mystery.csv": hubtest.Text("narrative,question,choices,answer_index,answer_choice\nA dark night.,Who did it?,\"['Mackenzie', 'Ana']\",1,Ana\n"),
			"all.csv":            hubtest.Text("x\n"), "team_allocation.csv": hubtest.Text("x\n"), ".idea/misc.xml": hubtest.Text("<x/>"),
		},
		"hotpotqa/hotpot_qa": {"README.md": hubtest.Card("distractor train=distractor/train-* validation=distractor/validation-*", "fullwiki validation=fullwiki/validation-*"),
			"distractor/validation-00000-of-00001.parquet": hubtest.Parquet(hotpot)},
		"dgslibisey/MuSiQue": {
			"musique_ans_v1.0_train.jsonl": hubtest.Text("{}\n"),
			"musique_ans_v1.0_dev.jsonl": hubtest.Text(`{"id":"2hop__1_2","paragraphs":[{"idx":0,"title":"Elba","paragraph_text":"Elba is a river in Ona.","is_supporting":true}],` +
				`"question":"Where is the river?","question_decomposition":[{"id":1,"question":"q","answer":"a","paragraph_support_idx":0},{"id":2,"question":"q","answer":"a","paragraph_support_idx":0}],` +
				`"answer":"Ona","answer_aliases":["the Ona"],"answerable":true}` + "\n"),
		},
	}
}

// TestPublishedDatasets opens each data set with a ready mapping by its name alone.
func TestPublishedDatasets(t *testing.T) {
	h := hubtest.New(t)
	for id, files := range published() {
		add(h, id, files)
	}
	l := datasetsOf(t, h)
	number, text, choice := methods.Number, methods.Text, methods.Choice
	for id, want := range map[string]struct {
		config, split, scorer, sample, group, target, query string
		kind                                                methods.AnswerKind
	}{
		"openai/gsm8k":            {"main", "test", "", "gsm8k-00003", "steps 1", "11", "A shelf has 4 books", number},
		"HuggingFaceH4/MATH-500":  {"default", "test", "math", "test/algebra/1.json", "Algebra", `"\\frac{3}{4}"`, "What is $", text},
		"HuggingFaceH4/aime_2024": {"default", "train", "", "60", "", "25", "How many?", number},
		"Idavidrein/gpqa":         {"gpqa_diamond", "train", "", "rec2", "Physics", `"A"`, "And now?\n\nA) yes, this\nB) never\nC) nothing\nD) no", choice},
		"TIGER-Lab/MMLU-Pro":      {"default", "test", "", "71", "law", `"C"`, "Which is I?\n\nA) I\nB) J\nC) K", choice},
		"TAUR-Lab/MuSR":           {"default", "murder_mysteries", "", "1", "", `"B"`, "Who did it?\n\nA) Mackenzie\nB) Ana", choice},
		"hotpotqa/hotpot_qa":      {"distractor", "validation", "research", "5a7", "comparison", `"Elba"`, "Which of two rivers", text},
		"dgslibisey/MuSiQue":      {"default", "validation", "research", "2hop__1_2", "2 hops", `"Ona"`, "Where is the river?", text},
	} {
		t.Run(id, func(t *testing.T) {
			made := opened(t, l, "hf/"+id)
			i := slices.IndexFunc(made.Samples, func(s task.Sample) bool { return s.ID == want.sample })
			if i < 0 {
				t.Fatalf("no sample %q in %+v", want.sample, made.Samples)
			}
			s := made.Samples[i]
			if s.Group != want.group || s.Problem.Answer.Kind != want.kind || !strings.Contains(string(s.Target), want.target) || !strings.HasPrefix(s.Problem.Query, want.query) {
				t.Errorf("sample %+v", s)
			}
			config := fmt.Sprintf("config=%s&revision=%s&split=%s", want.config, commitOf(id), want.split)
			if made.Name != "hf/"+id || made.Config != config || made.Scorer.String() != want.scorer {
				t.Errorf("task %q?%q, scorer %q", made.Name, made.Config, made.Scorer)
			}
		})
	}
	var context struct{ Narrative string }
	musr := opened(t, l, "hf/TAUR-Lab/MuSR").Samples[0]
	if err := json.Unmarshal(musr.Problem.Context, &context); err != nil || context.Narrative != "A dark night." {
		t.Errorf("methods see %s of MuSR, %v", musr.Problem.Context, err)
	}
}

func commitOf(id string) string {
	i := slices.IndexFunc(dataset.Mappings(), func(m dataset.Ready) bool { return m.Repo == id })
	return dataset.Mappings()[i].Commit
}

// TestDatasetDigest: another commit with the same rows is the same task, so that its
// seeds and its calls are found again; the task's name says which commit it was.
func TestDatasetDigest(t *testing.T) {
	h := hubtest.New(t)
	l := datasetsOf(t, h)
	var digests, configs []string
	for i, word := range []string{"books", "books", "shelves"} {
		repo := hubtest.Repo{Commit: strings.Repeat(fmt.Sprint(i), 40), Files: fstest.MapFS{
			"README.md": hubtest.Text(fmt.Sprint(i)), "test.csv": hubtest.Text("question,answer\nHow many " + word + "?,7\n"),
		}}
		h.Add("datasets", "org/own", repo)
		made := opened(t, l, "hf/org/own")
		digest, err := made.Digest()
		if err != nil {
			t.Fatal(err)
		}
		digests, configs = append(digests, digest), append(configs, made.Config)
	}
	if digests[0] != digests[1] || digests[1] == digests[2] {
		t.Errorf("digests %q", digests)
	}
	if want := "config=default&revision=" + strings.Repeat("1", 40) + "&split=test"; configs[1] != want {
		t.Errorf("the task has %q, want %q", configs[1], want)
	}
	before, err := openNamed("hf/org/own?" + configs[0])
	if digest, _ := before.Digest(); err != nil || digest != digests[0] || before.Config != configs[0] {
		t.Errorf("the first commit by its name: %q, %v", before.Config, err)
	}
}

// TestDatasetOffline: with what was pulled no request is made, whatever is opened; and
// what was fetched only in part is refused.
func TestDatasetOffline(t *testing.T) {
	h := hubtest.New(t)
	add(h, "openai/gsm8k", published()["openai/gsm8k"])
	l := datasetsOf(t, h)
	opened(t, l, "hf/openai/gsm8k")
	if asked := h.Requests(); len(asked) != 9 { // the commit, two pages, and two each for the card and two files
		t.Errorf("a pull makes %d requests: %q", len(asked), asked)
	}
	for name, want := range map[string]string{
		"hf/openai/gsm8k":                        "",
		"hf/openai/gsm8k?config=main":            "",
		"hf/openai/gsm8k?config=main&split=test": "",
		"hf/openai/gsm8k?split=train":            `main/train-00000-of-00001.parquet of openai/gsm8k: not fetched yet: fetch it with "noema task pull 'hf/openai/gsm8k?split=train'"`,
		"hf/openai/gsm8k@main":                   `openai/gsm8k: not fetched yet: fetch it with "noema task pull hf/openai/gsm8k@main"`,
		"hf/openai/gsm8k?config=x":               `there is no config "x": it has main (train, test), socratic (train, test)`,
		"hf/openai/gsm8k?split=dev":              `there is no split "dev" in config "main"`,
		"hf/openai/gsm8k@a?revision=b":           `the revision is given twice, as "a" and "b"`,
	} {
		_, err := openNamed(name)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	if asked := h.Requests(); len(asked) > 0 {
		t.Errorf("opening asks the hub for %q", asked)
	}
}

// TestDatasetCut: a download that is cut off goes on where it ended, and a hub that
// slows its callers down is waited for.
func TestDatasetCut(t *testing.T) {
	h := hubtest.New(t)
	repo := hubtest.WordProblems(40)
	repo.Cut = 1500
	h.Add("datasets", "org/own", repo)
	l := datasetsOf(t, h)
	h.Limit(2, "3")
	if made := opened(t, l, "hf/org/own?config=main"); len(made.Samples) != 40 || made.Samples[39].ID != "gsm8k-00040" {
		t.Errorf("%d samples", len(made.Samples))
	}
	asked := h.Requests()
	if !slices.ContainsFunc(asked, func(r string) bool { return strings.HasSuffix(r, "main/test-00000-of-00002.parquet bytes=1500- cdn") }) {
		t.Errorf("no request goes on where the one before was cut off: %q", asked)
	}
}

// evaluated is a repository with an eval.yaml that has these lines for its only task,
// below the id.
func evaluated(lines ...string) fstest.MapFS {
	return fstest.MapFS{
		"eval.yaml": hubtest.Text("name: Own\nevaluation_framework: inspect-ai\ntasks:\n- id: own\n  " + strings.Join(lines, "\n  ") + "\n"),
		"test.csv":  hubtest.Text("narrative,q,options,right,also,level\nOnce.,Who?,\"['Ana', 'Bo']\",1,no one,2\nTwice.,What?,\"['x', 'y']\",0,nothing,3\n"),
	}
}

// TestEvalYAML reads what a repository's eval.yaml says, and names what it does not use.
func TestEvalYAML(t *testing.T) {
	const plain = "field_spec: {input: q, target: also}"
	for _, c := range []struct {
		name    string
		lines   []string
		file    string // in place of the lines
		options string
		target  string // of the first sample
		scorer  string
		notes   []string
		err     string
	}{
		{name: "a whole number means an option", lines: []string{"field_spec: {input: q, target: right, choices: options, metadata: [level, narrative]}",
			"solvers: [{name: prompt_template, args: {template: '{narrative} {prompt}'}}, {name: multiple_choice}]", "scorers: [{name: choice}]", "epochs: 4", "epoch_reducer: pass_at_1"},
			target: `"B"`, notes: []string{"the solvers of eval.yaml are not used, because methods are what is compared: prompt_template, multiple_choice",
				"write context=narrative to show them", "eval.yaml has 4 epochs, reduced by pass_at_1: give --epochs 4"}},
		{name: "literal", lines: []string{"field_spec: {input: q, target: 'literal:A', choices: [also, narrative]}", "shuffle_choices: true", "scorers: [{name: choice}]"}, target: `"A"`},
		{name: "a text", lines: []string{plain, "scorers: [{name: exact}]"}, target: `"no one"`},
		{name: "two scorers", lines: []string{plain, "scorers: [{name: f1}, {name: includes}]"}, target: `"no one"`, scorer: "f1\nincludes"},
		{name: "numbers", lines: []string{"field_spec: {input: q, target: level}", "scorers: [{name: match, args: {numeric: true}}]"}, target: `"2"`, scorer: "number"},
		{name: "match at the end", lines: []string{plain, "scorers: [{name: match}]"}, target: `"no one"`, scorer: "includes", notes: []string{"looks at the end of an answer"}},
		{name: "pattern", lines: []string{plain, `scorers: [{name: pattern, args: {pattern: 'is (\w+)'}}]`}, target: `"no one"`, scorer: `pattern:(?i)is (\w+)`},
		{name: "math", lines: []string{plain, "scorers: [{name: math}]"}, target: `"no one"`, scorer: "math"},
		{name: "a model grades", lines: []string{plain, "scorers: [{name: model_graded_fact}]"}, target: `"no one"`, scorer: "model_graded_fact"},
		{name: "own columns", lines: []string{"scorers: [{name: choice}]"}, options: "input=narrative&target=q&labels=Who?,What?", target: `"Who?"`},
		{name: "more context", lines: []string{plain}, options: "context=narrative", target: `"no one"`},
		{name: "another tool's file", file: "tasks: [tasks/*.yaml]\n", options: "input=narrative&target=also&labels=no one,nothing", target: `"no one"`},
		{name: "another tool's file, no columns", file: "tasks: [tasks/*.yaml]\n", err: "no column is called input"},
		{name: "another tool's file, its task", file: "tasks: [tasks/*.yaml]\n", options: "task=own", err: "task=own: eval.yaml: "},
		{name: "two tasks", file: "tasks: [{id: a, field_spec: {input: q, target: also}}, {id: b, field_spec: {input: q, target: level}}]\n", err: "write task= for one of the tasks of its eval.yaml: a, b"},
		{name: "one of two tasks", file: "tasks: [{id: a, field_spec: {input: q, target: also}}, {id: b, field_spec: {input: q, target: level}}]\n", options: "task=b", target: `"2"`},
		{name: "the task of a split", file: "tasks: [{id: a, split: train, field_spec: {input: q, target: also}}, {id: b, split: test, field_spec: {input: q, target: level}}]\n", options: "split=test", target: `"2"`},
		{name: "no such scorer", lines: []string{plain, "scorers: [{name: magic}]"}, err: `eval.yaml: task "own": scorer "magic": want includes, match, pattern, answer, exact, f1, choice, math, model_graded_qa or model_graded_fact: write input= and target= to read the rows without it`},
		{name: "bad pattern", lines: []string{plain, "scorers: [{name: pattern, args: {pattern: '('}}]"}, err: "want a regular expression"},
		{name: "images", lines: []string{"field_spec: {input: q, target: also, input_image: picture}"}, err: `field_spec has "input_image": methods read text alone`},
		{name: "no input", lines: []string{"field_spec: {target: also}"}, err: "field_spec has no input"},
		{name: "no such column", lines: []string{"field_spec: {input: qq, target: also}"}, err: `no column is called "qq", did you mean "q"?`},
		{name: "no such task", lines: []string{plain}, options: "task=other", err: `there is no task "other" in its eval.yaml: it has own`},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := hubtest.New(t)
			repo := evaluated(c.lines...)
			if c.file != "" {
				repo["eval.yaml"] = hubtest.Text(c.file)
			}
			add(h, "org/own", repo)
			l := datasetsOf(t, h)
			name := "hf/org/own"
			if c.options != "" {
				name += "?" + c.options
			}
			_, err := Pull(t.Context(), l, name, func(dataset.Dataset) {})
			var made *task.Task
			if err == nil {
				made, err = openNamed(name)
			}
			if err != nil || c.err != "" {
				if c.err == "" || err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("error %v, want %q", err, c.err)
				}
				return
			}
			if string(made.Samples[0].Target) != c.target || made.Scorer.String() != c.scorer {
				t.Errorf("target %s, scorer %q", made.Samples[0].Target, made.Scorer)
			}
			for _, want := range c.notes {
				if !strings.Contains(strings.Join(made.Notes, "\n"), want) {
					t.Errorf("notes %q lack %q", made.Notes, want)
				}
			}
		})
	}
}
