package view

import (
	"fmt"
	"slices"
	"strings"

	"noema/kernel/base/display"
	"noema/kernel/base/files"
	"noema/kernel/result/record"
	"noema/kernel/show/report"
	"noema/methods"
)

// turn is a call in the conversation of a trial.
type turn struct {
	Place              int // in the conversation, from 1
	Path, Kind, About  string
	Short              string // what came of it, in a line
	Fault              string
	Tokens, Time, Cost string
	State              string  // whether it was new
	Left, Width        float64 // of its bar, in percent of the trial's time
	Messages           []said  // what was asked
	Thoughts, Reply    *said
	Alone              string  // its own page
	At, Fork           string  // its name for a fork, and the command; empty where nothing can be replaced
	Differs            []piece // what came of it, held against Theirs
	Theirs             string  // what came of the same step in the other trial
	Graded             bool    // it graded the answer
}

// maxInline is about how many bytes of messages the page of a trial holds. Calls beyond
// have pages of their own.
const maxInline = 8 << 20

// converse reads the calls of the trial in the order in which they began; without recorded
// times, in that of their paths.
func (x *trialPage) converse(l *loaded) {
	results := map[string]string{}
	for _, e := range x.Events {
		if e.Kind == methods.Plan || e.Kind == methods.StepResult || e.Kind == methods.StepError {
			results[e.Path] = e.Text
		}
	}
	steps, end, inline, fresh := x.Steps(), x.lasted(), 0, 0
	forkable := l.Run.Replayable() == nil && l.Run.Status == record.Finished
	graded := record.InTime(x.Grading)
	for i, c := range append(record.InTime(x.Calls), graded...) {
		used := l.Run.UsageOf(c)
		one := turn{
			Place: i + 1, Path: c.Path, Kind: string(c.Kind), About: steps[c.Path].Name, Short: results[c.Path], Graded: i >= len(x.Calls),
			Tokens: display.Count(int(used.InputTokens)) + "+" + display.Count(int(used.OutputTokens)), Time: round(used.Latency), Cost: report.Cost(used),
		}
		if c.Kind == record.ToolCall {
			one.Tokens, one.Cost = "", ""
		}
		one.timed(c, end)
		if c.New {
			fresh++
		}
		if c.Fault != "" {
			one.Fault = string(c.Fault) + ": " + c.Error
		} else if c.Kind != record.ToolCall && inline < maxInline {
			inline += one.read(l, x.ID, c)
		}
		if c.Kind == record.CompletionCall && c.Fault == "" {
			one.Alone = callLink(l.Run.ID, x.ID, c)
			if forkable && !one.Graded {
				one.At = x.ID.String() + "/" + c.Path
				one.Fork = command("noema", "fork", l.Run.ID, "--at", one.At)
			}
		}
		x.Turns = append(x.Turns, one)
	}
	if x.Caches = report.Plural(len(x.Turns), "call") + " in order, "; end == 0 {
		x.Caches += "when each ran was not recorded"
	} else {
		x.Caches += fmt.Sprintf("%d new; bars show when each ran", fresh)
	}
}

// command is what to type for a command, quoted; empty where a name holds characters that
// cannot be shown as they are.
func command(words ...string) string {
	for i, w := range words {
		words[i] = files.Word(w)
	}
	all := strings.Join(words, " ")
	if display.Visible(all) != all {
		return ""
	}
	return all
}

// lasted is when the last call ended, since the trial began; 0 if that was not recorded.
func (x *trialPage) lasted() float64 {
	end := 0.0
	for _, c := range slices.Concat(x.Calls, x.Grading) {
		end = max(end, float64(c.Start+c.Took))
	}
	return end
}

// timed places the bar of a call in a trial that lasted to end.
func (c *turn) timed(of record.Call, end float64) {
	if end == 0 || of.Order == 0 {
		return
	}
	c.Width = max(1.5, 100*float64(of.Took)/end)
	c.Left = min(100*float64(of.Start)/end, 100-c.Width)
	switch {
	case of.New:
		c.State = "new"
	default:
		c.State = "stored"
	}
}

// read takes in what a call asked and was told, and returns the bytes of it.
func (c *turn) read(l *loaded, id record.TrialID, call record.Call) int {
	x, err := l.Read(id, call)
	if err != nil {
		c.Fault = l.clean(err.Error())
		return 0
	}
	size := 0
	for _, m := range x.Request.Messages {
		one := show(string(m.Role), l.clean(m.Content), false)
		c.Messages, size = append(c.Messages, one), size+len(one.Text)
	}
	parts := x.Parts()
	if len(parts.Thoughts) > 0 {
		thoughts := show("thought", l.clean(strings.Join(parts.Thoughts, "\n\n")), false)
		c.Thoughts, size = &thoughts, size+len(thoughts.Text)
	}
	reply := show("reply", l.clean(parts.Said), false)
	c.Reply = &reply
	if c.Short == "" {
		line, _, _ := strings.Cut(strings.TrimSpace(reply.Text), "\n")
		c.Short = line
	}
	return size + len(reply.Text)
}
