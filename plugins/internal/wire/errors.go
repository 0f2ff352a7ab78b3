package wire

import (
	"context"
	"errors"

	"noema/methods"
)

// sentinels pairs each code with the error that errors.Is finds on the other
// side, in the order in which they are looked for.
var sentinels = []struct {
	code Code
	err  error
}{
	{Code_CODE_BUDGET, methods.ErrBudget},
	{Code_CODE_MISS, methods.ErrMiss},
	{Code_CODE_UNKNOWN_TOOL, methods.ErrUnknownTool},
	{Code_CODE_PROVIDER, methods.ErrProvider},
	{Code_CODE_CANCELED, context.Canceled},
	{Code_CODE_DEADLINE, context.DeadlineExceeded},
	{Code_CODE_PANIC, ErrPanic},
}

// ErrPanic marks a method that panicked.
var ErrPanic = errors.New("method panicked")

// FromError converts an error for the wire; nil stays nil.
func FromError(err error) *Error {
	if err == nil {
		return nil
	}
	e := &Error{Message: clean(err.Error())}
	for _, s := range sentinels {
		if errors.Is(err, s.err) {
			e.Code = s.code
			break
		}
	}
	return e
}

// ToError is the inverse of FromError: same text, and errors.Is finds the
// same sentinel.
func ToError(e *Error) error {
	if e == nil {
		return nil
	}
	for _, s := range sentinels {
		if s.code == e.GetCode() {
			return &remoteError{e.GetMessage(), s.err}
		}
	}
	return errors.New(e.GetMessage())
}

type remoteError struct {
	message  string
	sentinel error
}

func (e *remoteError) Error() string { return e.message }
func (e *remoteError) Unwrap() error { return e.sentinel }
