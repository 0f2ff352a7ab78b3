package table

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"noema/methods"
	"regexp"
	"slices"
	"strings"

	"noema/kernel/task"
)

// Load makes a task of a table, a sample of each row. What the mapping leaves out is
// found by the usual names of columns, and the task's notes say which were taken.
// Errors name file, line or row, and column.
func Load(t *Table, m Mapping) (*task.Task, error) {
	made, err := load(t, m)
	if err != nil {
		return nil, fmt.Errorf("load task: %w", err)
	}
	made.NoteUnscored()
	made.Summary = fmt.Sprintf("%s of %s", plural(len(made.Samples), "sample"), t.name)
	made.Source, err = describe(t)
	return made, err
}

// Versions of what rows are made into: in the second a row's own question gives its seed, and
// in the third it also says how replies to it are read, where it does.
const version, versionRead = "2", "3"

func load(t *Table, m Mapping) (*task.Task, error) {
	if m.Header != "" {
		headless, err := t.headless()
		if err != nil {
			return nil, err
		}
		t = headless
	}
	r := &reader{t: t, m: m, seen: map[string]bool{}, ids: map[string]int{}, own: true, task: &task.Task{Version: version, Name: t.Name()}}
	err := r.spell()
	if err == nil {
		err = t.Each(r.row)
	}
	if err == nil {
		err = r.finish()
	}
	if err == nil {
		err = task.SeedEach(r.task.Samples)
	}
	return r.task, err
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// describe names a file by its base name and its content; several by all of that.
func describe(t *Table) (string, error) {
	h := sha256.New()
	parts := t.parts
	if parts == nil {
		parts = []*Table{t}
	}
	for _, part := range parts {
		f, err := part.file()
		if err == nil {
			_, err = io.Copy(h, f)
			f.Close() // opened for reading: closing cannot lose anything
		}
		if err != nil {
			return "", fmt.Errorf("load task: %w", err)
		}
	}
	return fmt.Sprintf("file %s, sha256 %s", t.name, hex.EncodeToString(h.Sum(nil))), nil
}

// reader makes samples of rows.
type reader struct {
	t      *Table
	m      Mapping
	seen   map[string]bool // the columns so far
	order  []string        // the same, in the file's order where it has one
	roles  roles
	own    bool           // no columns but id, input, target and metadata: noema's own form
	ids    map[string]int // the row of each id
	counts counts
	task   *task.Task

	spelling spelling          // of targets that are numbers
	filled   map[string]string // of columns that may each have a role, the one with values
}

// counts are what the notes say of the targets.
type counts struct {
	numerals, texts, counted, zeros, booleans, accepted int

	spelling spelling // of the targets that are compared as texts
}

// numeral matches what a reader takes for a number, also with a unit of money, as a share or
// a fraction.
var numeral = regexp.MustCompile(`^[-+−]?\s*[$€£]?\s*(?:\d[\d.,]*|\.\d+)(?:[eE][-+]?\d+)?(?:\s*/\s*\d+)?\s*[%€]?$`)

// text counts a target that is compared as a text, however it was mapped.
func (c *counts) text(s task.Sample) {
	if s.Problem.Answer.Kind != methods.Text || len(s.Target) == 0 {
		return
	}
	var accepted []string
	if one := ""; json.Unmarshal(s.Target, &one) == nil {
		accepted = []string{one}
	} else if json.Unmarshal(s.Target, &accepted) != nil || len(accepted) == 0 {
		return
	}
	c.texts++
	c.spelling.add(accepted[0], "sample "+s.ID)
	if slices.ContainsFunc(accepted, func(text string) bool { return numeral.MatchString(strings.TrimSpace(text)) }) {
		c.numerals++
	}
}

// row adds the sample of a row.
func (r *reader) row(row Row) error {
	if err := r.look(row); err != nil {
		return err
	}
	s, err := r.sample(row)
	if err != nil {
		return err
	}
	if first, dup := r.ids[s.ID]; dup {
		unit := cmp.Or(row.Unit, "line")
		err := row.Errorf("id %q is already used in %s %d", s.ID, unit, first)
		if !r.own {
			err = fmt.Errorf("%w: write id=%s to number the samples", err, rowID)
		}
		return err
	}
	r.ids[s.ID] = row.Number
	r.counts.text(s)
	if slices.Equal(s.Problem.Answer.Labels, yesNo) && len(r.m.Labels) == 0 && r.roles.choices == "" {
		r.counts.booleans++
	}
	if a := s.Problem.Answer; a.Texts != nil || a.Decimal != "" || a.Percent != "" || r.counts.accepted > 0 {
		r.task.Version = versionRead
	}
	r.task.Samples = append(r.task.Samples, s)
	return nil
}
