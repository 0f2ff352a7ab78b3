package kernel_test

import (
	"context"
	"io"
	"os"
	"strings"
	"testing"

	"noema/kernel"
	"noema/kernel/builtin"
	"noema/kernel/display"
)

func TestMain(m *testing.M) {
	if builtin.Serve(os.Args[1:]) {
		return
	}
	os.Exit(m.Run())
}

func open(t *testing.T) *kernel.Lab {
	t.Helper()
	lab := kernel.Open(kernel.Options{Home: t.TempDir(), Catalog: builtin.Catalog{}, Stderr: io.Discard})
	t.Cleanup(func() { lab.Close() })
	return lab
}

// parity answers whether a number is even, after one call to the model.
func parity(ctx context.Context, p kernel.Problem, h kernel.Host) (kernel.Answer, error) {
	if _, err := kernel.Reply(ctx, h, "ask", p.Query); err != nil {
		return kernel.Answer{}, err
	}
	if strings.HasSuffix(p.Query, "3?") {
		return kernel.ChoiceAnswer("odd"), nil
	}
	return kernel.ChoiceAnswer("even"), nil
}

// TestAFunctionAndATaskOfAScript goes the way that a script goes.
func TestAFunctionAndATaskOfAScript(t *testing.T) {
	lab := open(t)
	tk, err := kernel.NewTask("parity", kernel.Pick("2?", "even", "even", "odd"), kernel.Pick("3?", "odd", "even", "odd"), kernel.Pick("5?", "odd", "even", "odd"))
	if err != nil {
		t.Fatal(err)
	}
	if err := lab.AddTask(tk); err != nil {
		t.Fatal(err)
	}
	if err := lab.AddMethod("parity", parity, kernel.Choice); err != nil {
		t.Fatal(err)
	}
	result, err := lab.Run(kernel.Experiment{Task: "parity", Methods: []string{"parity"}})
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
	loaded, err := lab.Load("last")
	if err != nil || loaded.Root() != result.Root() {
		t.Errorf("loaded %v", err)
	}
}

func text(d kernel.Displayer) string { return string(d.Display()[display.PlainText]) }

func TestARepetitionIsNoNewData(t *testing.T) {
	lab := open(t)
	e := kernel.Experiment{Task: "arithmetic", Methods: []string{"direct", "cot"}, Limit: "8"}
	first, err := lab.Run(e)
	if err != nil {
		t.Fatal(err)
	}
	e.Fresh = true
	second, err := lab.Run(e)
	if err != nil {
		t.Fatal(err)
	}
	c, err := kernel.Compare(kernel.Comparing{}, first, second)
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
	lab := open(t)
	bad := func(_ context.Context, p kernel.Problem, _ kernel.Host) (kernel.Answer, error) {
		if p.ID == "L1-001" {
			panic("out of ideas")
		}
		return kernel.NumberAnswer(1), nil
	}
	if err := lab.AddMethod("bad@2", bad, kernel.Number); err != nil {
		t.Fatal(err)
	}
	result, err := lab.Run(kernel.Experiment{Task: "arithmetic", Methods: []string{"bad@2"}, Limit: "3"})
	if err != nil {
		t.Fatal(err)
	}
	trial, err := result.Trial("bad@2/L1-001")
	if err != nil || trial.Answer.Outcome != kernel.Failed || !strings.Contains(trial.Failure, "out of ideas") {
		t.Errorf("the trial is %+v (%v)", trial, err)
	}
	if len(result.Trials) != 3 {
		t.Errorf("%d trials", len(result.Trials))
	}
}

func TestMisuseIsToldApart(t *testing.T) {
	lab := open(t)
	solve := func(context.Context, kernel.Problem, kernel.Host) (kernel.Answer, error) { return kernel.Answer{}, nil }
	for name, err := range map[string]error{
		"a built-in name": lab.AddMethod("cot", solve, kernel.Number),
		"a bad name":      lab.AddMethod("My Method", solve, kernel.Number),
		"no kinds":        lab.AddMethod("mine", solve),
		"no function":     lab.AddMethod("mine", nil, kernel.Number),
		"a built-in task": lab.AddTask(&kernel.Task{Name: "cafes", Samples: []kernel.Sample{{}}}),
		"an empty task":   lab.AddTask(&kernel.Task{Name: "mine"}),
		"no such task":    run(lab, kernel.Experiment{Task: "caffes", Methods: []string{"cot"}}),
		"no such method":  run(lab, kernel.Experiment{Task: "cafes", Methods: []string{"magic"}}),
		"no such model":   run(lab, kernel.Experiment{Task: "cafes", Methods: []string{"cot"}, Model: "magic/1"}),
		"bad sampling":    run(lab, kernel.Experiment{Task: "cafes", Methods: []string{"cot"}, Sampling: map[string]string{"heat": "1"}}),
		"a bad limit":     run(lab, kernel.Experiment{Task: "cafes", Methods: []string{"cot"}, TokenLimit: -1}),
	} {
		if err == nil || !kernel.IsMisuse(err) {
			t.Errorf("%s gives %v", name, err)
		}
	}
	if _, err := kernel.NewTask("twice", kernel.Question("a", 1), kernel.Sample{ID: "1", Target: []byte("1")}); err == nil {
		t.Error("two samples of one id")
	}
}

func run(lab *kernel.Lab, e kernel.Experiment) error {
	_, err := lab.Run(e)
	return err
}
