package deliberate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"noema/methods"
	"noema/methods/phases"
	"noema/methods/reply"
)

// pythonTool is the tool by which programs are run.
const pythonTool = "python"

type palOptions struct {
	phases.Options
	Draws       int     `json:"draws" default:"1" min:"1" max:"1000" doc:"how many programs, of whose answers the majority is taken"`
	Temperature float64 `json:"temperature" default:"0.7" min:"0" max:"2" doc:"temperature of the programs, if there are several"`
}

const programPrompt = "Do not work the answer out yourself. Write a program in Python 3 that does, with a comment for each fact that it takes from the question, and with exact numbers where they matter. " +
	"It reads no input. The last line that it prints has this form:\nAnswer: %s\n" +
	"Reply with the program alone, in one block that begins with ```python\n"

// ProgramAided has the model write a program for the question, runs it, and takes what
// it prints for the answer.
//
// Source: Gao et al. 2022, "PAL: Program-aided Language Models", and Chen et al. 2022,
// "Program of Thoughts Prompting". Differs: zero-shot, as in the second; the program
// prints its answer instead of returning it; one that fails goes back to the model with
// its error, as often as retries says.
func ProgramAided() Method {
	m := of("pal", "writes a program for the question and takes what it prints, by the tool python", runPrograms)
	m.tools = []string{pythonTool}
	return m
}

func runPrograms(ctx context.Context, t *phases.Trial, o *palOptions) (reply.Reading, error) {
	if o.Draws == 1 {
		o.Temperature = 0
	}
	g := phases.NewGraph("programs")
	defer g.Draw(t, "program")
	drafts, errs := make([]phases.Draft, o.Draws), make([]error, o.Draws)
	err := phases.Each(o.Draws, func(d int) error {
		path := fmt.Sprintf("program/%d", d+1)
		drafts[d], errs[d] = writeProgram(ctx, t, path, d, o.Temperature)
		if o.Draws > 1 && t.Lost(ctx, path, errs[d]) {
			return nil
		}
		return errs[d]
	})
	if err != nil {
		return reply.Reading{}, err
	}
	var done []phases.Draft
	for d, draft := range drafts {
		if errs[d] == nil {
			done = append(done, draft)
		}
	}
	g.Drafts("program", 0, done)
	switch len(done) {
	case 0:
		return reply.Reading{}, fmt.Errorf("%w: none of %d programs", phases.ErrNoAnswer, o.Draws)
	case 1:
		return done[0].Reading, nil
	}
	return majority(t, done)
}

// writeProgram asks for a program until one prints an answer.
func writeProgram(ctx context.Context, t *phases.Trial, path string, draw int, temperature float64) (d phases.Draft, err error) {
	r := t.Request(path, methods.Ask(t.Prompt(fmt.Sprintf(programPrompt, phases.FormOf(t.Answer))))...)
	r.Draw, r.Sampling.Temperature = draw, temperature
	var failed error // of the host, which no other program can cure
	runs := 0
	_, _, err = reply.Text(ctx, t.Host, r, func(text string) error {
		runs++
		at := fmt.Sprintf("%s/run%d", path, runs)
		program := reply.Program(text)
		read, fault, err := runProgram(ctx, t, at, program)
		if failed = err; err != nil || fault == nil {
			read.Text = program
			d = phases.Draft{Reading: read, Path: at}
			return nil
		}
		t.Emit(at, methods.StepError, 1, nil, "%v", fault)
		return fault
	}, t.Patience())
	if failed != nil {
		return d, failed
	}
	if errors.Is(err, reply.ErrInvalid) {
		err = fmt.Errorf("%w: %w", phases.ErrNoPlan, err)
	}
	return d, err
}

// runProgram runs a program and reads its answer from what it prints; fault says why that
// cannot be done.
func runProgram(ctx context.Context, t *phases.Trial, path, program string) (r reply.Reading, fault, err error) {
	if program == "" {
		return r, errors.New("no program in the reply"), nil
	}
	args, err := json.Marshal(map[string]string{"program": program})
	if err != nil {
		return r, nil, err
	}
	result, err := t.Host.CallTool(ctx, methods.ToolCall{Name: pythonTool, Arguments: args, Path: path})
	switch {
	case err != nil:
		return r, nil, fmt.Errorf("run %s: %w", path, err)
	case result.IsError:
		return r, fmt.Errorf("the program failed: %s", strings.TrimSpace(result.Content)), nil
	}
	if r, fault = reply.ReadAnswer(result.Content, t.Answer, reply.LineForm); fault != nil {
		return r, fmt.Errorf("the program printed %q: %w", reply.OneLine(result.Content, 300), fault), nil
	}
	r.Report(t.Host, path)
	t.Emit(path, methods.StepResult, 1, nil, "%s", result.Content)
	return r, nil, nil
}
