package cell

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"noema/kernel/base/display"
	"noema/kernel/session/cell/internal/source"
)

// StaleCell is a cell that computed from a value which a later cell has replaced.
type StaleCell struct {
	Number int
	Text   string
	Names  []string // whose values have changed, sorted
	By     int      // the last cell that changed one of them
}

// trail is what cells have read and set, to find those that are stale.
type trail struct {
	cells     []step         // in order
	setBy     map[string]int // name -> the last cell that set it
	functions map[string]source.Effects
}

// step is a cell that ran.
type step struct {
	number int
	text   string
	source.Effects
}

func newTrail() trail {
	return trail{setBy: map[string]int{}, functions: map[string]source.Effects{}}
}

// add records a cell of a unit before it runs. One with the same text takes its
// place. definitions are those of the session before it: a function, type or
// constant that is defined again as it was has not changed.
func (t *trail) add(u *source.Unit, s step, definitions map[string]*definition) {
	for _, d := range u.Defines {
		old := definitions[d.Name]
		if !d.Part && old != nil && old.Source != d.Source {
			s.Sets[d.Name] = true
		}
	}
	for name := range s.Sets {
		t.setBy[name] = s.number
	}
	t.cells = slices.DeleteFunc(t.cells, func(c step) bool { return c.text == s.text })
	t.cells = append(t.cells, s)
}

// stale are the cells that read a name which a later cell has set, or which a
// stale cell has. A cell all of whose own names others have set since is left
// out: nothing depends on it, and to run it again would undo them.
func (t *trail) stale() (list []StaleCell) {
	by := map[int]int{} // stale cell -> the cell that made it so
	for _, c := range t.cells {
		if len(c.Sets) > 0 && !slices.ContainsFunc(slices.Collect(maps.Keys(c.Sets)), func(name string) bool { return t.setBy[name] == c.number }) {
			continue
		}
		out := StaleCell{Number: c.number, Text: c.text}
		for _, name := range slices.Sorted(maps.Keys(c.Reads)) {
			set := t.setBy[name]
			if from, stale := by[set]; stale && set < c.number {
				set = from
			}
			if set > c.number {
				out.Names, out.By = append(out.Names, name), max(out.By, set)
			}
		}
		if out.By > 0 {
			by[c.number] = out.By
			list = append(list, out)
		}
	}
	return list
}

// StaleTable lists stale cells by the numbers that a face shows for them.
func StaleTable(cells []StaleCell, shown func(number int) int) display.Table {
	var t display.Table
	t.Add("cell", "begins", "used", "changed by")
	for _, c := range cells {
		t.Row(fmt.Sprint(shown(c.Number)), display.Line(c.Text, 60), strings.Join(c.Names, ", "), fmt.Sprintf("cell %d", shown(c.By)))
	}
	return t
}

// VariableTable lists variables with the cells that declared them, under the numbers
// shown; a predeclared one has none.
func VariableTable(all []Variable, shown func(number int) int) display.Table {
	var t display.Table
	t.Add("name", "kind", "type", "cell")
	for _, v := range all {
		where := ""
		if n := shown(v.Cell); n > 0 {
			where = fmt.Sprint(n)
		}
		t.Row(v.Name, v.Kind, v.Type, where)
	}
	return t
}

// Stale lists the cells whose results come from values that have been set again
// since, in the order in which to run them again. It knows what go/types knows:
// assignments in cells and in the functions that they name, not changes through
// pointers, interfaces or compiled code.
func (s *Session) Stale() []StaleCell {
	ws := s.present()
	ws.mu.Lock()
	defer ws.mu.Unlock()
	return ws.names.trail.stale()
}

// Forget leaves a cell out of [Session.Stale], as when its text was deleted.
func (s *Session) Forget(number int) {
	ws := s.present()
	ws.mu.Lock()
	defer ws.mu.Unlock()
	t := &ws.names.trail
	t.cells = slices.DeleteFunc(t.cells, func(c step) bool { return c.number == number })
}
