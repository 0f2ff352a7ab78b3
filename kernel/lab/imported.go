package lab

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"noema/kernel/base/files"
	"noema/kernel/result/predictions"
	"noema/kernel/run/runner"
	"noema/methods"
)

// Import says what another harness has predicted, and for which task.
type Import struct {
	Task        string            `json:"task" part:"what" doc:"task that was answered: a file of rows such as data.csv?input=question&target=answer, or any other task"`
	TaskOptions map[string]string `json:"task-options" flag:"task-option" short:"T" part:"what" doc:"option of the task, as in -T n=20"`
	Scorers     []string          `json:"scorer" part:"what" doc:"score by exact, includes, pattern:REGEX, number:TOLERANCE, choice, f1, math or json:FIELD:SCORER; of several the first decides"`
	Method      string            `json:"method" part:"what" doc:"name of the method in tables (default: what the file says, or its name)"`
	Model       string            `json:"model" part:"what" doc:"model that answered, as in openai/gpt-5-nano (default: what the file says)"`
	Filter      string            `json:"filter" part:"what" doc:"of a sample log of lm-eval with several filters: the one whose answers count; of an output of promptfoo: PROMPT · PROVIDER"`
	Force       bool              `json:"force" part:"what" doc:"pair by id although questions in the file read otherwise, and score although less than half of the file is on samples of the task"`
}

// Import reads predictions from a file or folder of another harness, scores them as answers to
// a task and records them as a run, to be compared with runs of noema. See package
// predictions for the formats, and [runner.Import] for what such a run lacks.
func (l *Lab) Import(path string, o Import) (*Result, error) {
	ctx := l.o.Context()
	t, err := l.taskOf(Experiment{Task: o.Task, TaskOptions: o.TaskOptions, Scorers: o.Scorers})
	if err != nil {
		return nil, err
	}
	file, err := predictions.Read(ctx, path, predictions.Options{Filter: o.Filter, Right: t.Right, Command: os.Args})
	if err != nil {
		return nil, Misused(err)
	}
	digest, err := filesDigest(file.Paths)
	if err != nil {
		return nil, err
	}
	pairs, err := predictions.Pair(file, t.Samples, o.Force)
	if err != nil {
		return nil, Misused(err)
	}
	store, err := l.Store()
	if err != nil {
		return nil, err
	}
	if file.Harness == predictions.ANoT && cmp.Or(o.Method, file.Method) == "" {
		return nil, Misused(fmt.Errorf("read predictions: %s has no config.json beside it that names the method: name it, as in --method cot", file.Name))
	}
	r, err := runner.Import{
		Task: t, File: file, Pairs: pairs, Label: importLabel(cmp.Or(o.Method, file.Method, defaultLabel(file))), Model: importModel(cmp.Or(o.Model, file.Model)),
		Digest: digest, Command: slices.Clone(os.Args), Redactor: l.o.Redactor,
	}.Do(ctx, store)
	if err != nil {
		return nil, err
	}
	return l.newResult(r, nil), nil
}

// filesDigest is the SHA-256 of files, one behind the other, in hex.
func filesDigest(paths []string) (string, error) {
	h := sha256.New()
	for _, path := range paths {
		f, err := files.Open(path)
		if err != nil {
			return "", Misused(fmt.Errorf("read predictions: %w", err))
		}
		_, err = io.Copy(h, f)
		f.Close() // opened for reading: closing cannot lose anything
		if err != nil {
			return "", fmt.Errorf("read predictions: %w", err)
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// defaultLabel names a method of which nothing is known but the file.
func defaultLabel(f *predictions.File) string {
	switch f.Harness {
	case predictions.Inspect:
		return "inspect"
	case predictions.LMEval:
		return "lm-eval"
	}
	name, _, _ := strings.Cut(f.Name, ".")
	return name
}

// importLabel keeps a name short enough for tables and the names of trials.
func importLabel(name string) string {
	const most = 80
	name = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(name, "?"))
	if r := []rune(name); len(r) > most {
		name = string(r[:most])
	}
	return name
}

// importModel reads a model's name as harnesses write it, PROVIDER/NAME.
func importModel(name string) methods.ModelID {
	name = importLabel(name)
	kind, model, named := strings.Cut(name, "/")
	switch {
	case name == "":
		return methods.ModelID{Provider: "unknown model"}
	case !named:
		return methods.ModelID{Provider: name}
	}
	return methods.ModelID{Provider: kind, Model: model}
}
