package symbols

import (
	"go/types"
	"path"
	"reflect"
	"strings"
	"testing"
)

// TestNames holds that the names which the tables find by themselves are those of the
// packages: a function where the package has a function, and a type where it has a type.
func TestNames(t *testing.T) {
	importer := NewImporter()
	for key, table := range tables() {
		pkg := mustImport(t, importer, path.Dir(key))
		for name, v := range table {
			switch o := pkg.Scope().Lookup(strings.TrimPrefix(name, "_")).(type) {
			case *types.Func:
				if v.Kind() != reflect.Func || v.Type().NumIn() != o.Signature().Params().Len() {
					t.Errorf("%s.%s is a %v", key, name, v.Type())
				}
			case *types.TypeName:
				if v.Kind() != reflect.Pointer || !v.IsNil() {
					t.Errorf("%s.%s is a %v, want a type", key, name, v.Type())
				}
			case *types.Var:
				if !v.CanAddr() {
					t.Errorf("%s.%s is not a variable", key, name)
				}
			default:
				t.Errorf("%s has no %s", key, name)
			}
		}
	}
}
