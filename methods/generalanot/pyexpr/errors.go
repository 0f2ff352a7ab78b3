package pyexpr

import (
	"errors"
	"fmt"
)

// ErrLimit is what every [LimitError] wraps.
var ErrLimit = errors.New("evaluation limit reached")

// SyntaxError says why and where a text is not an expression of the subset.
type SyntaxError struct {
	Line, Col int // from 1; columns count characters
	Msg       string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("parse expression: line %d, column %d: %s", e.Line, e.Col, e.Msg)
}

// EvalError is an exception that CPython would raise too, with the place of
// the operation that raised it.
type EvalError struct {
	Line, Col int    // from 1; columns count characters
	Class     string // the exception's class, such as "ZeroDivisionError"
	Msg       string // close to CPython's wording, never relied upon
}

func (e *EvalError) Error() string {
	return fmt.Sprintf("evaluate expression: line %d, column %d: %s: %s", e.Line, e.Col, e.Class, e.Msg)
}

// LimitError says which limit an evaluation reached. It wraps [ErrLimit].
type LimitError struct {
	Line, Col int
	Limit     string // "steps", "memory" or "depth"
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("evaluate expression: line %d, column %d: the limit of %s is reached", e.Line, e.Col, e.Limit)
}

func (e *LimitError) Unwrap() error { return ErrLimit }

// The exception classes that the subset raises.
const (
	typeError      = "TypeError"
	valueError     = "ValueError"
	nameError      = "NameError"
	unboundError   = "UnboundLocalError"
	indexError     = "IndexError"
	keyError       = "KeyError"
	attributeError = "AttributeError"
	overflowError  = "OverflowError"
	zeroError      = "ZeroDivisionError"
	stopError      = "StopIteration"
	noDataError    = "StatisticsError"
	patternError   = "error" // re.error
)

// raise ends the evaluation with an exception. Inside the package exceptions
// travel as panics, as in encoding/json: Eval alone recovers them, and no
// expression of the subset can catch one.
func raise(class, format string, args ...any) {
	panic(&EvalError{Class: class, Msg: fmt.Sprintf(format, args...)})
}

// stopped carries a context's error out of an evaluation.
type stopped struct{ err error }

// syntaxFault is a SyntaxError whose place is still a byte offset.
type syntaxFault struct {
	pos int
	msg string
}

func fail(pos int, format string, args ...any) {
	panic(syntaxFault{pos, fmt.Sprintf(format, args...)})
}

func place(src string, pos int) (line, col int) {
	pos = min(pos, len(src))
	line, start := 1, 0
	for i := 0; i < pos; i++ {
		if src[i] == '\n' {
			line, start = line+1, i+1
		}
	}
	return line, len([]rune(src[start:pos])) + 1
}
