package predictions

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"noema/kernel/base/files"
	"noema/kernel/task/table"
	"noema/methods"
)

// The usual names of columns.
var (
	idColumns     = []string{"id", "sample_id", "qid", "question_id", "_id", "task_id"}
	answerColumns = []string{"answer", "prediction", "pred", "predicted", "output", "response", "completion"}
	askedColumns  = []string{"question", "query", "prompt", "input"}
)

// readRows reads a table: a sample log of lm-eval, or rows of id and answer.
func (f *File) readRows(ctx context.Context, path string, o Options) error {
	t, err := table.Open(ctx, path)
	if err != nil {
		return err
	}
	first, err := t.First()
	if err != nil {
		return err
	}
	if first.Has("doc_id", "doc", "filtered_resps") {
		return f.readLMEval(ctx, t, o)
	}
	if first.Has("instance", "request", "result") {
		return f.readHELM(ctx, t)
	}
	if isPromptfoo(first) {
		return f.readPromptfoo(ctx, t.Each, o.Filter)
	}
	if first.Has("request_id", "pred_indices", "gold_idx") {
		return f.readANoT(ctx, path, t, 0)
	}
	f.Harness = Rows
	id := o.id
	if id == "" {
		id, err = column(f.Name, first, "id", idColumns)
	}
	if err != nil {
		return err
	}
	answer, err := f.answerColumn(t, path, first, o)
	if err != nil {
		return err
	}
	f.column = answer
	return t.Each(func(row table.Row) error {
		p, err := f.row(row, id, answer)
		if err != nil {
			return err
		}
		return f.add(ctx, p)
	})
}

// column finds the one column of a role.
func column(file string, first table.Row, role string, names []string) (string, error) {
	var found []string
	for _, name := range names {
		if first.Has(name) {
			found = append(found, name)
		}
	}
	switch {
	case len(found) == 0:
		return "", fmt.Errorf("%s has no column of %ss: its columns are %s: name one of them %q", file, role, strings.Join(first.Columns(), ", "), names[0])
	case len(found) > 1 && found[0] != names[0]:
		return "", fmt.Errorf("%s: the columns %s may each be the %s: name one of them %q", file, strings.Join(found, " and "), role, names[0])
	}
	return found[0], nil
}

// row reads a row of id and answer. It may also have an epoch, counted from 1, the
// question, an error, and what the answer took.
func (f *File) row(row table.Row, id, answer string) (p Prediction, err error) {
	p.Place = fmt.Sprintf("%s:%d", f.Name, row.Number)
	raw, err := row.Cell(id)
	if err != nil {
		return p, err
	}
	if raw == nil {
		return p, row.Errorf("the row has no id")
	}
	if p.ID, err = scalar(raw); err != nil {
		return p, row.Fault(id, err)
	}
	if p.Value, err = row.Cell(answer); err != nil {
		return p, err
	}
	p.Value = slices.Clone(p.Value)
	if f.right != "" {
		if p.Right, err = row.Cell(f.right); err != nil {
			return p, err
		}
		p.Right = slices.Clone(p.Right)
	}
	for _, name := range askedColumns {
		if text, err := textCell(row, name); err == nil && text != "" {
			p.Questions = append(p.Questions, text)
		}
	}
	if p.Failure, err = textCell(row, "error"); err != nil {
		return p, err
	}
	if n, known, err := amount(row, "epoch"); err != nil {
		return p, err
	} else if known {
		p.Epoch = int(n) - 1
	}
	p.Usage, err = rowUsage(row, "")
	return p, err
}

// rowUsage is what the columns calls, input_tokens, output_tokens, cost_usd and
// latency_ms say; what they do not say is unknown. Cost and latency are sums over
// calls, so they need their number. Shares of method seeds, as in an export of ours, make
// parts of calls and tokens: the whole numbers are kept. tokens is the path to their columns.
func rowUsage(row table.Row, tokens string) (methods.Usage, error) {
	u := unknown
	calls, counted, err := amount(row, "calls")
	in, hasIn, errIn := amount(row, tokens+"input_tokens")
	out, hasOut, errOut := amount(row, tokens+"output_tokens")
	cost, priced, errCost := amount(row, "cost_usd")
	latency, timed, errTime := amount(row, "latency_ms")
	if err := errors.Join(err, errIn, errOut, errCost, errTime); err != nil {
		return u, err
	}
	if (priced || timed) && !counted {
		return u, row.Errorf("cost_usd and latency_ms need a column calls beside them: add it, or leave them out")
	}
	if hasIn && hasOut {
		u.InputTokens, u.OutputTokens, u.Unmetered = int64(math.Round(in)), int64(math.Round(out)), 0
	}
	if priced {
		u.Cost, u.Unpriced = methods.NanoUSD(math.Round(cost*1e9)), 0
	}
	if counted {
		u.Calls, u.Latency = int(math.Round(calls)), time.Duration(latency*float64(time.Millisecond))
	}
	return u, nil
}

// maxAmount bounds the numbers of a row: more would overflow sums.
const maxAmount = 1e12

// amount is a number of 0 or more.
func amount(row table.Row, name string) (x float64, known bool, err error) {
	raw, err := row.Cell(name)
	if raw == nil || err != nil {
		return 0, false, err
	}
	text, err := scalar(raw)
	if err == nil {
		if x, err = strconv.ParseFloat(text, 64); err != nil || !(x >= 0 && x <= maxAmount) {
			err = fmt.Errorf("%.40q is not a number of 0 or more", text)
		}
	}
	if err != nil {
		return 0, false, row.Fault(name, err)
	}
	return x, true, nil
}

func textCell(row table.Row, name string) (string, error) {
	raw, err := row.Cell(name)
	if raw == nil || err != nil {
		return "", err
	}
	text, err := scalar(raw)
	if err != nil {
		return "", row.Fault(name, err)
	}
	return text, nil
}

// scalar is a text, or a number as it is written.
func scalar(raw json.RawMessage) (string, error) {
	if raw[0] == '"' {
		var s string
		err := json.Unmarshal(raw, &s)
		return s, err
	}
	if strings.IndexByte("-0123456789", raw[0]) < 0 {
		return "", fmt.Errorf("want a text or a number, not %.60s", raw)
	}
	return string(raw), nil
}

// lmEvalLine is a line of a sample log as lm-eval 0.4 writes it.
type lmEvalLine struct {
	DocID    json.RawMessage            `json:"doc_id"`
	Doc      map[string]json.RawMessage `json:"doc"`
	Filtered []json.RawMessage          `json:"filtered_resps"`
	Filter   string                     `json:"filter"`
	Metrics  []string                   `json:"metrics"`
}

// readLMEval reads a sample log of lm-eval. Each filter of a task has lines of its
// own for every document.
func (f *File) readLMEval(ctx context.Context, t *table.Table, o Options) error {
	f.Harness = LMEval
	if base, _, dated := strings.Cut(strings.TrimPrefix(t.Name(), "samples_"), "_20"); dated {
		f.Notes = append(f.Notes, fmt.Sprintf("task %q of lm-eval", base))
	}
	var filters []string
	err := t.Each(func(row table.Row) error {
		var line lmEvalLine
		if err := row.Decode(&line); err != nil {
			return err
		}
		if filter := cmp.Or(line.Filter, "none"); !slices.Contains(filters, filter) {
			filters = append(filters, filter)
		}
		if o.Filter != "" && o.Filter != cmp.Or(line.Filter, "none") {
			return nil
		}
		if o.Filter == "" && len(filters) > 1 {
			return row.Errorf("the log has the answers of several filters, %s: name one, as in --filter %s", strings.Join(filters, " and "), files.Word(filters[0]))
		}
		p, err := document(row, line)
		if err == nil {
			err = choose(row, line.Filtered, &p)
		}
		if err != nil {
			return err
		}
		return f.add(ctx, p)
	})
	if err == nil && o.Filter != "" && !slices.Contains(filters, o.Filter) {
		err = fmt.Errorf("%s has no filter %q: it has %s", f.Name, o.Filter, strings.Join(filters, ", "))
	}
	return err
}

// document reads which document a line is on. Its id is the document's own, if it has
// one, and not doc_id, which counts rows from 0.
func document(row table.Row, line lmEvalLine) (p Prediction, err error) {
	p.Place, p.Usage = fmt.Sprintf("%s:%d", row.File, row.Number), unknown
	id := line.DocID
	for _, name := range idColumns {
		if raw := line.Doc[name]; len(raw) > 0 && string(raw) != "null" {
			id = raw
			break
		}
	}
	if len(id) == 0 {
		return p, row.Errorf("doc_id is missing")
	}
	if p.ID, err = scalar(id); err != nil {
		return p, row.Fault("doc_id", err)
	}
	for _, raw := range line.Doc {
		if text, err := scalar(raw); err == nil && raw[0] == '"' {
			p.Questions = append(p.Questions, text)
		}
	}
	slices.Sort(p.Questions)
	return p, nil
}

// choose takes the one reply, or the most likely of several options, each of which
// has [log likelihood, is it greedy].
func choose(row table.Row, filtered []json.RawMessage, p *Prediction) error {
	best := math.Inf(-1)
	for i, raw := range filtered {
		var pair []any
		if json.Unmarshal(raw, &pair) != nil || len(pair) != 2 {
			continue
		}
		likelihood, err := strconv.ParseFloat(fmt.Sprint(pair[0]), 64)
		if err != nil {
			return row.Fault("filtered_resps", fmt.Errorf("%.60s is not a log likelihood", raw))
		}
		if likelihood > best || p.Option == 0 {
			best, p.Option = likelihood, i+1
		}
	}
	switch {
	case p.Option > 0:
		return nil
	case len(filtered) == 0:
		return row.Fault("filtered_resps", errors.New("the list is empty"))
	case len(filtered) > 1:
		return row.Fault("filtered_resps", fmt.Errorf("%d replies to one document: add the filter take_first to the task", len(filtered)))
	}
	text, err := scalar(filtered[0])
	if err != nil {
		return row.Fault("filtered_resps", err)
	}
	p.Text = text
	return nil
}
