package yaegi

import (
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"strings"

	"github.com/traefik/yaegi/interp"

	"noema/kernel/session/cell/internal/machine"
)

// maxTrace bounds the frames of a trace.
const maxTrace = 50

// unwinding receives a line of the interpreter for every function that a panic
// ends, innermost first, as "p17/_.go:1:5: panic: main.c1__f(...)". It names where the
// function is, by the directive of [mark], but not where it was when it ended.
type unwinding struct{ *Engine }

// Write implements io.Writer, in the goroutine that panics.
func (u unwinding) Write(line []byte) (int, error) {
	var pos, row, column int
	var name string
	if _, err := fmt.Sscanf(string(line), "p%d/_.go:%d:%d: panic: main.%s", &pos, &row, &column, &name); err != nil {
		return len(line), nil
	}
	name, _, _ = strings.Cut(strings.TrimSuffix(name, "(...)"), ".func") // literals have no name
	if _, own, ok := strings.Cut(name, "__"); ok {                       // the prefix of the cell
		name = own
	}
	if t, ok := u.traces.Load(u.machine.Thread()); ok && name != entryName {
		if trace := t.(*[]machine.Frame); len(*trace) < maxTrace {
			*trace = append(*trace, machine.Frame{Function: name, Pos: token.Pos(pos)})
		}
	}
	return len(line), nil
}

// mark is what begins the text of a function, for the interpreter to know it by. The
// name of the file stays: the interpreter keeps imports by it.
func mark(at token.Pos) string {
	return fmt.Sprintf("/*line p%d/%s:1:1*/", at, interp.DefaultSourceName)
}

// unmarked is what the interpreter says of a panic, without where by a mark.
func unmarked(text string) string {
	return regexp.MustCompile(`p\d+/_\.go:\d+:\d+: `).ReplaceAllString(text, "")
}

// beginning is where a function begins in its cell: that of the cell's statements
// where the first of them does.
func (l *lowering) beginning(f *ast.FuncDecl) token.Pos {
	if f.Recv == nil && f.Name.Name == l.unit.Run && len(f.Body.List) > 0 {
		return f.Body.List[0].End() - 1
	}
	return f.Pos()
}
