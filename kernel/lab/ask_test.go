package lab_test

import (
	"context"
	"strings"
	"testing"

	"noema/kernel/lab"
)

// shout answers every question, and says what it rests on.
func shout(context.Context, lab.Problem, lab.Host) (lab.Answer, error) {
	return lab.TextAnswer("HALDEN"), nil
}

// TestAsk goes the way of a script: a question, two methods, what they said.
func TestAsk(t *testing.T) {
	l := open(t)
	for _, name := range []string{"shout", "again"} {
		if err := l.AddMethod(name, shout, lab.Text); err != nil {
			t.Fatal(err)
		}
	}
	r, err := l.Ask(lab.Asking{Query: "Where?", Experiment: lab.Experiment{Methods: []string{"shout", "again"}}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := r.Summary()
	if err != nil {
		t.Fatal(err)
	}
	if s.Unscored != 1 || len(s.Answers) != 1 || len(s.Answers[0].Answers) != 2 || s.Answers[0].Answers[1].Text != "HALDEN" || s.Methods[0].N != 0 || len(s.Methods[0].Metrics) != 0 {
		t.Errorf("summary %+v", s)
	}
	if text := string(r.Display()["text/plain"]); !strings.Contains(text, "shout · answered") || strings.Contains(text, "accuracy") {
		t.Errorf("shown as\n%s", text)
	}
	if wrong := r.Wrong("shout"); len(wrong) != 0 {
		t.Errorf("wrong without a target: %v", wrong)
	}
	replayed, err := r.Replay()
	if err != nil || !replayed.Same() {
		t.Errorf("replay %+v (%v)", replayed, err)
	}
}

func TestAskRefuses(t *testing.T) {
	l := open(t)
	one := func(q lab.Asking) error {
		_, err := l.Ask(q)
		return err
	}
	direct := lab.Experiment{Methods: []string{"direct"}}
	for says, q := range map[string]lab.Asking{
		"is empty":                        {Query: " \n", Experiment: direct},
		"larger than 1 MiB":               {Query: strings.Repeat("x", 2<<20), Experiment: direct},
		"not valid UTF-8":                 {Query: "\xff", Experiment: direct},
		"exclude each other":              {Query: "q", Experiment: lab.Experiment{Task: "logs"}, About: lab.About{Corpus: "x"}},
		"needs labels":                    {Query: "q", Experiment: direct, About: lab.About{Answer: "choice"}},
		"nothing to rank":                 {Query: "q", Experiment: direct, About: lab.About{Answer: "ranking"}},
		"twice":                           {Query: "q", Experiment: direct, About: lab.About{Answer: "ranking:a,a"}},
		"need a task or a corpus":         {Query: "q", Experiment: lab.Experiment{TaskOptions: map[string]string{"n": "3"}}},
		"cannot answer with a text":       {Query: "q", Experiment: lab.Experiment{Methods: []string{"anot"}}},
		`by the tool "search"`:            {Query: "q", Experiment: lab.Experiment{Methods: []string{"research-tree"}}},
		`by the tool "search_logs"`:       {Query: "q", Experiment: lab.Experiment{Methods: []string{"direct", "engine-planner"}}},
		`tool "search", which`:            {Query: "q", Experiment: lab.Experiment{Task: "arithmetic", Methods: []string{"research-tree"}}},
		`there is no file or folder "no"`: {Query: "q", Experiment: direct, About: lab.About{Corpus: "no"}},
	} {
		if err := one(q); !lab.IsMisuse(err) || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
	if runs, err := l.Runs(); err != nil || len(runs) != 0 {
		t.Errorf("refused, but recorded: %v (%v)", runs, err)
	}
}

// TestSamplesOfAScriptWithoutATarget mixes what is scored with what is not.
func TestSamplesOfAScriptWithoutATarget(t *testing.T) {
	l := open(t)
	tk, err := lab.NewTask("mixed", lab.Question("Where?", "Halden"), lab.Question("And where?", nil))
	if err != nil {
		t.Fatal(err)
	}
	if err := l.AddTask(tk); err != nil {
		t.Fatal(err)
	}
	if err := l.AddMethod("shout", shout, lab.Text); err != nil {
		t.Fatal(err)
	}
	r, err := l.Run(lab.Experiment{Task: "mixed", Methods: []string{"shout"}})
	if err != nil {
		t.Fatal(err)
	}
	if m, err := r.Metric("shout", "accuracy"); err != nil || m.N != 1 || m.Value != 1 {
		t.Errorf("%+v (%v)", m, err)
	}
}
