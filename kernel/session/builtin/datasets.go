package builtin

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"strconv"
	"strings"

	"noema/kernel/base/files"
	"noema/kernel/base/hub"
	"noema/kernel/lab"
	"noema/kernel/task"
	"noema/kernel/task/dataset"
	"noema/kernel/task/table"
	"noema/methods"
)

// hubOptions are the options of a task that is a data set of the hub.
type hubOptions struct {
	dataset.Options
	fileOptions
}

// parseDataset reads the options of a data set.
func parseDataset(s lab.Spec) (o hubOptions, err error) {
	if err := methods.ParseOptions(s.Options, &o); err != nil {
		return o, lab.Misused(fmt.Errorf("task %q: %w", s.Name, err))
	}
	return o, nil
}

// Datasets is what there is on this machine of the hub's data sets.
func Datasets() (dataset.Library, error) {
	client, err := hub.FromEnvironment(os.Getenv)
	return dataset.Library{Hub: client}, err
}

// Pull fetches the data set of a task's name, such as hf/openai/gsm8k?split=test; see
// [dataset.Library.Pull].
func Pull(ctx context.Context, library dataset.Library, name string, found func(dataset.Dataset)) (dataset.Dataset, error) {
	s, err := lab.ParseSpec(name)
	if err == nil && !strings.HasPrefix(s.Name, dataset.Prefix) {
		err = fmt.Errorf("%q is not a data set of the hub: write %sORG/NAME", name, dataset.Prefix)
	}
	if err != nil {
		return dataset.Dataset{}, lab.Misused(err)
	}
	o, err := parseDataset(s)
	if err != nil {
		return dataset.Dataset{}, err
	}
	d, err := library.Pull(ctx, s.Name, o.Options, o.Input != "", found)
	if errors.As(err, new(*dataset.NameError)) || errors.Is(err, hub.ErrNotFound) {
		err = lab.Misused(err)
	}
	return d, err
}

// openDataset opens a data set that was fetched. The name of the task is that of the
// repository; its commit, config and split are in the task's options, so that a run
// records them and the same rows of another commit ask the same questions.
func openDataset(ctx context.Context, s lab.Spec) (*task.Task, error) {
	o, err := parseDataset(s)
	if err != nil {
		return nil, err
	}
	library, err := Datasets()
	if err != nil {
		return nil, err
	}
	d, err := library.Find(s.Name, o.Options, o.Input != "")
	if err != nil {
		if errors.Is(err, hub.ErrNotFetched) {
			err = fmt.Errorf("%w: fetch it with \"noema task pull %s\"", err, files.Word(s.Label(s.Name)))
		}
		return nil, lab.Misused(err)
	}
	rows, err := openRows(ctx, d)
	if err != nil {
		return nil, fmt.Errorf("task %q: %w", s.Name, err)
	}
	source, err := o.source()
	if err != nil {
		return nil, err
	}
	if separator := cmp.Or(o.Separator, d.Separator); separator != "" {
		if err := rows.Separate(separator); err != nil {
			return nil, lab.Misused(fmt.Errorf("task %q: %w", s.Name, err))
		}
	}
	if d.Counted && o.Target == "" {
		if d.Mapping.Target, err = counted(rows, d.Mapping.Target); err != nil {
			return nil, fmt.Errorf("task %q: %w", s.Name, err)
		}
	}
	o.Mapping = o.Over(d.Mapping)
	t, err := loadTable(rows, o.fileOptions)
	if t, err = source.attach(t, err); err != nil {
		return nil, fmt.Errorf("task %q: %w", s.Name, err)
	}
	describeDataset(t, s, d)
	return t, o.named(t)
}

// counted is a column of targets that counts options if the first row has a whole number
// in it, also as a text, which is how a CSV has numbers.
func counted(rows *table.Table, target string) (string, error) {
	first, err := rows.First()
	if err != nil || !rows.IsCSV() {
		return target, err
	}
	raw, err := first.Cell(target)
	var text string
	if json.Unmarshal(raw, &text) == nil {
		if _, no := strconv.Atoi(text); no == nil {
			target = "index:" + target
		}
	}
	return target, err
}

// openRows opens the files of a data set as one table.
func openRows(ctx context.Context, d dataset.Dataset) (*table.Table, error) {
	var parts []*table.Table
	for _, f := range d.Files {
		part, err := table.Open(ctx, f.At)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	return table.Join(d.Ref(), parts)
}

// describeDataset says in a task which data set it is.
func describeDataset(t *task.Task, s lab.Spec, d dataset.Dataset) {
	t.Name = dataset.Prefix + d.Repo
	options := map[string]string{}
	maps.Copy(options, s.Options)
	maps.Copy(options, map[string]string{"revision": d.Commit, "config": d.Config, "split": d.Split})
	t.Config = strings.TrimPrefix(lab.Spec{Options: options}.Label(""), "?")
	t.Summary = fmt.Sprintf("%s, config %s, split %s", d.Repo, d.Config, d.Split)
	t.Source = fmt.Sprintf("data set %s at commit %s, %s of digest %.16s", d.Repo, d.Commit, d.Files[0].Path, d.Files[0].Digest)
	if more := len(d.Files) - 1; more > 0 {
		t.Source += fmt.Sprintf(" and %d more", more)
	}
	if d.License != "" {
		t.Source += ", licence " + d.License
	}
	if t.Scorer.IsZero() {
		t.Scorer = d.Scorer
	}
	t.Notes = append(t.Notes, d.Notes...)
}

// readyMappings lists the data sets that need no mapping, for help.
func readyMappings() string {
	var names []string
	for _, m := range dataset.Mappings() {
		names = append(names, m.Repo)
	}
	return "ready: " + strings.Join(names, ", ")
}
