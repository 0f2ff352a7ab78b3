package cell

import (
	"errors"
	"go/types"

	"noema/kernel/session/cell/internal/source"
)

// TypeOf returns the type of an expression without running it. The error is an
// [*Error].
func (s *Session) TypeOf(text string) (string, error) {
	ws := s.present()
	ws.mu.Lock()
	defer ws.mu.Unlock()
	o := source.Options{Source: "expression"}
	u, err := source.Read(ws.fset, "typeof__ := "+text, ws.environment(false), ws.hooks, o)
	if err != nil {
		err = ws.typeError(err)
		if e, ok := errors.AsType[*Error](err); ok {
			for i := range e.Faults {
				e.Faults[i].Source, e.Faults[i].Line = "", 0
			}
		}
		return "", asError(err)
	}
	v, ok := u.Package.Scope().Lookup("typeof__").(*types.Var)
	if !ok {
		return "", fail(kindType, "not an expression", "")
	}
	return typeText(v), nil
}
