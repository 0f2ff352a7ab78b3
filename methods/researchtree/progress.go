package researchtree

import (
	"fmt"
	"slices"
	"strings"

	"noema/methods"
	"noema/methods/reply"
)

// step is an action with what was observed.
type step struct {
	same   string // equal for actions that do the same
	action string
	seen   string
}

// same is equal for actions that do the same, however they are written.
func (t *solver) same(act action) string {
	switch a := act.Args; act.Tool {
	case "search":
		return "search " + strings.ToLower(strings.Join(strings.Fields(a.Query), " "))
	case "inspect":
		return "inspect " + key(t.address(a))
	case "read_section":
		return fmt.Sprintf("read %s # %s # %d", key(t.address(a)), strings.ToLower(strings.TrimSpace(a.Section)), max(1, a.Page))
	}
	return act.written()
}

// triedBefore finds the turn that did the same and what it gave, as far as the
// history shows turns: what has left it may be asked for again.
func (t *solver) triedBefore(act action) (turn int, gave string) {
	same := t.same(act)
	for i := max(0, len(t.past)-t.opts.History); i < len(t.past); i++ {
		if s := t.past[i]; s.same == same && !strings.HasPrefix(s.seen, "refused: ") {
			return i + 1, s.seen
		}
	}
	return 0, ""
}

// observe keeps what came of an action for the prompts to come. A refusal says
// what is left to do.
func (t *solver) observe(n int, act action, s seen) {
	if s.refused {
		t.refused = append(t.refused, act.Tool)
		s.text += t.left()
	} else {
		t.refused = nil
	}
	short, cut := reply.Head(s.text, t.opts.Observation)
	if cut {
		t.emit(n, methods.Truncated, "%d of %d bytes of the observation kept (head)", len(short), len(s.text))
	}
	t.past = append(t.past, step{t.same(act), act.written(), short})
	t.emit(n, methods.StepResult, "%s → %s", act.written(), short)
}

// leftEach bounds each line of what is left, in bytes.
const leftEach = 160

// left lists what was not tried yet: results not inspected, sections and pages
// not read, open tasks, and findings that may be wrong.
func (t *solver) left() string {
	var b strings.Builder
	line := func(what string, list []string) {
		if len(list) > 0 {
			b.WriteString("\n" + what + ": " + listed(list, leftEach))
		}
	}
	var results []string
	for _, h := range t.hits {
		if t.article(h.url) == nil {
			results = append(results, h.id+" "+h.title)
		}
	}
	line("not inspected", results)
	for _, a := range t.articles[max(0, len(t.articles)-2):] {
		line("not read of "+a.title, a.unread())
	}
	line("open tasks", strings.FieldsFunc(t.taskList(), func(r rune) bool { return r == '\n' }))
	line("findings, each can be corrected", t.tree.standing())
	return b.String()
}

// unread lists pages and sections, those in the middle of being read first.
func (a *article) unread() []string {
	list := slices.Clone(a.pages)
	for _, s := range a.sections {
		if !slices.Contains(a.read, s) {
			list = append(list, s)
		}
	}
	return list
}

// offered are the tools of the next turn. After Refusals refused actions in a row
// those that were refused are left out; after twice as many there are none, and
// the answer is demanded.
func (t *solver) offered() []tool {
	all := tools(t.form())
	switch {
	case len(t.refused) >= 2*t.opts.Refusals:
		return nil
	case t.stuck():
		return without(all, t.refused)
	}
	return all
}

// stuck reports whether so many actions in a row were refused that those are left
// out.
func (t *solver) stuck() bool { return len(t.refused) >= t.opts.Refusals }

// history shows the latest steps.
func (t *solver) history() string {
	var b strings.Builder
	from := max(0, len(t.past)-t.opts.History)
	for i, s := range t.past[from:] {
		fmt.Fprintf(&b, "%d. %s\n%s\n", from+i+1, s.action, s.seen)
	}
	return b.String()
}

func (t *solver) taskList() string {
	var b strings.Builder
	for i, k := range t.tasks {
		if !k.done {
			fmt.Fprintf(&b, "%d. %s\n", i+1, k.text)
		}
	}
	return b.String()
}

// state is what the prompts show.
func (t *solver) state() state {
	return state{t.tree.View(t.opts.TreeView), t.taskList(), t.history()}
}
