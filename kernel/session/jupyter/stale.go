package jupyter

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"slices"
	"strings"

	"noema/kernel/base/display"
	"noema/kernel/session/cell"
)

// places knows which cells of the session a cell of the notebook ran as, and what
// was said below it about cells that it made stale. It is used by the shell's
// goroutine alone.
type places struct {
	ran   map[string]span // by the id that the client gives a cell
	reran int             // the last cell of the session that ran again for another
	marks []*mark
}

// span is the session's cells from first to last; it may be empty.
type span struct{ first, last int }

func (s span) has(number int) bool { return s.first <= number && number <= s.last }

// mark is a display below a cell about the cells that it made stale.
type mark struct {
	span
	id, text string
}

// cellMetadata is what JupyterLab says of a cell in the metadata of its request.
type cellMetadata struct {
	CellID  string   `json:"cellId"`
	Deleted []string `json:"deletedCells"`
}

// ranAs records that a request ran as the session's cells now. What its cell ran
// as before is gone, and so are cells that were deleted.
func (k *kernel) ranAs(m *message, store bool, now span) {
	var of cellMetadata
	_ = json.Unmarshal(m.metadata, &of) // other clients say something else, or nothing
	for _, id := range append(of.Deleted, of.CellID) {
		k.forget(k.places.ran[id])
		delete(k.places.ran, id)
	}
	now.first = max(now.first, k.places.reran+1)
	if !store { // the notebook has no such cell
		k.forget(now)
	} else if of.CellID != "" {
		k.places.ran[of.CellID] = now
	}
}

func (k *kernel) forget(s span) {
	for n := max(s.first, 1); n <= s.last; n++ {
		k.session.Forget(n)
	}
}

// markStale says below the cell that now ran which cells it made stale, and
// brings what was said below earlier ones up to date.
func (k *kernel) markStale(m *message, now span, count int) {
	stale := k.session.Stale()
	k.places.marks = slices.DeleteFunc(k.places.marks, func(mk *mark) bool {
		text := k.staleText(stale, mk.span)
		if text != mk.text {
			mk.text = text
			k.publish(m, "update_display_data", markContent(mk))
		}
		return text == ""
	})
	if text := k.staleText(stale, now); text != "" {
		mk := &mark{now, fmt.Sprintf("stale-%s-%d", k.id, count), text}
		k.places.marks = append(k.places.marks, mk)
		k.publish(m, "display_data", markContent(mk))
	}
}

// staleText names the cells that became stale by those of a span.
func (k *kernel) staleText(stale []cell.StaleCell, by span) string {
	var list []string
	for _, c := range stale {
		if shown, ok := k.numbers[c.Number]; ok && by.has(c.By) {
			list = append(list, fmt.Sprintf("cell %d (used %s)", shown, strings.Join(c.Names, ", ")))
		}
	}
	if len(list) == 0 {
		return ""
	}
	return "stale: " + strings.Join(list, ", ")
}

func markContent(mk *mark) map[string]any {
	text, colour, cure := mk.text, "#b58900", " · :rerun stale runs them again"
	if text == "" {
		text, colour, cure = "what this cell made stale has run again", "#999", ""
	}
	page := fmt.Sprintf(`<div style="border-left:3px solid %s;padding-left:8px;color:#777">%s</div>`, colour,
		html.EscapeString(text)+strings.Replace(cure, ":rerun stale", "<code>:rerun stale</code>", 1))
	return map[string]any{
		"data":     dataOf(display.HTMLText(page, text+cure)),
		"metadata": map[string]any{}, "transient": map[string]any{"display_id": mk.id},
	}
}

// rerun runs the stale cells again, or those of a kernel that died, in order, up
// to the first that fails. They keep their numbers.
func (k *kernel) rerun(ctx context.Context, what string) error {
	switch what {
	case "stale":
		return k.rerunStale(ctx)
	case "lost":
		if cells, _ := k.o.Journal.Lost(); len(cells) == 0 {
			k.output.Stream("stdout", []byte("no cell is lost\n"))
		}
		return k.o.Journal.Rerun(func(c cell.LostCell) error { return k.again(ctx, c.Number, c.Text) })
	}
	return fmt.Errorf("rerun %q: write \":rerun stale\" or \":rerun lost\"", what)
}

func (k *kernel) rerunStale(ctx context.Context) error {
	stale := k.session.Stale()
	if len(stale) == 0 {
		k.output.Stream("stdout", []byte("no cell is stale\n"))
	}
	for _, c := range stale {
		err := k.again(ctx, k.numbers[c.Number], c.Text)
		for id, s := range k.places.ran {
			if s.has(c.Number) {
				k.places.ran[id] = span{k.places.reran, k.places.reran}
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// again runs a cell again, under its number and first line.
func (k *kernel) again(ctx context.Context, shown int, text string) error {
	k.output.Stream("stdout", fmt.Appendf(nil, "cell %d again: %s\n", shown, display.Line(text, 80)))
	value, err := k.run(ctx, text, k.output, shown)
	k.places.reran = k.session.Count()
	if err == nil && len(value) > 0 {
		k.output.Show("", value)
	}
	return err
}
