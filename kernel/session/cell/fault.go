package cell

import (
	"errors"
	"fmt"
	"go/token"
	"strings"

	"noema/kernel/session/cell/internal/machine"
	"noema/kernel/session/cell/internal/yaegi"
)

// Kinds of [Error].
const (
	kindSyntax      = "syntax error"
	kindType        = "type error"
	kindUnsupported = "unsupported"
	kindPanic       = "panic"
	kindInterrupted = "interrupted"
	kindExit        = "exit"
	kindMemory      = "out of memory"
)

// died handles a panic that ended a goroutine of cells. It fails the cell if that
// is still running, as it would end a program.
func (ws *workspace) died(e *machine.Execution, p *machine.Panic) {
	err := ws.panicError(p)
	if e.Number > 0 && ws.machine.Current() == e {
		e.Stop(err, true)
		return
	}
	fmt.Fprintf(ws.stderr, "panic in a goroutine of cell %d: %v\n", e.Number, err)
}

// Guard calls f, which compiled code runs in a goroutine of its own and which
// calls functions of cells. A panic of theirs is returned; without Guard it would
// end the cell that runs, as it would end a program. The kind of the error is
// "interrupted" if that cell was stopped under f. What f printed has been passed on.
func (s *Session) Guard(f func()) error {
	ws := s.present()
	p := ws.machine.Guard(f)
	s.console.flush()
	switch {
	case p == nil:
		return nil
	case p.Stopped():
		return fail(kindInterrupted, "the cell was stopped: "+p.Error(), "")
	default:
		return ws.panicError(p)
	}
}

// Report words the error as compilers do, with a line for each fault, as
// file:line:column: message, and for each call of a panic's trace.
func (e *Error) Report() string {
	var b strings.Builder
	for i, f := range e.Faults {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString(f.At())
		if e.Kind == kindPanic {
			b.WriteString("panic: ")
		}
		b.WriteString(f.Message)
		if f.Hint != "" {
			fmt.Fprintf(&b, " (%s)", f.Hint)
		}
	}
	for _, line := range e.Trace {
		b.WriteString("\n\t" + line)
	}
	return b.String()
}

// panicError converts a panic to an error.
func (ws *workspace) panicError(p *machine.Panic) *Error {
	message := ws.panicText(p.Value)
	f := Fault{Message: message, Hint: hintFor(message)}
	e := &Error{Kind: kindPanic}
	switch {
	case machine.Unsupported(p.Value):
		e.Kind = kindUnsupported
	case yaegi.Refused(p.Value):
		e.Kind, f.Hint = kindUnsupported, yaegi.Cure
	}
	for _, fr := range p.Trace {
		at := ws.fset.Position(fr.Pos)
		if !fr.Pos.IsValid() || at.Filename == "" {
			continue
		}
		line, in := at.Filename, ""
		if name := functionName(fr.Function); name != "" {
			in = ", in " + name
		}
		if !ws.engine.lines() {
			at = token.Position{Filename: line + in}
		} else {
			line += fmt.Sprintf(", line %d", at.Line)
		}
		if f.Source == "" {
			f.Source, f.Line, f.Column = at.Filename, at.Line, at.Column
		}
		line += in
		e.Trace = append(e.Trace, line)
	}
	e.Faults = []Fault{f}
	return e
}

// functionName is the name that a cell gives the function of a frame; "" for the
// cell's own statements.
func functionName(function string) string {
	name := strings.TrimPrefix(function, "main.")
	name = strings.ReplaceAll(name, "(*main.", "(*")
	name = strings.ReplaceAll(name, "(main.", "(")
	if rest, ok := strings.CutPrefix(name, "statements__"); ok {
		if rest == "" {
			return ""
		}
		return "func" + strings.ReplaceAll(rest, "$", "")
	}
	return name
}

// panicText is what the Go runtime would print after "panic: ".
func (ws *workspace) panicText(v any) (text string) {
	defer func() {
		if r := recover(); r != nil {
			text = fmt.Sprintf("a value that cannot be printed: %v", r)
		}
	}()
	switch v := ws.machine.View(v).(type) {
	case error:
		return v.Error()
	case fmt.Stringer:
		return v.String()
	default:
		return fmt.Sprint(v)
	}
}

const nilDereference = "runtime error: invalid memory address or nil pointer dereference"

// hintFor explains common messages.
func hintFor(message string) string {
	if strings.HasPrefix(message, nilDereference) {
		return "a pointer, map, function or interface in this expression is nil"
	}
	return ""
}

// stoppedError is the error of a cell that was stopped.
func stoppedError(of *machine.Execution, reason error) error {
	var e *Error
	var code exitStatus
	switch {
	case errors.As(reason, &e):
		return e
	case errors.As(reason, &code):
		out := fail(kindExit, fmt.Sprintf("exit status %d", int(code)), "")
		out.Code = int(code)
		return out
	}
	hint := ""
	if n := of.Live(); n > 0 {
		hint = fmt.Sprintf("%d of its goroutines are blocked in compiled code and end when that returns", n)
	}
	return fail(kindInterrupted, reason.Error(), hint)
}

// fail returns an Error with one fault without a position.
func fail(kind, message, hint string) *Error {
	return &Error{Kind: kind, Faults: []Fault{{Message: message, Hint: hint}}}
}

// asError converts any error to an *Error.
func asError(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return fail(kindUnsupported, err.Error(), "")
}
