package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"noema/kernel/base/files"
	"noema/kernel/lab"
	"noema/plugins"
)

// forever is a time that no person debugs for.
const forever = 365 * 24 * time.Hour

// attachDebugger prepares an experiment in which a person debugs a method: one trial
// at a time, without limits, and each process of the method waits until the person
// has attached.
func (a *app) attachDebugger(ctx context.Context, method string, exp lab.Experiment) (lab.Experiment, error) {
	var names []string
	for _, text := range exp.Methods {
		s, err := lab.ParseSpec(strings.TrimSpace(text))
		if err != nil {
			return exp, err
		}
		name := s.Name
		if plugins.IsPath(name) {
			src, err := plugins.At(name)
			if err != nil {
				return exp, usage(err)
			}
			if name = src.Name; src.File && name == method {
				return exp, usage(fmt.Errorf("--attach-debugger %s: %s is interpreted, which debuggers do not know: compile it with \"noema plugin build %s\", and name that",
					method, s.Name, files.Word(s.Name)))
			}
		}
		names = append(names, name)
	}
	if !slices.Contains(names, method) {
		return exp, usage(fmt.Errorf("--attach-debugger %s: it is not among the methods: they are %s", method, strings.Join(names, ", ")))
	}
	exp.MaxSamples, exp.TrialTimeout, exp.Fresh = 1, forever, true
	a.lab.AttachDebugger(func(src plugins.Source, pid int) {
		if src.Name != method {
			return
		}
		fmt.Fprintf(a.stderr, "method %s is process %d: attach to a program in Go with \"dlv attach %d\"; breakpoint() in Python says how. Press Enter to go on.\n", method, pid, pid)
		_, _ = a.stdin.line(ctx) // without a person it goes on
	})
	return exp, nil
}
