package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"noema/kernel/task"
	"noema/kernel/task/arithmetic"
	"noema/kernel/task/cafes"
	"noema/kernel/task/policy"
	"noema/methods"
)

// generatedTask is a task that needs no files.
type generatedTask struct {
	name, summary string
	options       []methods.Option
	open          func(map[string]string) (*task.Task, error)
}

// opener joins a task's option parser and its constructor; what the parser
// refuses is wrong usage.
func opener[O any](parse func(map[string]string) (O, error), open func(O) (*task.Task, error)) func(map[string]string) (*task.Task, error) {
	return func(given map[string]string) (*task.Task, error) {
		o, err := parse(given)
		if err != nil {
			return nil, usage(err)
		}
		return open(o)
	}
}

func generatedTasks() []generatedTask {
	return []generatedTask{
		{cafes.Name, "find the one cafe that fits a request: ten groups of rising difficulty", cafes.OptionsDoc(), opener(cafes.ParseOptions, cafes.New)},
		{policy.Name, "judge restaurants by a policy over their reviews: six policies, three verdicts", policy.OptionsDoc(), opener(policy.ParseOptions, policy.New)},
		{arithmetic.Name, "solve word problems with tools: five levels, one to eight operations", arithmetic.OptionsDoc(), opener(arithmetic.ParseOptions, arithmetic.New)},
	}
}

// taskNames lists the tasks that need no files.
func taskNames() []string {
	var names []string
	for _, t := range generatedTasks() {
		names = append(names, t.name)
	}
	return names
}

// fileForms lists the files and folders that are tasks, for help and errors.
func fileForms() [][2]string {
	return [][2]string{
		{"FILE.jsonl", `one sample a line: {"id", "input", "target", "metadata"}; or GSM8K: {"question", "answer"}`},
		{"FILE.csv", "Game of 24: a column Puzzles with the numbers of each"},
		{"FOLDER", "the public ANoT format: restaurants.jsonl, reviews.jsonl, requests.jsonl, groundtruth.jsonl"},
		{"FOLDER", "the public policy format: dataset_K50.jsonl, NAME_K50_groundtruth.json and the policy as text"},
	}
}

// openTask opens the task of a spec: a generated one by name, a file or a
// folder.
func openTask(text string, more map[string]string) (*task.Task, error) {
	s, err := parseSpec(text)
	if err != nil {
		return nil, usage(err)
	}
	maps.Copy(s.options, more)
	for _, t := range generatedTasks() {
		if t.name == s.name {
			return t.open(s.options)
		}
	}
	info, err := os.Stat(s.name)
	if err != nil {
		return nil, usage(fmt.Errorf("unknown task %q: it is none of %s, no file and no folder", s.name, strings.Join(taskNames(), ", ")))
	}
	if info.IsDir() {
		return openTaskFolder(s)
	}
	if len(s.options) > 0 {
		return nil, usage(fmt.Errorf("task %q takes no options", s.name))
	}
	switch {
	case strings.EqualFold(filepath.Ext(s.name), ".csv"):
		return arithmetic.LoadGame24(s.name)
	case isGSM8K(s.name):
		return arithmetic.LoadGSM8K(s.name)
	}
	return task.LoadJSONL(s.name)
}

// openTaskFolder tells the folder formats apart by the names of their files.
func openTaskFolder(s spec) (*task.Task, error) {
	judged, err := filepath.Glob(filepath.Join(s.name, "dataset_K*.jsonl"))
	if err != nil {
		return nil, usage(fmt.Errorf("open task folder %q: %w", s.name, err))
	}
	open := opener(cafes.ParseDirOptions, func(o cafes.DirOptions) (*task.Task, error) { return cafes.LoadDir(s.name, o) })
	if len(judged) > 0 {
		open = opener(policy.ParseDirOptions, func(o policy.DirOptions) (*task.Task, error) { return policy.LoadDir(s.name, o) })
	}
	return open(s.options)
}

// isGSM8K looks at the first line: GSM8K has a question and an answer where
// the general form has an input and a target. What cannot be read is left to
// the loader, which says why.
func isGSM8K(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	line, err := bufio.NewReaderSize(f, 1<<20).ReadSlice('\n')
	if err != nil && len(line) == 0 {
		return false
	}
	var keys map[string]json.RawMessage
	if json.Unmarshal(line, &keys) != nil {
		return false
	}
	return keys["question"] != nil && keys["answer"] != nil && keys["input"] == nil
}
