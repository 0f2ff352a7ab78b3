package predictions

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"strings"

	"noema/kernel/base/files"
	"noema/kernel/task/table"
)

// maxFiles bounds the files of a folder of results.
const maxFiles = 100_000

// errNoScores says that a file has no scores of samples, such as the sums beside them.
var errNoScores = errors.New("no scores of samples")

// ReadResults reads the scores that other harnesses gave, in a file or in all files of a folder
// that are named as results are: see the README. Each File is what one method earned on one
// task: its predictions have scores and one question, and no answers. metrics are columns of
// scores, for rows that call them otherwise.
func ReadResults(ctx context.Context, path string, metrics []string) ([]*File, error) {
	r := &results{ctx: ctx, metrics: metrics, of: map[origin]*File{}, at: map[place]int{}, next: map[place]int{}, seen: map[string]bool{}}
	root, err := filepath.EvalSymlinks(path)
	n := 0
	if err == nil {
		err = filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
			switch {
			case err != nil || ctx.Err() != nil:
				return errors.Join(err, ctx.Err())
			case name == root && !e.IsDir():
				return r.file(name)
			case !e.Type().IsRegular() || !named(name):
				return nil
			}
			if n++; n > maxFiles {
				return fmt.Errorf("more than %d files of results: name a folder within it", maxFiles)
			}
			if err := r.file(name); !errors.Is(err, errNoScores) {
				return err
			}
			return nil
		})
	}
	if err == nil && len(r.all) == 0 {
		err = errNoScores
	}
	if err != nil {
		if !strings.Contains(err.Error(), filepath.Base(path)) { // which names the place
			err = fmt.Errorf("%s: %w", path, err)
		}
		return nil, fmt.Errorf("read results: %w", err)
	}
	return r.all, nil
}

// named reports whether a file within a folder is named as a harness names its results, or
// begins as a log of Inspect.
func named(name string) bool {
	base := filepath.Base(name)
	switch filepath.Ext(base) {
	case ".eval":
		return true
	case ".jsonl":
		return strings.HasPrefix(base, "samples_") || strings.HasSuffix(base, "_samples.jsonl")
	case ".json":
		head, err := beginning(name)
		return base == "result.json" || base == "per_instance_stats.json" || strings.HasSuffix(base, "results.json") || err == nil && (inspectHead.MatchString(head) || promptfooHead.MatchString(head))
	}
	return false
}

// results gathers what files hold.
type results struct {
	ctx     context.Context
	metrics []string
	all     []*File
	of      map[origin]*File
	at      map[place]int   // places in All
	next    map[place]int   // of each sample, as epoch 0: the next epoch
	seen    map[string]bool // ids of trials
}

// origin is what a result says of what made it, and place is the trial that it is on.
type origin struct{ harness, method, model, task string }

type place struct {
	origin
	id    string
	epoch int
}

// file reads one file.
func (r *results) file(name string) error {
	head, err := beginning(name)
	if err != nil {
		return err
	}
	log := &File{Name: filepath.Base(name), scored: true}
	switch {
	case strings.HasPrefix(head, "PK\x03\x04"), strings.HasSuffix(name, ".eval"):
		err = log.readEval(r.ctx, name)
	case inspectHead.MatchString(head):
		err = log.readInspectJSON(r.ctx, name)
	case promptfooHead.MatchString(head):
		return r.promptfoo(promptfooJSON(name))
	default:
		return r.rows(name)
	}
	for _, p := range log.All {
		if err == nil {
			err = r.add(origin{Inspect, log.Method, log.Model, log.Task}, p, true)
		}
	}
	return err
}

// rows reads a table, or the one object that the file of a trial is.
func (r *results) rows(name string) error {
	raw, err := files.Read(name, maxAnswer) // a longer one is a table
	object, alone := table.Object(filepath.Base(name), raw)
	if l, ok := layoutOf(object, r.metrics); err == nil && alone && ok && l.trial != nil {
		return r.row(object, l)
	}
	t, err := table.Open(r.ctx, name)
	if err != nil {
		return err
	}
	first, err := t.First()
	l, ok := layoutOf(first, r.metrics)
	switch {
	case err != nil && !alone:
		return err
	case first.Has("doc_id", "doc", "filtered_resps"):
		run := lmEvalRunOf(name)
		return t.Each(func(row table.Row) error { return r.lmEval(row, run) })
	case isPromptfoo(first):
		return r.promptfoo(t.Each)
	case first.Has("instance_id", "stats"):
		run := helmRunOf(name)
		return t.Each(func(row table.Row) error { return r.helm(row, run) })
	case !ok:
		return fmt.Errorf("%w in %s: name a column of ids id, and one of scores score, or name it by --metric: its columns are %s", errNoScores, t.Name(), strings.Join(first.Columns(), ", "))
	}
	return t.Each(func(row table.Row) error { return r.row(row, l) })
}

// add takes a result in. One that is not numbered is the next epoch of its sample, and one of
// a trial that another file holds, too, counts once.
func (r *results) add(o origin, p Prediction, numbered bool) error {
	if p.Trial != "" && r.seen[p.Trial] {
		return nil
	}
	r.seen[p.Trial] = true
	f := r.of[o]
	if f == nil {
		if len(r.all) == maxEpochs {
			return fmt.Errorf("%s: more than %d methods and tasks", p.Place, maxEpochs)
		}
		f = &File{Harness: o.harness, Method: o.method, Model: o.model, Task: o.task, scored: true}
		r.of[o], r.all = f, append(r.all, f)
	}
	if count := (place{o, p.ID, 0}); !numbered {
		p.Epoch = r.next[count]
		r.next[count]++
	}
	at, has := r.at[place{o, p.ID, p.Epoch}]
	if !has {
		r.at[place{o, p.ID, p.Epoch}] = len(f.All)
		return f.add(r.ctx, p)
	}
	for name := range p.Scores { // another measure of the same trial
		if _, twice := f.All[at].Scores[name]; twice {
			return fmt.Errorf("%s: id %.60q has a score already, at %s, and nothing says that one repeats the other: number them by a column epoch, or name each file by itself", p.Place, p.ID, f.All[at].Place)
		}
	}
	maps.Copy(f.All[at].Scores, p.Scores)
	return nil
}
