package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"sync"

	"noema/kernel/base/score"
	"noema/kernel/result/record"
	"noema/kernel/run/gateway"
	"noema/methods"
	"noema/plugins"
)

// testsName is the tool by which programs are tested, and testsVersion what its results are
// kept under: whoever changes what programs may do changes it.
const (
	testsName    = "tests"
	testsVersion = "tests/1"
)

// tester tests programs, as many at once as there are processors. It is a [task.Environment],
// so that its verdicts are recorded, found again and replayed as the results of tools.
type tester struct {
	find func() (*plugins.Python, error)
	turn chan struct{}
}

func newTester() tester {
	return tester{sync.OnceValues(plugins.FindPython), make(chan struct{}, runtime.GOMAXPROCS(0))}
}

// Tools implements [task.Environment].
func (tester) Tools() []methods.ToolSpec { return []methods.ToolSpec{{Name: testsName, Pure: true}} }

// tested is what is asked about a program.
type tested struct {
	Program string `json:"program"`
	plugins.Tests
}

// Call implements [task.Environment].
func (x tester) Call(ctx context.Context, c methods.ToolCall) (methods.ToolResult, error) {
	var args tested
	if err := json.Unmarshal(c.Arguments, &args); err != nil {
		return methods.ToolResult{}, err
	}
	python, err := x.find()
	if err != nil {
		return methods.ToolResult{}, err
	}
	x.turn <- struct{}{}
	defer func() { <-x.turn }()
	fault, err := python.Test(ctx, args.Program, args.Tests)
	if err != nil || fault != "" {
		return methods.ToolResult{Content: fault, IsError: true}, err
	}
	return methods.ToolResult{Content: "passed"}, nil
}

// checkTests refuses a run whose programs could not be tested.
func (x *execution) checkTests() error {
	if !x.exp.Task.Scorer.Tests() {
		return nil
	}
	if _, err := x.tests.find(); err != nil {
		return Misused(fmt.Errorf("task %q is scored by running programs: %w", x.exp.Task.Name, err))
	}
	return nil
}

// test runs the tests of an answer that is a program. An error ends the run.
func (x *execution) test(ctx context.Context, t *record.Trial, recorded *record.Trial) error {
	if t.Failure != "" || t.Answer.Outcome != methods.Answered || t.Score.Values != nil {
		return nil
	}
	text, err := t.Answer.Text()
	if err != nil {
		return err
	}
	target, err := score.ParseTests(t.Target)
	if err != nil {
		return err
	}
	args, err := methods.EncodeJSON(tested{target.Program(text), plugins.Tests(target)})
	if err != nil {
		return err
	}
	host := x.gateway.Host(gateway.Trial{
		ID: record.TrialID{Sample: t.ID.Sample}, Environment: x.tests, EnvironmentID: testsVersion, Recorded: gradedBefore(recorded, testsName),
	})
	verdict, err := host.CallTool(ctx, methods.ToolCall{Name: testsName, Arguments: args, Path: testsName})
	t.Grading = append(t.Grading, host.Report().Calls...)
	if fatal := x.ended(ctx, x.gateway); fatal != nil {
		return fatal
	}
	if err != nil {
		t.Ungraded = clip(err.Error())
		return nil
	}
	t.Score.Values = map[string]float64{score.Accuracy: 1}
	if verdict.IsError {
		t.Score.Values[score.Accuracy] = 0
	}
	return nil
}
