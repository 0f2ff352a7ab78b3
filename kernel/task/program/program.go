// Package program reads tasks whose answers are programs, which are right if they pass tests:
// HumanEval and MBPP.
package program

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"noema/kernel/base/score"
	"noema/kernel/task"
	"noema/kernel/task/table"
	"noema/methods"
)

// Scorer is the name of the scorer that runs tests.
const Scorer = "tests"

const wanted = "\n\nThe answer is the program alone, in Python 3, with all that it imports. " +
	"Behind a mark such as \"Answer:\" it stands on lines of its own, in one block that begins with ```python."

// IsHumanEval reports whether a row has HumanEval's columns.
func IsHumanEval(row table.Row) bool { return row.Has("task_id", "prompt", "test", "entry_point") }

// LoadHumanEval reads a table in the form of HumanEval: the beginning of a function in
// prompt, its name in entry_point, and in test a function check of asserts about it. An answer
// is the function, or what its body lacks. Errors name file and line.
//
// Source: Chen et al. 2021, "Evaluating Large Language Models Trained on Code";
// openai/human-eval, data/HumanEval.jsonl.gz. Differs: the prompt is within an instruction;
// the tests run in a process of their own, which gets values alone of the program.
func LoadHumanEval(rows *table.Table) (*task.Task, error) {
	return load(rows, "humaneval", "complete a function in Python, in the form of HumanEval", func(row table.Row) (task.Sample, error) {
		var r struct {
			ID     string `json:"task_id"`
			Entry  string `json:"entry_point"`
			Prompt string
			Test   string
		}
		if err := row.Decode(&r); err != nil {
			return task.Sample{}, err
		}
		query := "Complete this function of Python:\n\n```python\n" + strings.TrimRight(r.Prompt, "\n") + "\n```"
		return sample(row, r.ID, query, score.TestTarget{Before: r.Prompt, Names: []string{r.Entry}, Tests: r.Test + "\ncheck(" + r.Entry + ")\n"})
	})
}

// IsMBPP reports whether a row has the columns of MBPP, whole or sanitized.
func IsMBPP(row table.Row) bool {
	return row.Has("task_id", "code", "test_list") && (row.Has("text") || row.Has("prompt"))
}

// defined is what a program defines at its top, and imported a module that it imports.
var (
	defined  = regexp.MustCompile(`(?m)^(?:async )?(?:def|class)\s+(\w+)`)
	imported = regexp.MustCompile(`(?m)^import (\w+)\s*$`)
)

// LoadMBPP reads a table in the form of MBPP, the whole or the sanitized one. The question
// shows the tests, as in the paper. Tests use those names of the program that the reference
// solution defines. Errors name file and line.
//
// Source: Austin et al. 2021, "Program Synthesis with Large Language Models";
// google-research/google-research, mbpp. Differs: no worked examples; tests as in
// [LoadHumanEval].
func LoadMBPP(rows *table.Table) (*task.Task, error) {
	t, err := load(rows, "mbpp", "write a program in Python, in the form of MBPP", func(row table.Row) (task.Sample, error) {
		var r struct {
			ID           json.Number `json:"task_id"`
			Text, Prompt string
			Code         string
			Setup        string   `json:"test_setup_code"`
			Imports      []string `json:"test_imports"`
			Tests        []string `json:"test_list"`
			Harder       []string `json:"challenge_test_list"`
		}
		if err := row.Decode(&r); err != nil {
			return task.Sample{}, err
		}
		shown := strings.Join(slices.Concat(r.Imports, []string{strings.ReplaceAll(r.Setup, "\r", "")}, r.Tests), "\n")
		tests := shown + "\n" + strings.Join(r.Harder, "\n")
		names := mentioned(defined, r.Code, tests)
		for _, module := range mentioned(imported, r.Code, tests) {
			tests = "import " + module + "\n" + tests
		}
		query := strings.TrimSpace(r.Text+r.Prompt) + "\n\nThe program must pass these tests:\n\n```python\n" + strings.TrimSpace(shown) + "\n```"
		return sample(row, "mbpp-"+r.ID.String(), query, score.TestTarget{Names: names, Tests: tests})
	})
	if err == nil {
		t.Notes = append(t.Notes, "questions show the tests, as in the paper: a program that only repeats them passes")
	}
	return t, err
}

// mentioned are the names that a pattern finds in a program and that its tests use.
func mentioned(pattern *regexp.Regexp, program, tests string) (names []string) {
	for _, m := range pattern.FindAllStringSubmatch(program, -1) {
		if regexp.MustCompile(`\b`+m[1]+`\b`).MatchString(tests) && !slices.Contains(names, m[1]) {
			names = append(names, m[1])
		}
	}
	return names
}

// load reads a table whose rows are samples.
func load(rows *table.Table, name, summary string, read func(table.Row) (task.Sample, error)) (*task.Task, error) {
	t := &task.Task{
		Name: name, Version: "1", Summary: summary, Source: "file " + filepath.Base(rows.Path), Scorer: score.Named(Scorer),
		Notes: []string{"public data: models may have seen it in training", "answers are programs, run isolated against tests"},
	}
	err := rows.Each(func(row table.Row) error {
		s, err := read(row)
		t.Samples = append(t.Samples, s)
		return err
	})
	if err == nil && len(t.Samples) == 0 {
		err = fmt.Errorf("%s has no problems", rows.Name())
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return t, nil
}

func sample(row table.Row, id, query string, tests score.TestTarget) (task.Sample, error) {
	target, err := methods.EncodeJSON(tests)
	if err == nil {
		_, err = score.ParseTests(target)
	}
	if err != nil {
		return task.Sample{}, row.Errorf("%w", err)
	}
	return task.Sample{ID: id, Target: target, Problem: methods.Problem{Query: query + wanted, Answer: methods.AnswerSpec{Kind: methods.Text}}}, nil
}
