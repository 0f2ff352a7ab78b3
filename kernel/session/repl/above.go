package repl

import (
	"strings"
	"sync"
)

// above is what goroutines print while the prompt is open. The line editor shows
// it above the prompt when it draws that again, in the editor's own goroutine.
type above struct {
	redraw func() // wakes the editor; safe in any goroutine

	mu      sync.Mutex
	taken   sync.Cond
	reading bool
	text    string
	armed   bool // the next prompt is the first of a drawing
}

// maxAbove is how much of it may wait: what prints more waits for the editor.
const maxAbove = 64 << 10

func newAbove(redraw func()) *above {
	a := &above{redraw: redraw}
	a.taken.L = &a.mu
	return a
}

// print takes a text over. It is false if the editor does not read.
func (a *above) print(text string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for a.reading && len(a.text) > maxAbove {
		a.taken.Wait()
	}
	if !a.reading {
		return false
	}
	a.text += text
	a.redraw()
	return true
}

// begin says that the editor reads.
func (a *above) begin() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.reading = true
}

// end says that the editor no longer reads, and returns what it has not shown.
func (a *above) end() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	rest := a.text
	a.text, a.reading = "", false
	a.taken.Broadcast()
	return rest
}

// arm says whether a drawing of the prompt comes next. The editor asks for the
// prompt for its width as well.
func (a *above) arm(is bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.armed = is
}

// before is what comes before the prompt: the complete lines that wait. They end
// with the control for the next line, since the editor draws a prompt only from
// its last newline on.
func (a *above) before() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	to := strings.LastIndexByte(a.text, '\n') + 1
	if len(a.text) > maxAbove {
		to = len(a.text)
	}
	if !a.armed || to == 0 {
		return ""
	}
	lines := a.text[:to]
	a.text = a.text[to:]
	a.taken.Broadcast()
	return clearBelow + strings.ReplaceAll(strings.ReplaceAll(lines, "\r\n", "\n"), "\n", nextLine)
}

// Controls of terminals.
const (
	clearBelow = "\x1b[J"
	nextLine   = "\x1bE"       // to the beginning of the next line, scrolling at the bottom
	rowBelow   = "\x1bD\x1b[A" // makes sure of a row below the cursor's
)
