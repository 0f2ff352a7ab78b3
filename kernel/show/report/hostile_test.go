package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"noema/cache"
	"noema/kernel/base/display"
	"noema/kernel/base/score"
	"noema/kernel/result/compare"
	"noema/kernel/result/record"
	"noema/kernel/run/runner"
	"noema/kernel/task"
	"noema/methods"
)

// hostile steers a terminal in every way that there is: its title and colours,
// by escape sequences of seven and eight bits, overwriting, and the direction of
// the text.
const hostile = "\x1b]0;title\x07\x1b[2J\x1b[31m\u009b31m\r\b\x7f\u202e\u2066\xff"

// hostileRun is a run in which all that others chose is hostile.
func hostileRun() (*record.Run, *task.Task, *record.Trial) {
	sample := task.Sample{
		ID: "s" + hostile, Group: hostile, Cluster: hostile, Target: json.RawMessage(`"t\u009b"`), Metadata: map[string]string{"k" + hostile: hostile},
		Problem: methods.Problem{Query: hostile, Context: json.RawMessage(`{"x":"\u009b\u202e"}`), Answer: methods.AnswerSpec{Kind: methods.Text}},
	}
	id := record.TrialID{Method: "m" + hostile, Sample: sample.ID}
	run := &record.Run{
		ID: "r", Name: hostile, Question: hostile, Status: record.Finished, Source: hostile, Notes: []string{hostile},
		Config: record.Config{
			Task: record.Task{Name: hostile, Version: hostile, Config: hostile, Samples: []string{sample.ID}}, Epochs: 1,
			Model: record.Model{ID: methods.ModelID{Provider: "p", Model: hostile}},
			Methods: []record.Method{{
				Label: id.Method, Name: hostile, Version: hostile, PromptVersion: hostile, Options: json.RawMessage(`{"a":"\u202e"}`),
			}},
		},
		Plugins: []record.Plugin{{Method: hostile, Path: hostile, Digest: hostile}},
		Seeds:   []record.Seed{{Kind: hostile, Method: hostile, Digest: hostile}},
	}
	t := &record.Trial{
		ID: id, Failure: hostile, Target: sample.Target, Score: score.Score{Values: map[string]float64{"accuracy": 0}},
		Answer: methods.Answer{
			Value: json.RawMessage(`"\u202e\u009b"`), Outcome: methods.Defaulted, Reason: hostile,
			Evidence: []methods.Evidence{{Source: hostile, Text: hostile}},
		},
		Transcript: &record.Transcript{
			Events: []methods.Event{{Path: hostile, Phase: hostile, Kind: hostile, Text: hostile}},
			Calls: []record.Call{
				{Path: "P1" + hostile, Kind: record.CompletionCall, Key: "k"},
				{Path: "P2" + hostile, Kind: record.CompletionCall, Fault: record.ProviderFault, Error: hostile},
			},
		},
	}
	return run, &task.Task{Name: hostile, Version: hostile, Summary: hostile, Source: hostile, Notes: []string{hostile}, Samples: []task.Sample{sample}}, t
}

// TestNothingSteersTheTerminal: names, ids, paths and texts are the word of
// plugins, models and data sets.
func TestNothingSteersTheTerminal(t *testing.T) {
	for name, print := range printers(t) {
		var out bytes.Buffer
		print(&out)
		if out.Len() == 0 {
			t.Errorf("%s prints nothing", name)
		}
		if at := strings.IndexFunc(out.String(), steers); at >= 0 || !bytes.Equal(bytes.ToValidUTF8(out.Bytes(), nil), out.Bytes()) {
			t.Errorf("%s prints %q", name, out.String()[max(0, at-20):min(out.Len(), max(0, at)+20)])
		}
	}
}

// printers print the hostile run in every way.
func printers(t *testing.T) map[string]func(io.Writer) {
	run, made, trial := hostileRun()
	other := *trial
	other.Hash, other.ID.Epoch = "x", 1
	result := &runner.Result{Recorded: compare.Recorded{Run: run, Task: made, Trials: []*record.Trial{trial}}}
	summary := must(t)(runner.Summarize(result))
	read := func(record.Call) (runner.Exchange, error) {
		return runner.Exchange{
			Request: methods.Request{Messages: methods.Ask(hostile)},
			Record: cache.CompletionRecord{
				Completion: methods.Completion{Text: hostile}, Attempts: []cache.Attempt{{Kind: hostile, Message: hostile}},
			},
		}, nil
	}
	exchange := func(record.TrialID, record.Call) (runner.Exchange, error) { return read(record.Call{}) }
	return map[string]func(io.Writer){
		"transcript": func(w io.Writer) { Transcript(w, run, trial, read) },
		"unreadable": func(w io.Writer) {
			Transcript(w, run, trial, func(record.Call) (runner.Exchange, error) { return runner.Exchange{}, errors.New(hostile) })
		},
		"answer":  func(w io.Writer) { Answer(w, trial.Answer, trial.Target) },
		"summary": func(w io.Writer) { w.Write(RunSheet(summary, "group").Display()[display.PlainText]) },
		"runs":    func(w io.Writer) { Runs(w, []*record.Run{run}) },
		"details": func(w io.Writer) { Details(w, run, result.Trials) },
		"trials":  func(w io.Writer) { io.WriteString(w, TrialTable(result.Trials, map[string]string{}).Text()) },
		"task": func(w io.Writer) {
			if err := errors.Join(Task(w, made, false), Sample(w, made.Samples[0], false)); err != nil {
				t.Error(err)
			}
		},
		"verdict": func(w io.Writer) {
			Verdict(w, &runner.ReplayResult{
				Result: *result, Changed: []string{hostile}, Now: "x", First: &record.Divergence{Trial: trial.ID, Path: hostile, What: hostile},
			})
		},
		"fork": func(w io.Writer) { Fork(w, run, run, hostile, trial, trial) },
		"diff": func(w io.Writer) {
			Diff(w, &compare.Diff{
				A: "a", B: "b", Warnings: []string{hostile}, OnlyA: []record.TrialID{trial.ID},
				Trials: []compare.TrialDiff{{
					A: trial.ID, B: other.ID, First: &record.Divergence{Path: hostile, What: hostile},
					CallA: &trial.Calls[0], CallB: &trial.Calls[0], AnswerA: trial.Answer, AnswerB: methods.TextAnswer(hostile),
				}},
			}, DiffView{ReadA: exchange, ReadB: exchange})
		},
		"progress": func(w io.Writer) { hostileProgress(w, run, trial) },
	}
}

func must(t *testing.T) func(*runner.Summary, error) *runner.Summary {
	return func(s *runner.Summary, err error) *runner.Summary {
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
}

func hostileProgress(w io.Writer, run *record.Run, trial *record.Trial) {
	p := NewProgress(w, 3)
	p.Start(run, 1, 3)
	p.Event(trial.ID, methods.Event{Phase: hostile + "\n", Text: hostile + "\n", Data: json.RawMessage(`"\u202e"`)})
	p.Call(trial.ID, methods.Request{Path: hostile, Messages: []methods.Message{{Role: hostile, Content: hostile}}}, methods.Completion{Text: hostile}, nil)
	p.Call(trial.ID, methods.Request{Path: hostile}, methods.Completion{}, errors.New(hostile))
	p.Trial(trial, false)
	p.Warn(hostile)
	p.Stop()
}

// steers lists what a terminal does not print.
func steers(r rune) bool {
	return r < ' ' && r != '\n' && r != '\t' || 0x7f <= r && r < 0xa0 || 0x202a <= r && r <= 0x202e || 0x2066 <= r && r <= 0x2069
}
