package lab_test

import (
	"context"
	"io"
	"os"
	"strings"
	"testing"

	"noema/kernel/base/display"
	"noema/kernel/lab"
	"noema/kernel/session/builtin"
)

func TestMain(m *testing.M) {
	if builtin.Serve(os.Args[1:]) {
		return
	}
	os.Exit(m.Run())
}

func open(t *testing.T) *lab.Lab {
	t.Helper()
	l := lab.Open(lab.Options{Home: t.TempDir(), Catalog: builtin.Catalog{}, Stderr: io.Discard})
	t.Cleanup(func() { l.Close() })
	return l
}

// parity answers whether a number is even, after one call to the model.
func parity(ctx context.Context, p lab.Problem, h lab.Host) (lab.Answer, error) {
	if _, err := lab.Reply(ctx, h, "ask", p.Query); err != nil {
		return lab.Answer{}, err
	}
	if strings.HasSuffix(p.Query, "3?") {
		return lab.ChoiceAnswer("odd"), nil
	}
	return lab.ChoiceAnswer("even"), nil
}

// TestAFunctionAndATaskOfAScript goes the way that a script goes.
func TestAFunctionAndATaskOfAScript(t *testing.T) {
	l := open(t)
	tk, err := lab.NewTask("parity", lab.Pick("2?", "even", "even", "odd"), lab.Pick("3?", "odd", "even", "odd"), lab.Pick("5?", "odd", "even", "odd"))
	if err != nil {
		t.Fatal(err)
	}
	if err := l.AddTask(tk); err != nil {
		t.Fatal(err)
	}
	if err := l.AddMethod("parity", parity, lab.Choice); err != nil {
		t.Fatal(err)
	}
	result, err := l.Run(lab.Experiment{Task: "parity", Methods: []string{"parity"}})
	if err != nil {
		t.Fatal(err)
	}
	m, err := result.Metric("parity", "accuracy")
	if err != nil || m.Value < 0.66 || m.Value > 0.67 {
		t.Errorf("accuracy is %v (%v)", m.Value, err)
	}
	wrong := result.Wrong("parity")
	if len(wrong) != 1 || wrong[0].ID.Sample != "3" || !strings.Contains(text(wrong), "parity/3/1") {
		t.Errorf("wrong are %s", text(wrong))
	}
	if shown := string(result.Display()["text/plain"]); !strings.Contains(shown, "parity could reach more than a plugin should: not isolated") {
		t.Errorf("the table does not say how the function runs:\n%s", shown)
	}
	calls := wrong[0].Calls()
	request, err := calls[0].Request()
	if err != nil || request.Messages[0].Content != "5?" || calls[0].Path != "ask" {
		t.Errorf("the call asked %+v (%v)", request, err)
	}
	if _, err := wrong[0].Graph(); err == nil {
		t.Error("a graph that nobody drew")
	}
	again, err := result.Replay()
	if err != nil || !again.Same() {
		t.Errorf("the replay is another: %v", err)
	}
	loaded, err := l.Load("last")
	if err != nil || loaded.Root() != result.Root() {
		t.Errorf("loaded %v", err)
	}
}

func text(d lab.Displayer) string { return string(d.Display()[display.PlainText]) }

func TestARepetitionIsNoNewData(t *testing.T) {
	l := open(t)
	e := lab.Experiment{Task: "arithmetic", Methods: []string{"direct", "cot"}, Limit: "8"}
	first, err := l.Run(e)
	if err != nil {
		t.Fatal(err)
	}
	e.Fresh = true
	second, err := l.Run(e)
	if err != nil {
		t.Fatal(err)
	}
	c, err := lab.Compare(lab.Comparing{}, first, second)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Methods) != 2 || !strings.Contains(strings.Join(c.Notes, "\n"), "adds no data") {
		t.Errorf("%d methods, notes %q", len(c.Methods), c.Notes)
	}
	d, err := first.Diff(second, false)
	if err != nil || d.Same != 16 || len(d.Trials) != 0 {
		t.Errorf("the repetition differs: %+v (%v)", d, err)
	}
}

func TestAPanicIsTheTrialsAlone(t *testing.T) {
	l := open(t)
	bad := func(_ context.Context, p lab.Problem, _ lab.Host) (lab.Answer, error) {
		if p.ID == "L1-001" {
			panic("out of ideas")
		}
		return lab.NumberAnswer(1), nil
	}
	if err := l.AddMethod("bad@2", bad, lab.Number); err != nil {
		t.Fatal(err)
	}
	result, err := l.Run(lab.Experiment{Task: "arithmetic", Methods: []string{"bad@2"}, Limit: "3"})
	if err != nil {
		t.Fatal(err)
	}
	trial, err := result.Trial("bad@2/L1-001")
	if err != nil || trial.Answer.Outcome != lab.Failed || !strings.Contains(trial.Failure, "out of ideas") {
		t.Errorf("the trial is %+v (%v)", trial, err)
	}
	if len(result.Trials) != 3 {
		t.Errorf("%d trials", len(result.Trials))
	}
}

func TestMisuseIsToldApart(t *testing.T) {
	l := open(t)
	solve := func(context.Context, lab.Problem, lab.Host) (lab.Answer, error) { return lab.Answer{}, nil }
	for name, err := range map[string]error{
		"a built-in name": l.AddMethod("cot", solve, lab.Number),
		"a bad name":      l.AddMethod("My Method", solve, lab.Number),
		"no kinds":        l.AddMethod("mine", solve),
		"no function":     l.AddMethod("mine", nil, lab.Number),
		"a built-in task": l.AddTask(&lab.Task{Name: "cafes", Samples: []lab.Sample{{}}}),
		"an empty task":   l.AddTask(&lab.Task{Name: "mine"}),
		"no such task":    run(l, lab.Experiment{Task: "caffes", Methods: []string{"cot"}}),
		"no such method":  run(l, lab.Experiment{Task: "cafes", Methods: []string{"magic"}}),
		"no such model":   run(l, lab.Experiment{Task: "cafes", Methods: []string{"cot"}, Model: "magic/1"}),
		"bad sampling":    run(l, lab.Experiment{Task: "cafes", Methods: []string{"cot"}, Sampling: map[string]string{"heat": "1"}}),
		"a bad limit":     run(l, lab.Experiment{Task: "cafes", Methods: []string{"cot"}, TokenLimit: -1}),
	} {
		if err == nil || !lab.IsMisuse(err) {
			t.Errorf("%s gives %v", name, err)
		}
	}
	if _, err := lab.NewTask("twice", lab.Question("a", 1), lab.Sample{ID: "1", Target: []byte("1")}); err == nil {
		t.Error("two samples of one id")
	}
}

func run(l *lab.Lab, e lab.Experiment) error {
	_, err := l.Run(e)
	return err
}

// TestMethodsOpenSideBySide: whichever process starts first, methods come in the order in
// which they were named, and the first that cannot be opened is told.
func TestMethodsOpenSideBySide(t *testing.T) {
	l := open(t)
	names := []string{"cot", "anot?builder=react", "direct", "anot?builder=compiled", "direct?shuffle=false"}
	opened, err := l.OpenMethods(t.Context(), names, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range opened {
		if m.Label != names[i] || m.Plugin.Digest == "" {
			t.Errorf("method %d is %q of digest %q, want %q", i, m.Label, m.Plugin.Digest, names[i])
		}
	}
	for range 3 {
		_, err := l.OpenMethods(t.Context(), []string{"direct", "first-unknown", "cot", "second-unknown"}, nil)
		if err == nil || !strings.Contains(err.Error(), "first-unknown") {
			t.Errorf("error is %v", err)
		}
	}
}
