package main

import (
	"context"
	"errors"
	"regexp"
	"slices"

	"github.com/spf13/cobra"

	"noema/kernel/lab"
	"noema/kernel/show/report"
)

// errorJSON is what a command with --json prints on standard output where it has nothing else
// to print: why.
type errorJSON struct {
	Error struct {
		Code    string `json:"code"`            // usage, interrupted, failed_trials, diverged or error
		Message string `json:"message"`         // what is wrong
		Hint    string `json:"hint,omitempty"`  // what helps, where the message names it
		Place   string `json:"place,omitempty"` // what it is about: a flag such as --limit, or FILE:LINE
	} `json:"error"`
}

// wantsJSON reports whether the command line, or a setting, asks cmd for JSON.
func wantsJSON(cmd *cobra.Command, args []string) bool {
	f := cmd.Flags().Lookup("json")
	return f != nil && f.Value.Type() == "bool" && (f.Value.String() == "true" || slices.Contains(args, "--json"))
}

// place finds what an error is about.
var place = regexp.MustCompile(`(?:^|[ :])(--[a-z][a-z-]+|[^\s:"]+\.[a-z]+:\d+(?::\d+)?)`)

// cure splits an error before its last clause, if that says what to do or what there is.
var cure = regexp.MustCompile(`(?s)^(.+?)(?:, (did you mean .+)|[:;] (the [a-z ]+ are .+))$|^(.+): ((?:did you mean|see|use|run|add|leave|name|write|give|check|make|set|install|choose|remove|put|start|wait|ask|update|try|rebuild|pip install)\b.+|"noema .+)$`)

// asJSON is an error for programs.
func (a *app) asJSON(ctx context.Context, err error) errorJSON {
	var out errorJSON
	text := report.Plain(a.redactor.Text(err.Error()))
	e := &out.Error
	e.Code, e.Message = "error", text
	coded, isCoded := errors.AsType[*codedError](err)
	switch {
	case ctx.Err() != nil:
		e.Code = "interrupted"
	case isCoded && coded.code == exitUsage, lab.IsMisuse(err):
		e.Code = "usage"
	case isCoded && coded.code == exitFailed:
		e.Code = "failed_trials"
	case isCoded && coded.code == exitDiverged:
		e.Code = "diverged"
	}
	if found := cure.FindStringSubmatch(text); found != nil {
		e.Message, e.Hint = found[1]+found[4], found[2]+found[3]+found[5]
	}
	if found := place.FindStringSubmatch(e.Message); found != nil {
		e.Place = found[1]
	}
	return out
}
