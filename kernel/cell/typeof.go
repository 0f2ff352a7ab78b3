package cell

import (
	"errors"
	"go/types"

	"noema/kernel/cell/internal/source"
)

// TypeOf says what type an expression has, without running it. The error is an
// [*Error].
func (s *Session) TypeOf(text string) (string, error) {
	l := s.present()
	l.mu.Lock()
	defer l.mu.Unlock()
	o := source.Options{Source: "expression"}
	u, err := source.Read(l.fset, "typeof__ := "+text, l.sourceWorld(false), l.hooks, o)
	if err != nil {
		err = l.typeError(err)
		var e *Error
		if errors.As(err, &e) {
			for i := range e.Faults {
				e.Faults[i].Source, e.Faults[i].Line = "", 0
			}
		}
		return "", asError(err)
	}
	v, ok := u.Package.Scope().Lookup("typeof__").(*types.Var)
	if !ok {
		return "", fail(kindType, "that is no expression", "")
	}
	return typeText(v), nil
}
