package symbols

import (
	"go/constant"
	"go/token"
	"go/types"
	"reflect"
	"strings"
)

// TypeOf returns the checker's type for that of a compiled value, such as a
// variable that a session starts with. Named types are those of the packages
// that Import returns. A type of a package that is not in the tables has its
// exported fields and methods; unexported fields are left without a type.
func (m *Importer) TypeOf(t reflect.Type) types.Type {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.typeOf(t)
}

// typeOf is TypeOf under the lock.
func (m *Importer) typeOf(t reflect.Type) types.Type {
	if t == nil {
		return types.Typ[types.UntypedNil]
	}
	if known, ok := m.compiled[t]; ok {
		return known
	}
	if t == reflect.TypeFor[error]() {
		return types.Universe.Lookup("error").Type()
	}
	if t.PkgPath() != "" && t.PkgPath() != "unsafe" {
		return m.named(t)
	}
	made := m.plain(t)
	m.compiled[t] = made
	return made
}

// named finds a named type in its package, or makes one up from what
// reflection tells.
func (m *Importer) named(t reflect.Type) types.Type {
	pkg, err := m.load(t.PkgPath())
	if err != nil {
		pkg = m.stub(t.PkgPath())
	}
	if found := m.lookup(pkg, t.Name()); found != nil {
		m.compiled[t] = found
		return found
	}
	obj := types.NewTypeName(token.NoPos, pkg, t.Name(), nil)
	named := types.NewNamed(obj, nil, nil)
	m.compiled[t] = named // before its parts, which may name it again
	if !strings.Contains(t.Name(), "[") && pkg.Scope().Lookup(t.Name()) == nil {
		pkg.Scope().Insert(obj)
	}
	named.SetUnderlying(m.plain(t).Underlying())
	if t.Kind() != reflect.Interface {
		m.addMethods(named, t)
	}
	return named
}

// stub is a package that is known only from types that mention it.
func (m *Importer) stub(path string) *types.Package {
	if pkg := m.packages[path]; pkg != nil {
		return pkg
	}
	_, name, _ := cutLast(path, "/")
	pkg := types.NewPackage(path, name)
	m.packages[path] = pkg
	return pkg
}

// lookup finds a type by the name that reflection gives it, which for an
// instance of a generic type has the arguments in brackets: "Seq[int]".
func (m *Importer) lookup(pkg *types.Package, name string) types.Type {
	base, rest, generic := strings.Cut(name, "[")
	obj, ok := pkg.Scope().Lookup(base).(*types.TypeName)
	if !ok {
		return nil
	}
	if !generic {
		return obj.Type()
	}
	var args []types.Type
	for _, arg := range splitArgs(strings.TrimSuffix(rest, "]")) {
		t := m.typeNamed(arg)
		if t == nil {
			return nil
		}
		args = append(args, t)
	}
	inst, err := types.Instantiate(nil, obj.Type(), args, true)
	if err != nil {
		return nil
	}
	return inst
}

// splitArgs splits type arguments at the commas that stand in no brackets.
func splitArgs(list string) []string {
	var args []string
	depth, start := 0, 0
	for i, c := range list {
		switch {
		case c == '[' || c == '(' || c == '{':
			depth++
		case c == ']' || c == ')' || c == '}':
			depth--
		case c == ',' && depth == 0:
			args = append(args, list[start:i])
			start = i + 1
		}
	}
	return append(args, list[start:])
}

// typeNamed reads a type argument as reflection writes it: a basic type, a
// pointer, a slice, or "path/to/pkg.Name". Others give nil.
func (m *Importer) typeNamed(text string) types.Type {
	switch {
	case strings.HasPrefix(text, "*"):
		if elem := m.typeNamed(text[1:]); elem != nil {
			return types.NewPointer(elem)
		}
		return nil
	case strings.HasPrefix(text, "[]"):
		if elem := m.typeNamed(text[2:]); elem != nil {
			return types.NewSlice(elem)
		}
		return nil
	case text == "interface {}":
		return types.Universe.Lookup("any").Type()
	}
	if obj, ok := types.Universe.Lookup(text).(*types.TypeName); ok {
		return obj.Type()
	}
	path, name, ok := cutLast(text, ".")
	if !ok || strings.ContainsAny(path, "[]{}() ") {
		return nil
	}
	pkg, err := m.load(path)
	if err != nil {
		return nil
	}
	return m.lookup(pkg, name)
}

// addMethods gives a named type the methods of its pointer, and knows those
// that the value has as well.
func (m *Importer) addMethods(named *types.Named, t reflect.Type) {
	ptr := reflect.PointerTo(t)
	for i := range ptr.NumMethod() {
		method := ptr.Method(i)
		var recv types.Type = types.NewPointer(named)
		if _, ok := t.MethodByName(method.Name); ok {
			recv = named
		}
		sig := m.signature(method.Type, 1)
		full := types.NewSignatureType(types.NewVar(token.NoPos, named.Obj().Pkg(), "", recv),
			nil, nil, sig.Params(), sig.Results(), sig.Variadic())
		named.AddMethod(types.NewFunc(token.NoPos, named.Obj().Pkg(), method.Name, full))
	}
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

// plain makes a type from its parts, whatever its name.
func (m *Importer) plain(t reflect.Type) types.Type {
	if kind, ok := basics[t.Kind()]; ok {
		return types.Typ[kind]
	}
	switch t.Kind() {
	case reflect.Pointer:
		return types.NewPointer(m.typeOf(t.Elem()))
	case reflect.Slice:
		return types.NewSlice(m.typeOf(t.Elem()))
	case reflect.Array:
		return types.NewArray(m.typeOf(t.Elem()), int64(t.Len()))
	case reflect.Map:
		return types.NewMap(m.typeOf(t.Key()), m.typeOf(t.Elem()))
	case reflect.Chan:
		return types.NewChan(directions[t.ChanDir()], m.typeOf(t.Elem()))
	case reflect.Func:
		return m.signature(t, 0)
	case reflect.Struct:
		return m.structType(t)
	}
	return m.interfaceType(t)
}

// signature makes a func's type without its first parameters.
func (m *Importer) signature(t reflect.Type, skip int) *types.Signature {
	var params, results []*types.Var
	for i := skip; i < t.NumIn(); i++ {
		params = append(params, types.NewParam(token.NoPos, nil, "", m.typeOf(t.In(i))))
	}
	for i := range t.NumOut() {
		results = append(results, types.NewParam(token.NoPos, nil, "", m.typeOf(t.Out(i))))
	}
	return types.NewSignatureType(nil, nil, nil, types.NewTuple(params...), types.NewTuple(results...), t.IsVariadic())
}

// opaque stands for the type of an unexported field: nothing can be done with
// it but, if the field allows it, comparing.
func opaque(comparable bool) types.Type {
	if comparable {
		return types.NewStruct(nil, nil)
	}
	return types.NewSlice(types.NewStruct(nil, nil))
}

func (m *Importer) structType(t reflect.Type) types.Type {
	var fields []*types.Var
	var tags []string
	for i := range t.NumField() {
		f := t.Field(i)
		var typ types.Type
		if f.IsExported() || f.Anonymous {
			typ = m.typeOf(f.Type)
		} else {
			typ = opaque(f.Type.Comparable())
		}
		var pkg *types.Package
		if f.PkgPath != "" {
			pkg = m.stub(f.PkgPath)
		}
		fields = append(fields, types.NewField(token.NoPos, pkg, f.Name, typ, f.Anonymous))
		tags = append(tags, string(f.Tag))
	}
	return types.NewStruct(fields, tags)
}

func (m *Importer) interfaceType(t reflect.Type) types.Type {
	if t.NumMethod() == 0 {
		return types.Universe.Lookup("any").Type()
	}
	var methods []*types.Func
	for i := range t.NumMethod() {
		method := t.Method(i)
		var pkg *types.Package
		if method.PkgPath != "" {
			pkg = m.stub(method.PkgPath)
		}
		methods = append(methods, types.NewFunc(token.NoPos, pkg, method.Name, m.signature(method.Type, 0)))
	}
	return types.NewInterfaceType(methods, nil).Complete()
}

// reflected makes a package from a table alone.
func (m *Importer) reflected(path string, table map[string]reflect.Value) *types.Package {
	pkg := m.packages[path]
	m.complete[path] = true // before its types, which may name the package
	for name, v := range table {
		if !token.IsExported(name) || pkg.Scope().Lookup(name) != nil {
			continue
		}
		if obj := m.object(pkg, name, v); obj != nil {
			pkg.Scope().Insert(obj)
		}
	}
	pkg.MarkComplete()
	return pkg
}

// object makes one entry of a table an object of its package, and nil of what
// is there under its own name already.
func (m *Importer) object(pkg *types.Package, name string, v reflect.Value) types.Object {
	switch {
	case !v.IsValid():
		return nil
	case v.Kind() == reflect.Pointer && v.IsNil() && !v.CanAddr():
		t := v.Type().Elem()
		typ := m.typeOf(t)
		if t.PkgPath() == pkg.Path() && t.Name() == name {
			return nil // typeOf has put it there
		}
		return types.NewTypeName(token.NoPos, pkg, name, typ)
	case v.CanAddr():
		return types.NewVar(token.NoPos, pkg, name, m.typeOf(v.Type()))
	case v.Kind() == reflect.Func:
		return types.NewFunc(token.NoPos, pkg, name, m.signature(v.Type(), 0))
	}
	if c, ok := v.Interface().(constant.Value); ok {
		return types.NewConst(token.NoPos, pkg, name, untyped(c), c)
	}
	if c := constantOf(v); c != nil {
		return types.NewConst(token.NoPos, pkg, name, m.typeOf(v.Type()), c)
	}
	return types.NewVar(token.NoPos, pkg, name, m.typeOf(v.Type()))
}

// untyped is the type of a constant that a table holds by its exact value.
func untyped(c constant.Value) types.Type {
	switch c.Kind() {
	case constant.Bool:
		return types.Typ[types.UntypedBool]
	case constant.String:
		return types.Typ[types.UntypedString]
	case constant.Int:
		return types.Typ[types.UntypedInt]
	case constant.Float:
		return types.Typ[types.UntypedFloat]
	}
	return types.Typ[types.UntypedComplex]
}

// constantOf is the value of a typed constant, or nil for what is no constant.
func constantOf(v reflect.Value) constant.Value {
	switch {
	case v.Kind() == reflect.Bool:
		return constant.MakeBool(v.Bool())
	case v.Kind() == reflect.String:
		return constant.MakeString(v.String())
	case v.CanInt():
		return constant.MakeInt64(v.Int())
	case v.CanUint():
		return constant.MakeUint64(v.Uint())
	case v.CanFloat():
		return constant.MakeFloat64(v.Float())
	}
	return nil
}
