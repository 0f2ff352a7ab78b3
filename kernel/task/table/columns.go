package table

import (
	"fmt"
	"slices"
	"strings"

	"noema/methods"
)

// maxColumns bounds the columns of a table: each new one is looked at beside all others.
const maxColumns = 4096

// look chooses the columns anew when a row has some that none before it had.
func (r *reader) look(row Row) error {
	first, before := len(r.order) == 0, len(r.order)
	for name := range row.cells {
		if !r.seen[name] {
			r.seen[name] = true
			r.order = append(r.order, name)
			r.own = r.own && slices.Contains([]string{"id", "input", "target", "metadata"}, name)
		}
	}
	if len(r.order) == before && r.roles.input != "" {
		return nil
	}
	if len(r.order) > maxColumns {
		return row.Errorf("%d columns up to here: at most %d are read", len(r.order), maxColumns)
	}
	slices.Sort(r.order[before:])
	if first && row.order != nil {
		r.order = slices.DeleteFunc(slices.Clone(row.order), func(name string) bool { return name == "" })
	}
	return r.assign(row, first)
}

// assign chooses the columns of the roles.
func (r *reader) assign(row Row, first bool) error {
	before := r.roles
	var err error
	if r.roles, err = r.m.roles(r.seen, r.withValues); err != nil {
		return r.t.missing(r.m, r.order, err)
	}
	if !first && (before.input != r.roles.input || before.target != "" && before.target != r.roles.target) {
		return r.t.missing(r.m, r.order, row.Errorf("the input was taken from %q and the target from %q, and new columns come here", before.input, before.target))
	}
	if r.roles.input == "" {
		return r.t.missing(r.m, r.order, errNoInput)
	}
	if name := likely(r.order); r.roles.target == "" && name != "" && r.m.Input == "" && r.m.Target == "" && !r.m.Whole {
		return r.t.missing(r.m, r.order, fmt.Errorf("no column is called %s, and %q seems to be the target: to ask without scores, name the input alone",
			strings.Join(usualNames("target"), ", "), name))
	}
	if r.t.format == csvFormat || r.t.format == parquetFormat {
		if err := r.known(); err != nil {
			return err
		}
	}
	return r.mistyped(row)
}

// known refuses a mapping with columns that the table does not have, and one that
// would show the target to methods.
func (r *reader) known() error {
	for _, name := range r.m.columns() {
		column, _, _ := strings.Cut(name, ".")
		if !r.seen[name] && !r.seen[column] {
			near := methods.DidYouMean(column, r.order)
			return r.t.missing(r.m, r.order, fmt.Errorf("no column is called %.80q%s", column, near))
		}
	}
	_, targets := r.m.target()
	if r.m.Target == "" {
		targets = []string{r.roles.target}
	}
	for _, shown := range append(slices.Clone(r.m.Context), r.roles.input) {
		if slices.Contains(targets, shown) {
			return fmt.Errorf("%s: the column %q would show the target to methods: leave it out of input and context", r.t.name, shown)
		}
	}
	return nil
}

// mistyped refuses a column that nearly has a name of noema's own where that is
// missing: samples would go without their target for a letter.
func (r *reader) mistyped(row Row) error {
	for _, role := range []struct{ name, column string }{{"target", r.roles.target}, {"metadata", r.roles.metadata}} {
		if role.column != "" || r.roles.input != "input" || r.m.Given() {
			continue
		}
		for _, name := range r.order {
			if near := methods.DidYouMean(name, []string{role.name, "input", "choices"}); strings.Contains(near, role.name) {
				return row.Fault(name, fmt.Errorf("unknown field %q%s: the fields are id, input, target, metadata", name, near))
			}
		}
	}
	return nil
}

// finish checks what only the whole table shows, and writes the notes.
func (r *reader) finish() error {
	if len(r.task.Samples) == 0 {
		return fmt.Errorf("%s has no samples", r.t.name)
	}
	if err := r.known(); err != nil {
		return err
	}
	note := func(format string, args ...any) { r.task.Notes = append(r.task.Notes, fmt.Sprintf(format, args...)) }
	defer r.noteNumerals(note)
	if r.own && r.t.format != csvFormat && !r.m.Given() {
		return nil
	}
	taken := fmt.Sprintf("the input is the column %q", r.roles.input)
	if r.roles.target != "" {
		taken += fmt.Sprintf(", the target %q", r.roles.target)
	}
	if r.roles.choices != "" {
		taken += fmt.Sprintf(", the options %q", r.roles.choices)
	}
	note("%s", taken)
	if r.counts.accepted > 0 {
		note("the targets are texts: the value and the aliases of %q are accepted", r.column())
	}
	r.spelling.note(r.m, note)
	if r.t.sniffed != "" {
		note("the cells are separated by %ss, as the rows say", r.t.sniffed)
	}
	if r.t.format == csvFormat && r.m.Header == "" && looksLikeData(r.order) {
		note("the first row was taken for the names of the columns, and looks like data: if it is, write header=none, where they are called 1, 2 and so on")
	}
	if r.roles.target == "" {
		note("no column is called %s: nothing is scored without target=COLUMN", strings.Join(usualNames("target"), ", "))
	}
	if unused := r.unused(); len(unused) > 0 {
		note("not used: %s", quotedList(unused))
	}
	if c := r.counts; c.counted > 1 && c.zeros == 0 {
		note("the targets were taken to count the options from 0, and none is 0: if they count from 1, write target=position:%s", r.roles.target)
	}
	return nil
}

// noteNumerals says where numbers are compared as texts, in whichever form they were mapped.
// It names target=number: only where all targets can be read so.
func (r *reader) noteNumerals(note func(format string, args ...any)) {
	kind, _ := r.m.target()
	c := r.counts
	why := c.spelling.check(r.m)
	numbers := c.spelling.other == 0 && slices.Contains([]string{"", "text"}, kind)
	switch {
	case c.numerals == 0:
	case c.numerals == c.texts && numbers && why != nil:
		note("every target is a number written as a text, and compared as a text; as numbers, with target=number:%s, %v", r.column(), why)
	case c.numerals == c.texts && numbers:
		note("every target is a number written as a text, and compared as a text: write target=number:%s to ask for numbers", r.column())
	case c.numerals == c.texts:
		note("every target is a number written as a text, and compared as a text, so that 1.50 is not 1.5: choose --scorer math")
	default:
		note("%d of %d targets are numbers written as texts, and compared as texts, so that 1.50 is not 1.5: choose --scorer math", c.numerals, c.texts)
	}
}

// column is the name of the column that targets are from; "" if they are from none.
func (r *reader) column() string {
	if r.m.Target == "" {
		return r.roles.target
	}
	kind, columns := r.m.target()
	if kind == "literal" {
		return ""
	}
	return columns[0]
}

// withValues is the one of some columns that has a value in any row; "" if none or several have.
func (r *reader) withValues(names []string) string {
	key := strings.Join(names, "\x00")
	if known, ok := r.filled[key]; ok {
		return known
	}
	has := map[string]bool{}
	_ = r.t.Each(func(row Row) error { // what is wrong with it is said where samples are made
		for _, name := range names {
			if raw, err := row.Cell(name); err == nil && raw != nil {
				has[name] = true
			}
		}
		if len(has) > 1 {
			return errFirst
		}
		return nil
	})
	if r.filled == nil {
		r.filled = map[string]string{}
	}
	if len(has) == 1 {
		for name := range has {
			r.filled[key] = name
		}
	}
	return r.filled[key]
}

// unused are the columns that nothing was taken from.
func (r *reader) unused() []string {
	taken := append(r.m.columns(), r.roles.input, r.roles.target, r.roles.id, r.roles.metadata)
	taken = append(taken, strings.Split(r.roles.choices, ",")...)
	var unused []string
	for _, name := range r.order {
		if !slices.ContainsFunc(taken, func(t string) bool { return t == name || strings.HasPrefix(t, name+".") }) {
			unused = append(unused, name)
		}
	}
	return unused
}
