// Package predictions reads what other harnesses predicted: rows of id and answer
// (JSON Lines, CSV, Parquet and what else package table reads), the sample logs of
// lm-eval (samples_*.jsonl), the logs of Inspect (.json and .eval), HELM and promptfoo, and the
// folders of results of the original ANoT. [Read] gives them in one form, [Pair] finds the samples of a task that
// they are on, and [Prediction.To] reads an answer as the task asks for it. Nothing
// is taken from a log's own scores: noema scores the answers itself.
//
// Files may come from anyone: every size is bounded, nothing is written, and an
// error names the file and the line, the element or the entry.
package predictions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"noema/kernel/base/files"
	"noema/methods"
)

// The harnesses, as a run's record names them.
const (
	Rows    = "rows of id and answer"
	LMEval  = "sample log of lm-eval"
	Inspect = "log of Inspect"
	ANoT    = "results of ANoT"
	HELM    = "run of HELM"

	Promptfoo = "output of promptfoo"
)

// File is what a file of predictions holds.
type File struct {
	Name    string // base name
	Harness string
	Method  string // what made them, if the file says so
	Model   string // what answered, if the file says so
	Notes   []string
	Task    string       // what was answered, if the file says so
	Paths   []string     // of the files that were read, in order
	All     []Prediction // at least one, no two with one id and epoch

	scored bool // scores are read, and no answers
	// of rows: the columns of the predictions and of the targets, and what to write for another
	column, right, lines string
}

// Prediction is an answer to one sample.
type Prediction struct {
	Place     string   // in the file, such as "preds.jsonl:3"
	ID        string   // of the sample, as the harness has it
	Epoch     int      // from 0
	Questions []string // texts of which one may be the sample's question; may be empty
	Value     json.RawMessage
	Text      string          // in place of Value: a reply that the answer is read from
	Cut       bool            // Text was cut off at a token limit
	Refused   bool            // the provider held the reply back, or the model refused
	Option    int             // in place of Value: the chosen option, from 1
	Right     json.RawMessage // what the file has as the target; nil if it has none
	Gold      int             // the item that the file says is right, from 1; 0 if it does not
	Failure   string          // why the harness has no answer, if it failed
	Usage     methods.Usage

	Scores map[string]float64 // that the file gives, by measure; see [ReadResults]
	Trial  string             // id of the trial in all the world, if the file has one
	// Cluster names samples that belong together, and Group a kind of them, if the file does.
	Cluster, Group string
}

// unknown is the use of a trial of which a log says nothing: calls without count,
// tokens and price. See methods.Usage: what is 0 here is not an observation.
var unknown = methods.Usage{Unmetered: 1, Unpriced: 1}

// Limits of a file.
const (
	maxPredictions = 1_000_000
	maxEpochs      = 1000
	maxAnswer      = 1 << 20  // bytes of an answer
	maxSample      = 64 << 20 // bytes of a sample of an Inspect log
	maxUnpacked    = 4 << 30  // bytes of all entries of an .eval file, and as many as maxRatio times the file's
	maxRatio       = 100
)

// Options say how a file is read.
type Options struct {
	Filter  string   // of lm-eval: the name of the filter, where the log has several; of promptfoo: PROMPT · PROVIDER
	Right   string   // of rows: the column that the task's targets are from; "" if it is not known
	Command []string // that was given, for lines to write in its place

	answer, id string // the columns that the path names
}

// Read reads the file at path. What it is, is found out by its content. Behind the path of rows
// may stand their columns, as in preds.jsonl?answer=pred&id=qid.
func Read(ctx context.Context, path string, o Options) (*File, error) {
	path, o, err := o.named(path)
	if err != nil {
		return nil, err
	}
	f := &File{Name: filepath.Base(path)}
	if isFolder(path) {
		if err := errors.Join(f.readFolder(ctx, path), ctx.Err()); err != nil {
			return nil, fmt.Errorf("read predictions: %w", err)
		}
		return f, f.check()
	}
	head, err := beginning(path)
	if err != nil {
		return nil, err
	}
	f.Paths = []string{path}
	switch {
	case strings.HasPrefix(head, "PK\x03\x04"), strings.HasPrefix(head, "PK\x05\x06"), strings.HasSuffix(path, ".eval"):
		err = f.readEval(ctx, path)
	case inspectHead.MatchString(head):
		err = f.readInspectJSON(ctx, path)
	case promptfooHead.MatchString(head):
		err = f.readPromptfoo(ctx, promptfooJSON(path), o.Filter)
	default:
		err = f.readRows(ctx, path, o)
	}
	if err == nil && o.answer+o.id != "" && f.Harness != Rows {
		err = fmt.Errorf("answer= and id= are for rows of id and answer, and %s is a %s: leave them out", f.Name, f.Harness)
	}
	if err == nil && o.Filter != "" && f.Harness != LMEval && f.Harness != Promptfoo {
		err = fmt.Errorf("--filter %q is for sample logs of lm-eval and outputs of promptfoo, and %s is not one: leave it out", o.Filter, f.Name)
	}
	if err == nil {
		err = f.check()
	}
	if err != nil {
		return nil, fmt.Errorf("read predictions: %w", err)
	}
	return f, nil
}

// beginning is the first part of a file's content.
func beginning(path string) (string, error) {
	in, err := files.Open(path)
	if err != nil {
		return "", fmt.Errorf("read predictions: %w", err)
	}
	defer in.Close() // opened for reading: closing cannot lose anything
	head := make([]byte, 512)
	n, err := io.ReadFull(in, head)
	if n == 0 && errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read predictions: %s is empty", filepath.Base(path))
	}
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return "", fmt.Errorf("read predictions: %w", err)
	}
	return string(head[:n]), nil
}

// add takes a prediction in, within bounds.
func (f *File) add(ctx context.Context, p Prediction) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	switch {
	case strings.TrimSpace(p.ID) == "":
		return fmt.Errorf("%s: the id is empty", p.Place)
	case len(p.Value) > maxAnswer || len(p.Text) > maxAnswer:
		return fmt.Errorf("%s: the answer of %.60q has more than %d KiB", p.Place, p.ID, maxAnswer>>10)
	case p.Epoch < 0 || p.Epoch >= maxEpochs:
		return fmt.Errorf("%s: epoch %d of %.60q is not within 1..%d", p.Place, p.Epoch+1, p.ID, maxEpochs)
	case len(f.All) == maxPredictions:
		return fmt.Errorf("%s: more than %d predictions", p.Place, maxPredictions)
	}
	if f.scored {
		p.Value, p.Text = nil, ""
		longest := slices.MaxFunc(append(p.Questions, ""), func(a, b string) int { return len(a) - len(b) })
		p.Questions = []string{longest}
	}
	f.All = append(f.All, p)
	return nil
}

// check refuses a file without predictions, and two for one trial.
func (f *File) check() error {
	if len(f.All) == 0 {
		return fmt.Errorf("%s holds no predictions", f.Name)
	}
	type trial struct {
		id    string
		epoch int
	}
	first := make(map[trial]string, len(f.All))
	for _, p := range f.All {
		at := trial{p.ID, p.Epoch}
		if was, twice := first[at]; twice {
			return fmt.Errorf("%s: id %.60q has an answer already, at %s: keep one, or give each an epoch", p.Place, p.ID, was)
		}
		first[at] = p.Place
	}
	return nil
}

// Epochs is how often a sample was answered at most.
func (f *File) Epochs() int {
	return slices.MaxFunc(f.All, func(a, b Prediction) int { return a.Epoch - b.Epoch }).Epoch + 1
}
