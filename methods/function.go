package methods

import "context"

// Function is a method made of a function, where no type of its own is needed.
type Function struct {
	Description Description
	Func        func(ctx context.Context, p Problem, h Host) (Answer, error)
}

var (
	_ Method    = Function{}
	_ Describer = Function{}
)

// Describe implements [Describer].
func (f Function) Describe() Description { return f.Description }

// Solve implements [Method].
func (f Function) Solve(ctx context.Context, p Problem, h Host) (Answer, error) {
	return f.Func(ctx, p, h)
}
