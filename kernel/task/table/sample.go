package table

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"noema/kernel/task"
	"noema/kernel/task/internal/words"
)

// sample makes the sample of a row.
func (r *reader) sample(row Row) (task.Sample, error) {
	s := task.Sample{ID: strconv.Itoa(len(r.task.Samples) + 1)}
	if err := r.identify(row, &s); err != nil {
		return s, err
	}
	raw, err := row.Cell(r.roles.input)
	if err != nil {
		return s, err
	}
	if raw == nil {
		return s, row.Errorf("sample %q has no input", s.ID)
	}
	if err := r.unsupported(row, s.ID); err != nil {
		return s, err
	}
	in, err := readInput(row, r.roles.input, raw)
	if err != nil && raw[0] == '{' && within(Mapping{Input: r.roles.input}, row).Input != r.roles.input {
		return s, r.t.missing(r.m, r.order, err)
	}
	if err != nil {
		return s, err
	}
	if err := r.addContext(row, &in); err != nil {
		return s, err
	}
	if err := r.describe(row, &s); err != nil {
		return s, err
	}
	return s, r.answer(row, in, &s)
}

// identify takes the sample's id.
func (r *reader) identify(row Row, s *task.Sample) error {
	if r.roles.id == "" || r.roles.id == rowID && !r.seen[rowID] {
		return nil
	}
	raw, err := row.Cell(r.roles.id)
	if err != nil {
		return err
	}
	if raw != nil {
		s.ID = plain(raw)
	}
	if strings.TrimSpace(s.ID) == "" {
		return row.Errorf("the id is empty")
	}
	return nil
}

// unsupported refuses what a sample may ask for and no method gets: images, and what
// Inspect's samples have for a sandbox.
func (r *reader) unsupported(row Row, id string) error {
	if r.m.Given() {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(row.faults)) {
		return row.Fault(name, fmt.Errorf("%w: write input=%s to ask without it", row.faults[name], r.roles.input))
	}
	if r.roles.input != "input" {
		return nil
	}
	for _, f := range []struct{ name, what string }{
		{"sandbox", "a sandbox to run in"}, {"files", "files in a sandbox"}, {"setup", "a script in a sandbox"},
	} {
		if raw := value(row.cells[f.name]); raw != nil && string(raw) != "{}" {
			return row.Fault(f.name, fmt.Errorf("sample %q wants %s (%q), which methods do not have: take it out, or write input=input to run without", id, f.what, f.name))
		}
	}
	return nil
}

// addContext adds the columns that methods see beside the question.
func (r *reader) addContext(row Row, in *input) error {
	for _, name := range r.m.Context {
		raw, err := row.Cell(name)
		if err != nil {
			return err
		}
		if in.Context == nil {
			in.Context = map[string]json.RawMessage{}
		}
		if in.Context[name] != nil {
			return row.Fault(name, errors.New("it is given twice: in the input and in the context"))
		}
		if in.Context[name] = raw; raw == nil {
			in.Context[name] = json.RawMessage("null")
		}
	}
	return nil
}

// describe takes what is for people, and the groups.
func (r *reader) describe(row Row, s *task.Sample) error {
	if raw := value(row.cells[r.roles.metadata]); raw != nil {
		raw, err := opened(raw)
		var fields map[string]json.RawMessage
		if err == nil {
			err = words.Of(json.Unmarshal(raw, &fields))
		}
		if err != nil {
			return row.Fault(r.roles.metadata, err)
		}
		for name, v := range fields {
			put(s, name, v)
		}
	}
	for _, name := range r.m.Metadata {
		raw, err := row.Cell(name)
		if err != nil {
			return err
		}
		put(s, name, raw)
	}
	s.Group, s.Cluster = s.Metadata["group"], s.Metadata["cluster"]
	for _, f := range []struct {
		column string
		into   *string
	}{{r.m.Group, &s.Group}, {r.m.Cluster, &s.Cluster}} {
		if f.column == "" {
			continue
		}
		raw, err := row.Cell(f.column)
		if err != nil {
			return err
		}
		if *f.into = ""; raw != nil {
			*f.into = plain(raw)
		}
	}
	return nil
}

func put(s *task.Sample, name string, raw json.RawMessage) {
	if s.Metadata == nil {
		s.Metadata = map[string]string{}
	}
	if len(raw) > 0 {
		s.Metadata[name] = plain(raw)
	}
}
