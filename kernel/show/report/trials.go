package report

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"noema/kernel/base/display"
	"noema/kernel/result/compare"
	"noema/kernel/result/record"
	"noema/kernel/task"
	"noema/methods"
)

// TrialTable lists trials with how they ended and what they took, and with the questions
// of their samples, by id, where they are given.
func TrialTable(trials []*record.Trial, questions map[string]string) display.Table {
	var t display.Table
	t.AddWhole("trial") // which "runs show --trial" takes
	if questions != nil {
		t.Add("question")
	}
	t.Add("outcome", "score", "answer", "target")
	t.Columns = append(append(t.Columns, display.Column{Name: "calls", Right: true}), figures()...)
	for _, r := range trials {
		score, target := "–", display.Line(string(r.Target), 40)
		if !r.HasTarget() {
			score, target = unscored, "–"
		}
		if name, v, ok := compare.Headline(r); ok {
			score = fmt.Sprintf("%s %.3g", name, v)
		}
		row := []string{r.ID.String()}
		if questions != nil {
			row = append(row, display.Line(questions[r.ID.Sample], questionWidth))
		}
		row = append(row, string(r.Answer.Outcome), score, display.Line(string(r.Answer.Value), 60), target, count(r.Facts().Calls))
		t.Row(append(row, spent(r.Usage)...)...)
	}
	if len(trials) == 0 {
		t.Notes = append(t.Notes, "no trials")
	}
	return t
}

// questionWidth is how much of a question a table shows.
const questionWidth = 48

// SampleTable lists the samples of trials: what each asks, its target, and what the
// methods came to, with the score in front.
func SampleTable(trials []*record.Trial, samples []task.Sample) display.Table {
	var t display.Table
	t.AddWhole("sample")
	t.Add("question", "target")
	var labels []string
	bySample := map[string][]*record.Trial{}
	for _, r := range trials {
		if !slices.Contains(labels, r.ID.Method) {
			labels = append(labels, r.ID.Method)
			t.Add(r.ID.Method)
		}
		bySample[r.ID.Sample] = append(bySample[r.ID.Sample], r)
	}
	for _, s := range samples {
		if len(bySample[s.ID]) == 0 {
			continue
		}
		target := "–"
		said := map[string][]string{}
		for _, r := range bySample[s.ID] {
			if r.HasTarget() {
				target = display.Line(string(r.Target), 40)
			}
			said[r.ID.Method] = append(said[r.ID.Method], cameTo(r))
		}
		row := []string{s.ID, display.Line(s.Problem.Query, questionWidth), target}
		for _, label := range labels {
			row = append(row, strings.Join(said[label], " | "))
		}
		t.Row(row...)
	}
	if len(t.Rows) == 0 {
		t.Notes = append(t.Notes, "no samples")
	}
	return t
}

// cameTo is a trial's score and answer, or why there is none.
func cameTo(r *record.Trial) string {
	answer := display.Line(string(r.Answer.Value), 40)
	if words, ok := r.Answer.InWords(); ok {
		answer = display.Line(words, 40)
	}
	if answer == "" {
		answer = string(r.Answer.Outcome)
	}
	if _, v, ok := compare.Headline(r); ok {
		return fmt.Sprintf("%.3g: %s", v, answer)
	}
	return answer
}

// figures are the columns of what spent says.
func figures() []display.Column {
	return []display.Column{{Name: "tokens", Right: true, Whole: true}, {Name: "cost", Right: true, Whole: true}, {Name: "model time", Right: true, Whole: true}}
}

// spent is tokens, money and time in words.
func spent(u methods.Usage) []string {
	return []string{count(int(u.Tokens())), Cost(u), seconds(u.Latency)}
}

// TrialSheet is a trial of a run with how it ended and what it took, a line each.
func TrialSheet(run *record.Run, t *record.Trial) display.Table {
	s := display.Table{Title: "trial " + t.ID.String(), Columns: []display.Column{{}, {}}}
	s.Row("model", ModelName(run.Config.Model))
	answer := string(t.Answer.Value)
	if words, ok := t.Answer.InWords(); ok {
		answer = words
	}
	if t.Answer.Reason != "" {
		answer += " (" + t.Answer.Reason + ")"
	}
	s.Row("answer", strings.TrimSpace(answer))
	s.Row("outcome", string(t.Answer.Outcome))
	if t.HasTarget() {
		s.Row("target", string(t.Target)+Shuffled(run, t))
	}
	s.Row("score", scores(t))
	for _, row := range [][2]string{{"ungraded", t.Ungraded}, {"failure", t.Failure}} {
		if row[1] != "" {
			s.Row(row[0], row[1])
		}
	}
	s.Row("calls", count(len(t.Calls)))
	s.Row("tokens", fmt.Sprintf("%s in, %s out", count(int(t.Usage.InputTokens)), count(int(t.Usage.OutputTokens))))
	s.Row("cost", Cost(t.Usage))
	s.Row("model time", seconds(t.Usage.Latency))
	return s
}

// CallTable lists calls of a trial with what they took.
func CallTable(calls []record.Call) display.Table {
	var t display.Table
	t.Add("call", "kind")
	t.Columns = append(t.Columns, figures()...)
	t.Add("failure")
	for _, c := range calls {
		t.Row(append(append([]string{c.Path, string(c.Kind)}, spent(c.Usage)...), c.Error)...)
	}
	if !slices.ContainsFunc(calls, func(c record.Call) bool { return c.Error != "" }) {
		t.Columns = t.Columns[:len(t.Columns)-1]
	}
	return t
}

// GraphOf returns the last graph that a trial's method drew.
func GraphOf(t *record.Trial) (methods.Graph, bool) {
	for i := len(t.Events) - 1; i >= 0; i-- {
		if t.Events[i].Kind != methods.GraphDrawn {
			continue
		}
		var g methods.Graph
		if err := json.Unmarshal(t.Events[i].Data, &g); err == nil && len(g.Nodes) > 0 {
			return g, true
		}
	}
	return methods.Graph{}, false
}
