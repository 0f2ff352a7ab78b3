// Package display turns values into what people look at: tables, graphs, plots
// and texts, each in the forms that a terminal, a notebook and a web page need.
// It knows the forms alone; what a run or a comparison looks like is said where
// those live.
package display

// MIME types that a Bundle may hold. A bundle that is shown has always
// PlainText.
const (
	PlainText = "text/plain"
	HTML      = "text/html"
	Markdown  = "text/markdown"
	Latex     = "text/latex"
	SVG       = "image/svg+xml"
	PNG       = "image/png"
	JPEG      = "image/jpeg"
	JSON      = "application/json"
)

// Bundle is one thing to look at in several forms: MIME type to content. Text
// forms are UTF-8; images are their raw bytes. A face picks the richest form
// that it can show. HTML and SVG forms are self-contained, hold no script, and
// escape every text that came from outside.
type Bundle map[string][]byte

// Displayer is a value that knows what it looks like.
type Displayer interface {
	Display() Bundle
}

// Display implements [Displayer]: a bundle looks like itself.
func (b Bundle) Display() Bundle { return b }

// Screen is where displays go: a terminal, a notebook's cell, a file.
type Screen interface {
	// Show shows b. With an id, a later Show of the same id takes its place
	// where the screen can do that.
	Show(id string, b Bundle)
	// Clear removes what was shown by the present cell or script, where the
	// screen can do that; with wait, only when the next thing is shown.
	Clear(wait bool)
}
