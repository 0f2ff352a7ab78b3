package lab

import (
	"bytes"
	"fmt"
	"strings"

	"noema/kernel/base/display"
	"noema/kernel/model/provider"
	"noema/kernel/model/provider/none"
	"noema/kernel/result/compare"
	"noema/kernel/result/record"
	"noema/kernel/run/runner"
	"noema/kernel/show/report"
	"noema/methods"
)

// Result is a run to look at: shown, it is the table of its methods. The result
// of an experiment that failed shows why.
type Result struct {
	*runner.Result
	Trials  TrialList // the finished ones, in canonical order
	lab     *Lab
	failure error // what ended the experiment; nil if nothing did
}

// newResult is a run to look at, which failure ended unless it is nil. Without a
// run, the experiment failed before one began.
func (l *Lab) newResult(found *runner.Result, failure error) *Result {
	if found == nil {
		found = &runner.Result{Recorded: compare.Recorded{Run: &record.Run{}, Task: &Task{}}}
	}
	r := &Result{Result: found, lab: l, failure: failure}
	r.Trials = r.Where(func(*Trial) bool { return true })
	return r
}

// Summary is the run in numbers, or why there is no run.
func (r *Result) Summary() (*runner.Summary, error) {
	if err := r.missing(); err != nil {
		return nil, err
	}
	return runner.Summarize(r.Result)
}

// missing is why there is no run; nil if there is one.
func (r *Result) missing() error {
	if r.Run.ID == "" {
		return r.failure
	}
	return nil
}

// ID names the run in the store.
func (r *Result) ID() string { return r.Run.ID }

// Root is the root hash, which proves what was computed; empty while the run is
// unfinished.
func (r *Result) Root() string { return r.Run.Root }

// Metric returns a measure of one method, such as "accuracy" or "hits@1", as a
// mean over samples with its interval. What was not measured is an error.
func (r *Result) Metric(method, name string) (Metric, error) {
	s, err := r.Summary()
	if err != nil {
		return Metric{}, err
	}
	for _, m := range s.Methods {
		if m.Method != method {
			continue
		}
		metric, ok := m.Metrics[name]
		if !ok {
			return Metric{}, fmt.Errorf("metric %q of method %q: the metrics are %s", name, method, strings.Join(sortedKeys(m.Metrics), ", "))
		}
		return metric, nil
	}
	return Metric{}, fmt.Errorf("metric of method %q: the methods of run %s are %s", method, r.Run.ID, strings.Join(r.Run.Labels(), ", "))
}

// Display implements [Displayer].
func (r *Result) Display() Bundle {
	s, err := r.Summary()
	if err != nil {
		return display.Of(err)
	}
	sheet := report.RunSheet(s, "")
	if r.failure != nil {
		return display.Stack(display.Of(r.failure), sheet)
	}
	return pictured(sheet, report.NewsOf(s.Comparison, nil))
}

// Trial returns one trial: "anot/R07", or "anot/R07/2" for its second epoch.
func (r *Result) Trial(name string) (*Trial, error) {
	if err := r.missing(); err != nil {
		return nil, err
	}
	id, err := r.Run.FindTrial(name)
	if err != nil {
		return nil, Misused(err)
	}
	for _, t := range r.Trials {
		if t.ID == id {
			return t, nil
		}
	}
	return nil, fmt.Errorf("find trial %q: run %s has not finished it: run its command again", name, r.Run.ID)
}

// Where returns the trials that keep says yes to, in canonical order.
func (r *Result) Where(keep func(*Trial) bool) TrialList {
	list := TrialList{}
	for _, t := range r.Result.Trials {
		if t := (&Trial{t, r}); keep(t) {
			list = append(list, t)
		}
	}
	return list
}

// Wrong returns a method's trials that did not earn a full score on its
// headline measure: what to look at first. Trials that failed for other reasons
// than the method are not among them.
func (r *Result) Wrong(method string) TrialList {
	return r.Where(func(t *Trial) bool { return t.ID.Method == method && compare.Wrong(t.Trial) })
}

// Beats returns what lists the samples on which one method is better than another on the
// headline measure; see [compare.Data.Winners].
func (r *Result) Beats() (func(a, b string) ([]string, error), error) {
	if err := r.missing(); err != nil {
		return nil, err
	}
	m, err := compare.FromRuns([]*compare.Recorded{&r.Result.Recorded}, false)
	if err != nil {
		return nil, Misused(err)
	}
	beats, err := m.Data.Winners()
	if err != nil {
		err = Misused(err)
	}
	return beats, err
}

// Wins returns the trials of methods a and b on the samples where a is better than b on
// the headline measure: those that a comparison counts as wins of a.
func (r *Result) Wins(a, b string) (TrialList, error) {
	beats, err := r.Beats()
	if err != nil {
		return nil, err
	}
	samples, err := beats(a, b)
	if err != nil {
		return nil, Misused(err)
	}
	won := map[string]bool{}
	for _, id := range samples {
		won[id] = true
	}
	return r.Where(func(t *Trial) bool { return (t.ID.Method == a || t.ID.Method == b) && won[t.ID.Sample] }), nil
}

// Replay computes the run again from the store alone, with the methods as they
// are now, and reports whether that gave the same root hash.
func (r *Result) Replay() (*Replayed, error) {
	if err := r.missing(); err != nil {
		return nil, err
	}
	return r.lab.Replay(r.Run, nil)
}

// Replay computes a stored run again; beside, if it is not nil, is Beside of [runner.Replay].
func (l *Lab) Replay(run *record.Run, beside func(recorded, now *record.Trial) error) (*Replayed, error) {
	return l.ReplayAs(runner.Replay{Run: run, Beside: beside})
}

// ReplayAs computes the run that r names again, with the methods and the model that it had.
func (l *Lab) ReplayAs(r runner.Replay) (*Replayed, error) {
	var err error
	if r.Methods, err = l.RecordedMethods(l.o.Context(), r.Run); err != nil {
		return nil, err
	}
	r.Provider, r.Redactor = recordedModel(r.Run), l.o.Redactor
	found, err := watched(l, r.Do)
	if err != nil {
		return nil, err
	}
	return &Replayed{found}, nil
}

// recordedModel stands for a run's model where every answer is recorded.
func recordedModel(run *record.Run) provider.Provider {
	return none.New(provider.Info{ID: run.Config.Model.ID, Simulated: run.Config.Model.Simulated})
}

// Replayed is what a replay found.
type Replayed struct{ *runner.ReplayResult }

// Display implements [Displayer].
func (r *Replayed) Display() Bundle {
	var text bytes.Buffer
	report.Verdict(&text, r.ReplayResult)
	return display.Text(text.String())
}

// Trial is one trial of a result: shown, it is a table of what came of it and what
// it took. Its Calls, Graph and Transcript say how.
type Trial struct {
	*record.Trial
	of *Result
}

// Right reports whether the trial earned the full score on the first measure
// that its task is judged by.
func (t *Trial) Right() bool {
	return compare.Right(t.Trial)
}

// Display implements [Displayer].
func (t *Trial) Display() Bundle { return report.TrialSheet(t.of.Run, t.Trial).Display() }

// Transcript returns all that the trial did, down to each message, as text to be
// shown.
func (t *Trial) Transcript() Bundle {
	var text bytes.Buffer
	report.Transcript(&text, t.of.Run, t.Trial, t.exchange)
	return display.Text(text.String())
}

// Calls returns the trial's model and tool calls, in canonical order.
func (t *Trial) Calls() CallList {
	calls := make(CallList, len(t.Trial.Calls))
	for i, c := range t.Trial.Calls {
		calls[i] = Call{c, t}
	}
	return calls
}

// Graph returns the last graph that the method drew of its work in this trial,
// to be shown.
func (t *Trial) Graph() (Displayer, error) {
	g, ok := report.GraphOf(t.Trial)
	if !ok {
		return nil, fmt.Errorf("graph of %s: the method drew no graph", t.ID)
	}
	return display.Draw(g), nil
}

func (t *Trial) exchange(c record.Call) (runner.Exchange, error) { return t.of.Read(t.ID, c) }

// Call is one call of a trial.
type Call struct {
	record.Call
	of *Trial
}

// Request returns what a model call asked.
func (c Call) Request() (methods.Request, error) {
	x, err := c.of.exchange(c.Call)
	return x.Request, err
}

// Reply returns the text that a model call was answered with.
func (c Call) Reply() (string, error) {
	x, err := c.of.exchange(c.Call)
	return x.Record.Completion.Text, err
}

// CallList is some calls: shown, it is a table.
type CallList []Call

// Display implements [Displayer].
func (l CallList) Display() Bundle {
	records := make([]record.Call, len(l))
	for i, c := range l {
		records[i] = c.Call
	}
	return report.CallTable(records).Display()
}

// TrialList is some trials: shown, it is a table.
type TrialList []*Trial

// Display implements [Displayer].
func (l TrialList) Display() Bundle {
	records := make([]*record.Trial, len(l))
	for i, t := range l {
		records[i] = t.Trial
	}
	return report.TrialTable(records, nil).Display()
}

// RunList is some runs: shown, it is a table.
type RunList []*record.Run

// Display implements [Displayer].
func (l RunList) Display() Bundle {
	var text bytes.Buffer
	report.Runs(&text, l)
	return display.Text(text.String())
}
