package exchange

import (
	"context"
	"errors"

	"noema/methods"
)

// maxForms bounds the attempts of one Complete: it is more than any protocol has
// parameters that a server may refuse.
const maxForms = 12

// Complete attempts r in the form that is known to work, and again in the next
// one as long as a refusal teaches one. What the last attempt failed of is the
// error, as [Exchange.Failure] tells it. Adapt learns from a refusal: it is
// [Learned.Adapt], or what a protocol does around it.
func (l *Learned) Complete(ctx context.Context, x *Exchange, r methods.Request,
	attempt func(context.Context, methods.Request, Form) (methods.Completion, error),
	adapt func(Form, methods.Request, *Refusal) bool,
) (methods.Completion, error) {
	var err error
	for range maxForms {
		form := l.Form(r.Schema)
		var c methods.Completion
		if c, err = attempt(ctx, r, form); err == nil {
			return c, nil
		}
		var refused *Refusal
		if !errors.As(err, &refused) || !adapt(form, r, refused) {
			break
		}
	}
	return methods.Completion{}, x.Failure(ctx, err)
}
