package symbols

import (
	"fmt"
	"go/token"
	"go/types"
	"reflect"
)

// TypeOf returns the checker's type for that of a compiled value, such as a
// predeclared variable: a type of a package that cells can import, or one made of
// such and basic types.
func (m *Importer) TypeOf(t reflect.Type) (types.Type, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.typeOf(t)
}

// typeOf is TypeOf under the lock.
func (m *Importer) typeOf(t reflect.Type) (types.Type, error) {
	if t.PkgPath() != "" && t.PkgPath() != "unsafe" {
		return m.named(t)
	}
	if kind, ok := basics[t.Kind()]; ok {
		return types.Typ[kind], nil
	}
	switch {
	case t == reflect.TypeFor[error]():
		return types.Universe.Lookup("error").Type(), nil
	case t == reflect.TypeFor[any]():
		return types.Universe.Lookup("any").Type(), nil
	case t.Kind() == reflect.Func:
		return m.signature(t)
	case t.Kind() == reflect.Struct || t.Kind() == reflect.Interface:
		return nil, fmt.Errorf("type %v has no name: declare one", t)
	}
	elem, err := m.typeOf(t.Elem())
	if err != nil {
		return nil, err
	}
	switch t.Kind() {
	case reflect.Pointer:
		return types.NewPointer(elem), nil
	case reflect.Slice:
		return types.NewSlice(elem), nil
	case reflect.Array:
		return types.NewArray(elem, int64(t.Len())), nil
	case reflect.Chan:
		return types.NewChan(directions[t.ChanDir()], elem), nil
	}
	key, err := m.typeOf(t.Key())
	return types.NewMap(key, elem), err
}

// named finds a named type in its package.
func (m *Importer) named(t reflect.Type) (types.Type, error) {
	pkg, err := m.load(t.PkgPath())
	if err != nil {
		return nil, err
	}
	o, ok := pkg.Scope().Lookup(t.Name()).(*types.TypeName)
	if !ok || !o.Exported() {
		return nil, fmt.Errorf("type %v is not exported or is an instance of a generic type", t)
	}
	return o.Type(), nil
}

// basics are the kinds that have a type of the same name.
var basics = map[reflect.Kind]types.BasicKind{
	reflect.Bool: types.Bool, reflect.String: types.String, reflect.UnsafePointer: types.UnsafePointer,
	reflect.Int: types.Int, reflect.Int8: types.Int8, reflect.Int16: types.Int16, reflect.Int32: types.Int32, reflect.Int64: types.Int64,
	reflect.Uint: types.Uint, reflect.Uint8: types.Uint8, reflect.Uint16: types.Uint16, reflect.Uint32: types.Uint32, reflect.Uint64: types.Uint64,
	reflect.Uintptr: types.Uintptr, reflect.Float32: types.Float32, reflect.Float64: types.Float64,
	reflect.Complex64: types.Complex64, reflect.Complex128: types.Complex128,
}

var directions = map[reflect.ChanDir]types.ChanDir{
	reflect.BothDir: types.SendRecv, reflect.SendDir: types.SendOnly, reflect.RecvDir: types.RecvOnly,
}

func (m *Importer) signature(t reflect.Type) (*types.Signature, error) {
	var params, results []*types.Var
	add := func(to *[]*types.Var, t reflect.Type) error {
		typ, err := m.typeOf(t)
		*to = append(*to, types.NewParam(token.NoPos, nil, "", typ))
		return err
	}
	for in := range t.Ins() {
		if err := add(&params, in); err != nil {
			return nil, err
		}
	}
	for out := range t.Outs() {
		if err := add(&results, out); err != nil {
			return nil, err
		}
	}
	return types.NewSignatureType(nil, nil, nil, types.NewTuple(params...), types.NewTuple(results...), t.IsVariadic()), nil
}

// reflected makes a package of a table of functions.
func (m *Importer) reflected(path string, table map[string]reflect.Value) (*types.Package, error) {
	pkg := m.packages[path]
	for name, v := range table {
		if v.Kind() != reflect.Func {
			return nil, fmt.Errorf("import %q: %s is not a function", path, name)
		}
		sig, err := m.signature(v.Type())
		if err != nil {
			return nil, fmt.Errorf("import %q: %s: %w", path, name, err)
		}
		pkg.Scope().Insert(types.NewFunc(token.NoPos, pkg, name, sig))
	}
	pkg.MarkComplete()
	m.complete[path] = true
	return pkg, nil
}
