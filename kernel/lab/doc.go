// Package lab is the face of the workbench, for the command, for scripts and
// for cells, which import it with a dot. A [Lab] is a place to work in: a store,
// the methods, tasks and models on offer, and those that a script adds. An
// [Experiment] says in words what to compare; [Lab.Run] carries it out and
// returns a [Result] to look at, down to the single call.
//
//	lab := builtin.Open()
//	defer lab.Close()
//	result, err := lab.Run(Experiment{
//		Task:    "cafes?n=10",
//		Methods: []string{"direct", "cot", "anot"},
//		Model:   "sim?error=0.1",
//		Limit:   "20",
//	})
//
// Tasks, methods and models are named as on the command line. Which built-in
// ones there are is the caller's to say, by a [Catalog]: this package names none.
//
// A script stands at the top of its program, so its Lab holds the context that
// everything runs under, and scripts do not pass one.
package lab

import (
	"context"

	"noema/kernel/base/display"
	"noema/kernel/base/score"
	"noema/kernel/result/record"
	"noema/kernel/run/runner"
	"noema/kernel/task"
	"noema/methods"
)

type (
	// Experiment is a declared comparison: what to run, named as on the command
	// line, and how. What is left out has the same default as there.
	Experiment = runner.Experiment
	// Misuse marks an error as a mistake in what was asked for.
	Misuse = runner.Misuse
)

// The words of the contract and of tasks, so that one import serves a script.
type (
	Answer       = methods.Answer
	AnswerKind   = methods.AnswerKind
	AnswerSpec   = methods.AnswerSpec
	Context      = context.Context
	Completion   = methods.Completion
	Event        = methods.Event
	Host         = methods.Host
	Message      = methods.Message
	Outcome      = methods.Outcome
	Problem      = methods.Problem
	Request      = methods.Request
	Sampling     = methods.Sampling
	ToolCall     = methods.ToolCall
	ToolResult   = methods.ToolResult
	Metric       = score.Metric
	Sample       = task.Sample
	Task         = task.Task
	TrialID      = record.TrialID
	Table        = display.Table
	Plot         = display.Plot
	Series       = display.Series
	Point        = display.Point
	Axis         = display.Axis
	Bundle       = display.Bundle
	Displayer    = display.Displayer
	DisplayGraph = methods.Graph
)

// The kinds of answer.
const (
	Ranking = methods.Ranking
	Choice  = methods.Choice
	Number  = methods.Number
	Text    = methods.Text
	Set     = methods.Set
	Fields  = methods.Fields
)

// How an answer came about.
const (
	Answered   = methods.Answered
	Defaulted  = methods.Defaulted
	Unparsed   = methods.Unparsed
	Refused    = methods.Refused
	OverBudget = methods.OverBudget
	Failed     = methods.Failed
)

// The roles of a message.
const (
	System    = methods.System
	User      = methods.User
	Assistant = methods.Assistant
)

// Misused marks err as a mistake in what was asked for, such as a method that
// does not exist, in contrast to a failure while it was carried out.
func Misused(err error) error { return runner.Misused(err) }

// IsMisuse reports whether err, or one it wraps, is marked so.
func IsMisuse(err error) bool { return runner.IsMisuse(err) }
