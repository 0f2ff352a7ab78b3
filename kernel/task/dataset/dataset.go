// Package dataset finds the rows of data sets of the Hugging Face hub: which files
// a config and a split have, by the card of the repository or by how its files are
// called, and what their columns mean, by a ready mapping or by the repository's
// eval.yaml. [Library.Pull] fetches the files; [Library.Find] makes no request.
package dataset

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"noema/kernel/base/files"
	"noema/kernel/base/hub"
	"noema/kernel/base/score"
	"noema/kernel/task/table"
)

// Prefix is what names of data sets begin with: hf/ORG/NAME[@REVISION].
const Prefix = "hf/"

// Options choose a part of a repository.
type Options struct {
	Config   string `json:"config" doc:"config (subset) of a data set of the hub"`
	Split    string `json:"split" doc:"split of it, such as test; the one called test if there is one"`
	Revision string `json:"revision" doc:"branch, tag or commit, as after the @ of the name"`
	Task     string `json:"task" doc:"task of the repository's eval.yaml, by its id"`
}

// Library is what there is on this machine of the hub's data sets.
type Library struct{ Hub *hub.Client }

// Dataset is one split of a repository at a commit.
type Dataset struct {
	Repo, Commit  string
	Config, Split string
	License       string // as the repository declares it; empty if it does not
	Files         []File // in order
	Separator     string // of a CSV's cells, as table.Mapping has it; "" if the card does not say
	Mapping       table.Mapping
	Counted       bool          // a whole number as the target counts the options from 0
	Scorer        score.Scoring // the zero value for that of the answer's kind
	Notes         []string      // what a reader of results must know
}

// File is a file of a data set.
type File struct {
	hub.File
	At string // path on this machine; "" before it was fetched
}

// Ref is the data set's name with its commit and the part that was chosen.
func (d Dataset) Ref() string {
	return fmt.Sprintf("%s%s@%s?config=%s&split=%s", Prefix, d.Repo, d.Commit, d.Config, d.Split)
}

// NameError is an unknown name, config or split.
type NameError struct{ err error }

// Error implements error.
func (e *NameError) Error() string { return e.err.Error() }

// Unwrap gives the cause.
func (e *NameError) Unwrap() error { return e.err }

func misnamed(format string, args ...any) error { return &NameError{fmt.Errorf(format, args...)} }

// parse reads the name of a repository. Where it has a ready mapping and no revision
// is named, the revision is the one of the mapping.
func parse(name string, o Options) (hub.Ref, Ready, error) {
	r, err := hub.Parse(hub.Dataset, strings.TrimPrefix(name, Prefix))
	switch {
	case err != nil:
		return r, Ready{}, &NameError{err}
	case r.File != "":
		return r, Ready{}, misnamed("%q: a data set is named without a file: write ?config= and ?split= for a part of it", name)
	case r.Revision != "" && o.Revision != "" && r.Revision != o.Revision:
		return r, Ready{}, misnamed("%q: the revision is given twice, as %q and %q: leave one of them out", name, r.Revision, o.Revision)
	}
	var ready Ready
	if i := slices.IndexFunc(Mappings(), func(m Ready) bool { return m.Repo == r.ID }); i >= 0 {
		ready = Mappings()[i]
	}
	r, err = hub.Parse(hub.Dataset, r.ID+"@"+cmp.Or(r.Revision, o.Revision, ready.Commit, "main"))
	if err != nil {
		err = &NameError{err}
	}
	return r, ready, err
}

// Find finds the rows of a data set in the hub's cache, without any request. With own
// set the user says what the columns mean, and no eval.yaml is read. The error is
// [hub.ErrNotFetched] if files are missing.
func (l Library) Find(name string, o Options, own bool) (Dataset, error) {
	r, ready, err := parse(name, o)
	if err != nil {
		return Dataset{}, err
	}
	listing, snapshot, err := l.Hub.Kept(r)
	if errors.Is(err, hub.ErrNotFetched) {
		return Dataset{}, fmt.Errorf("%s: %w", r.ID, hub.ErrNotFetched)
	}
	if err != nil {
		return Dataset{}, err
	}
	d, err := plan{listing, snapshot, ready, o, own}.dataset()
	if err != nil {
		return d, err
	}
	for i, f := range d.Files {
		at, ok := snapshot.File(f.File)
		if !ok {
			return d, fmt.Errorf("%s of %s: %w", f.Path, r.ID, hub.ErrNotFetched)
		}
		d.Files[i].At = at
	}
	return d, nil
}

// plan is what decides which files a data set has.
type plan struct {
	listing  hub.Listing
	snapshot hub.Snapshot
	ready    Ready
	o        Options
	own      bool
}

// Names of the files that say what a repository holds.
const (
	cardName = "README.md"
	evalName = "eval.yaml"
)

// dataset chooses config, split, files and mapping.
func (p plan) dataset() (d Dataset, err error) {
	d = Dataset{Repo: p.listing.ID, Commit: p.listing.Commit, License: p.listing.License}
	configs, err := configsOf(p.listing.Files, p.read(cardName))
	if err != nil {
		return d, fmt.Errorf("data set %q: %w", d.Repo, err)
	}
	if err := p.mapped(&d); err != nil {
		return d, fmt.Errorf("data set %q: %w", d.Repo, err)
	}
	d.Config, d.Split = cmp.Or(p.o.Config, d.Config), cmp.Or(p.o.Split, d.Split)
	c, s, err := choose(configs, d.Config, d.Split)
	if err != nil {
		return d, fmt.Errorf("data set %q: %w", d.Repo, err)
	}
	d.Config, d.Split, d.Separator = c.name, s.name, c.separator
	for _, f := range s.files {
		d.Files = append(d.Files, File{File: f})
	}
	return d, nil
}

// mapped takes the mapping: the ready one, or that of the eval.yaml.
func (p plan) mapped(d *Dataset) error {
	if p.ready.Repo != "" && p.o.Task == "" {
		d.Config, d.Split = p.ready.Config, p.ready.Split
		if p.o.Config != "" && p.o.Config != d.Config { // another config has its own splits
			d.Split = ""
		}
		d.Mapping, d.Scorer = p.ready.Mapping, score.Named(p.ready.Scorer)
		return nil
	}
	raw := p.read(evalName)
	if raw == nil && p.o.Task != "" {
		return misnamed("task=%s: there is no %s at revision %q: leave task= out", p.o.Task, evalName, p.listing.Revision)
	}
	if raw == nil || p.own && p.o.Task == "" {
		return nil
	}
	return readEval(raw, p.o, d)
}

// read is the content of a small file of the repository; nil if there is none.
func (p plan) read(name string) []byte {
	for _, f := range p.listing.Files {
		at, ok := p.snapshot.File(f)
		if f.Path != name || !ok {
			continue
		}
		if raw, err := files.Read(at, files.MaxConfig); err == nil {
			return raw
		}
	}
	return nil
}

// Pull fetches the files of a data set that the cache lacks: its card and eval.yaml,
// and those of the split. found is told what the hub has before these are fetched.
func (l Library) Pull(ctx context.Context, name string, o Options, own bool, found func(Dataset)) (Dataset, error) {
	r, ready, err := parse(name, o)
	if err != nil {
		return Dataset{}, err
	}
	listing, err := l.Hub.List(ctx, r)
	if err != nil {
		return Dataset{}, err
	}
	about := slices.DeleteFunc(slices.Clone(listing.Files), func(f hub.File) bool { return f.Path != cardName && f.Path != evalName })
	snapshot, err := l.Hub.Fetch(ctx, listing, about)
	if err != nil {
		return Dataset{}, err
	}
	d, err := plan{listing, snapshot, ready, o, own}.dataset()
	if err != nil {
		return d, err
	}
	found(d)
	var data []hub.File
	for _, f := range d.Files {
		data = append(data, f.File)
	}
	if _, err := l.Hub.Fetch(ctx, listing, data); err != nil {
		return d, err
	}
	if err := l.Hub.Keep(listing); err != nil {
		return d, err
	}
	return l.Find(Prefix+listing.ID+"@"+listing.Commit, Options{Config: o.Config, Split: o.Split, Task: o.Task}, own)
}
