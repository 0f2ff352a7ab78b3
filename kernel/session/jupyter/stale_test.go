package jupyter

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"noema/kernel/session/cell"
)

// book runs cells of a notebook in a kernel with a session, without sockets.
type book struct {
	t         testing.TB
	k         *kernel
	published []string // kind: text
}

func newBook(t testing.TB) *book {
	t.Helper()
	s, err := cell.New(cell.Options{Imports: []string{"fmt"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	c := &book{t: t}
	c.k = &kernel{session: s, id: "k", numbers: numbers{}, places: places{ran: map[string]span{}}, collect: c.add}
	c.k.history, _ = cell.OpenHistory("", 0)
	c.k.output = newOutput(c.k)
	return c
}

func (c *book) add(kind string, content map[string]any) {
	data, _ := content["data"].(map[string]any)
	switch kind {
	case "execute_result", "display_data", "update_display_data":
		c.published = append(c.published, fmt.Sprintf("%s %s: %s", kind, displayID(content), data["text/plain"]))
	case "stream":
		c.published = append(c.published, fmt.Sprint("stream: ", content["text"]))
	case "error":
		c.published = append(c.published, fmt.Sprint("error: ", content["evalue"]))
	}
}

// run runs a cell by its id and returns what is published.
func (c *book) run(id, text string, deleted ...string) string {
	c.t.Helper()
	c.published = nil
	raw, err := json.Marshal(map[string]any{"code": text})
	if err != nil {
		c.t.Fatal(err)
	}
	metadata, err := json.Marshal(cellMetadata{id, deleted})
	if err != nil {
		c.t.Fatal(err)
	}
	c.k.execute(c.t.Context(), &message{content: raw, metadata: metadata})
	return strings.Join(c.published, "\n")
}

func (c *book) want(got, want string) {
	c.t.Helper()
	if got != want {
		c.t.Errorf("it publishes\n%s\nwant\n%s", got, want)
	}
}

// TestStaleMark: the cell that sets a variable again says which cells used it, and
// that is taken back when they have run again.
func TestStaleMark(t *testing.T) {
	c := newBook(t)
	c.run("a", "x := 20")
	c.run("", "%who") // which the session does not count
	c.run("b", "y := x * 2\ny")
	c.run("c", "fmt.Print(y / 2)")
	c.want(c.run("d", "x = 5"), "display_data stale-k-5: stale: cell 3 (used x), cell 4 (used y) · :rerun stale runs them again")
	if got := c.run("e", "%stale"); !strings.Contains(got, "3     y := x * 2 y      x     cell 5") {
		t.Errorf("%%stale shows %s", got)
	}
	c.want(c.run("e", "%rerun stale"), "stream: cell 3 again: y := x * 2 y\n\ndisplay_data : 10\n"+
		"stream: cell 4 again: fmt.Print(y / 2)\n5\nupdate_display_data stale-k-5: what this cell made stale has run again")
	c.want(c.run("e", ":rerun stale"), "stream: no cell is stale\n")
	c.want(c.run("d", "x = 6"), "display_data stale-k-9: stale: cell 3 (used x), cell 4 (used y) · :rerun stale runs them again")
}

// TestStaleCellsThatAreGone: a cell that was edited or deleted is not stale.
func TestStaleCellsThatAreGone(t *testing.T) {
	c := newBook(t)
	c.run("a", "x := 1")
	c.run("b", "x * 2")
	c.run("b", "x * 3")
	c.run("c", "x * 4")
	c.want(c.run("d", "x = 2", "c"), "display_data stale-k-5: stale: cell 3 (used x) · :rerun stale runs them again")
	c.want(c.run("b", "x * 5"), "execute_result : 10\nupdate_display_data stale-k-5: what this cell made stale has run again")
}

// TestRerunEndsAtAFailure, and what did not run again is still stale.
func TestRerunEndsAtAFailure(t *testing.T) {
	c := newBook(t)
	c.run("a", "x := 1")
	c.run("b", "1 / x")
	c.run("c", "2 / x")
	c.run("d", "x = 0")
	if got := c.run("e", "%rerun stale"); !strings.Contains(got, "error: cell 2, line 1: runtime error: integer divide by zero") ||
		!strings.HasSuffix(got, "update_display_data stale-k-4: stale: cell 3 (used x) · :rerun stale runs them again") {
		t.Errorf("it publishes %s", got)
	}
	if got := c.run("e", "%rerun all"); !strings.Contains(got, `rerun "all": write ":rerun stale" or ":rerun lost"`) {
		t.Errorf("it publishes %s", got)
	}
}
