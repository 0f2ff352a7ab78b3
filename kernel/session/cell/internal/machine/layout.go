package machine

import (
	"fmt"
	"go/types"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/tools/go/types/typeutil"
)

// layouts maps the checker's types to types of package reflect, which say how
// values lie in memory. A type of a cell has its name there (see knot), but not its
// methods, which are in its descriptor.
type layouts struct {
	tables   map[string]map[string]reflect.Value // by import path
	types    typeutil.Map                        // types.Type -> reflect.Type
	named    sync.Map                            // reflect.Type -> *types.Named of cells
	compiled map[*types.TypeName]reflect.Type    // unexported ones that search has found
	owned    typeutil.Map                        // types.Type -> bool, see own
}

var (
	anyType     = reflect.TypeFor[any]()
	errorType   = reflect.TypeFor[error]()
	pointerType = reflect.TypeFor[unsafe.Pointer]()
)

func newLayouts() *layouts {
	return &layouts{tables: map[string]map[string]reflect.Value{}, compiled: map[*types.TypeName]reflect.Type{}}
}

// isCell reports whether a package is a cell or one of the module, not a compiled
// one: the checker sets the language version of what it reads from source, which
// the source of generic functions of compiled packages does not state.
func isCell(p *types.Package) bool { return p != nil && (p.Path() == CellPath || p.GoVersion() != "") }

// isOwn reports whether only the machine knows a type's name and methods: the type
// is a cell's, or an instance of a generic type, which tables cannot hold.
func isOwn(t *types.Named) bool {
	return isCell(t.Obj().Pkg()) || t.TypeArgs().Len() > 0 && t.NumMethods() > 0
}

// of is the layout of a type.
func (l *layouts) of(t types.Type) reflect.Type {
	t = types.Unalias(t)
	if rt, ok := l.types.At(t).(reflect.Type); ok {
		return rt
	}
	rt := l.make(t)
	l.types.Set(t, rt)
	return rt
}

func (l *layouts) make(t types.Type) reflect.Type {
	switch t := t.(type) {
	case *types.Basic:
		return basicTypes[t.Kind()]
	case *types.Named:
		if rt := l.native(t); rt != nil {
			return rt
		}
		if !types.IsInterface(t) && (isOwn(t) || l.cyclic(t)) {
			return l.knot(t)
		}
		return l.of(t.Underlying())
	case *types.Pointer:
		return reflect.PointerTo(l.of(t.Elem()))
	case *types.Slice:
		return reflect.SliceOf(l.of(t.Elem()))
	case *types.Array:
		return reflect.ArrayOf(int(t.Len()), l.of(t.Elem()))
	case *types.Map:
		return reflect.MapOf(l.of(t.Key()), l.of(t.Elem()))
	case *types.Chan:
		return reflect.ChanOf(chanDirs[t.Dir()], l.of(t.Elem()))
	case *types.Signature:
		return reflect.FuncOf(l.tuple(t.Params(), l.of, false), l.tuple(t.Results(), l.of, false), t.Variadic())
	case *types.Interface:
		return anyType
	case *types.Struct:
		return reflect.StructOf(l.fields(t, l.of))
	}
	panic(unsupported("a value of type %s", t))
}

var chanDirs = map[types.ChanDir]reflect.ChanDir{
	types.SendRecv: reflect.BothDir, types.SendOnly: reflect.SendDir, types.RecvOnly: reflect.RecvDir,
}

var basicTypes = map[types.BasicKind]reflect.Type{
	types.Bool: reflect.TypeFor[bool](), types.UntypedBool: reflect.TypeFor[bool](),
	types.Int: reflect.TypeFor[int](), types.UntypedInt: reflect.TypeFor[int](),
	types.Int8: reflect.TypeFor[int8](), types.Int16: reflect.TypeFor[int16](),
	types.Int32: reflect.TypeFor[int32](), types.UntypedRune: reflect.TypeFor[int32](),
	types.Int64: reflect.TypeFor[int64](), types.Uint: reflect.TypeFor[uint](),
	types.Uint8: reflect.TypeFor[uint8](), types.Uint16: reflect.TypeFor[uint16](),
	types.Uint32: reflect.TypeFor[uint32](), types.Uint64: reflect.TypeFor[uint64](),
	types.Uintptr: reflect.TypeFor[uintptr](), types.Float32: reflect.TypeFor[float32](),
	types.Float64: reflect.TypeFor[float64](), types.UntypedFloat: reflect.TypeFor[float64](),
	types.Complex64: reflect.TypeFor[complex64](), types.Complex128: reflect.TypeFor[complex128](),
	types.UntypedComplex: reflect.TypeFor[complex128](), types.String: reflect.TypeFor[string](),
	types.UntypedString: reflect.TypeFor[string](), types.UnsafePointer: pointerType, types.UntypedNil: pointerType,
}

// native is the compiled form of a type, or nil if it has none.
func (l *layouts) native(t *types.Named) reflect.Type {
	o := t.Obj()
	if o.Pkg() == nil {
		if o.Name() == "error" {
			return errorType
		}
		return anyType
	}
	if isCell(o.Pkg()) || t.TypeArgs().Len() > 0 {
		return nil
	}
	if entry, ok := l.tables[o.Pkg().Path()][o.Name()]; ok && entry.Kind() == reflect.Pointer && entry.IsNil() {
		return entry.Type().Elem()
	}
	if rt, ok := l.compiled[o]; ok {
		return rt
	}
	if rt := l.search(o); rt != nil {
		return rt
	}
	if u, ok := t.Underlying().(*types.Interface); ok && u.NumMethods() > 0 {
		panic(unsupported("the type %s of a compiled package", t))
	}
	return nil
}

// search looks for an unexported type of a compiled package in its exported
// variables, functions and types.
func (l *layouts) search(o *types.TypeName) reflect.Type {
	seen := map[reflect.Type]bool{}
	var look func(rt reflect.Type, depth int) reflect.Type
	look = func(rt reflect.Type, depth int) reflect.Type {
		if rt.Name() == o.Name() && rt.PkgPath() == o.Pkg().Path() {
			return rt
		}
		if depth == 0 || seen[rt] {
			return nil
		}
		seen[rt] = true
		var parts []reflect.Type
		switch rt.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map, reflect.Chan:
			parts = append(parts, rt.Elem())
		case reflect.Struct:
			for i := range rt.NumField() {
				parts = append(parts, rt.Field(i).Type)
			}
		case reflect.Func:
			for i := range rt.NumIn() {
				parts = append(parts, rt.In(i))
			}
			for i := range rt.NumOut() {
				parts = append(parts, rt.Out(i))
			}
		}
		for _, part := range parts {
			if found := look(part, depth-1); found != nil {
				return found
			}
		}
		return nil
	}
	for _, v := range l.tables[o.Pkg().Path()] {
		if found := look(v.Type(), 4); found != nil {
			l.compiled[o] = found
			return found
		}
	}
	return nil
}

// fields are the fields of a struct whose types are laid out by of.
func (l *layouts) fields(t *types.Struct, of func(types.Type) reflect.Type) []reflect.StructField {
	fields := make([]reflect.StructField, t.NumFields())
	for i := range fields {
		f := t.Field(i)
		rt := of(f.Type())
		field := reflect.StructField{Name: f.Name(), Type: rt, Tag: reflect.StructTag(t.Tag(i))}
		if !f.Exported() {
			field.PkgPath = CellPath
			if f.Name() == "_" {
				field.Name = "_" + strconv.Itoa(i)
			}
		}
		field.Anonymous = f.Embedded() && f.Exported() && rt.NumMethod() == 0 && plainEmbedded(rt)
		fields[i] = field
	}
	return fields
}

// plainEmbedded reports whether reflection can embed a type.
func plainEmbedded(rt reflect.Type) bool {
	return rt.Kind() == reflect.Struct || rt.Kind() == reflect.Pointer && rt.Elem().Kind() == reflect.Struct && rt.Elem().NumMethod() == 0
}

// own reports whether a type contains a type that only the machine knows, so that
// its layout does not identify it.
func (l *layouts) own(t types.Type) bool {
	t = types.Unalias(t)
	if known, ok := l.owned.At(t).(bool); ok {
		return known
	}
	l.owned.Set(t, false) // a type that leads back to itself
	is := l.findOwn(t)
	l.owned.Set(t, is)
	return is
}

func (l *layouts) findOwn(t types.Type) bool {
	switch t := t.(type) {
	case *types.Named:
		if isOwn(t) {
			return true
		}
		for arg := range t.TypeArgs().Types() {
			if l.own(arg) {
				return true
			}
		}
	case *types.Interface:
		return t.NumMethods() > 0
	case *types.Map:
		return l.own(t.Key()) || l.own(t.Elem())
	case interface{ Elem() types.Type }: // pointers, slices, arrays, channels
		return l.own(t.Elem())
	case *types.Signature:
		return l.own(t.Params()) || l.own(t.Results())
	case *types.Tuple:
		for v := range t.Variables() {
			if l.own(v.Type()) {
				return true
			}
		}
	case *types.Struct:
		for f := range t.Fields() {
			if l.own(f.Type()) {
				return true
			}
		}
	}
	return false
}

// unsupportedError is the error for something that cells do not support.
type unsupportedError struct{ what string }

func (e unsupportedError) Error() string { return e.what }

func unsupported(format string, args ...any) error {
	return unsupportedError{strings.TrimSpace(fmt.Sprintf(format, args...)) + " is not available in cells: compile the script with go run"}
}
