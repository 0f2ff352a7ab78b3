package provider

import (
	"fmt"
	"strings"

	"noema/methods"
)

// Speaker is the optional second interface of a Provider whose server takes requests as
// programs send them: see [methods.Raw].
type Speaker interface {
	// Speaks reports whether requests of a wire, such as "openai.chat", can be sent as they are.
	Speaks(wire string) bool
}

// Spoken is r as p takes it. A program's request goes to a provider that speaks its wire as
// it is; to any other goes what could be read of it, if that is all.
func Spoken(p Provider, r methods.Request) (methods.Request, error) {
	p, err := Chosen(p, r)
	if err != nil {
		return r, err
	}
	if r.Raw == nil {
		return r, nil
	}
	if s, ok := p.(Speaker); ok && s.Speaks(r.Raw.Wire) {
		return r, nil
	}
	if len(r.Raw.Unread) > 0 {
		return r, &Error{
			Kind: Rejected, Err: fmt.Errorf("the program's request (%s) has what %s cannot be asked for: %s", r.Raw.Wire, p.Info().ID.Provider, strings.Join(r.Raw.Unread, ", ")),
			Hint: "use a model of a provider that speaks this protocol, or leave it out of the program",
		}
	}
	r.Raw = nil
	return r, nil
}
