package machine

import (
	"fmt"
	"go/types"
	"reflect"
	"strconv"
	"sync/atomic"
	"unsafe"

	"noema/kernel/session/cell/internal/source"
)

// Package reflect makes types from finished parts, so it can neither name a type
// nor make one that leads back to itself. A named type of a cell is made in three
// steps: a hollow type, which lies in memory alike but whose parts lead nowhere, gets
// the name; its true parts are laid out, in which the hollow type stands for it; and
// the parts are entered into the hollow type.

// knots numbers the hollow types of the process: two alike would be one type.
var knots atomic.Int64

// knot lays out a named type.
func (l *layouts) knot(t *types.Named) reflect.Type {
	tag := reflect.StructTag(`knot:"` + strconv.FormatInt(knots.Add(1), 10) + `"`)
	hollow := l.hollow(t.Underlying(), tag)
	words := headerOf(hollow)
	words.name = addReflectOff(unsafe.Pointer(unsafe.SliceData(encodedName(typeName(t)))))
	words.flags = words.flags&^flagExtraStar | flagNamed
	l.types.Set(t, hollow)
	l.named.Store(hollow, t)
	tie(hollow, l.make(t.Underlying()))
	return hollow
}

// cyclic reports whether a type leads back to itself.
func (l *layouts) cyclic(t *types.Named) bool {
	return source.AnyPart(t.Underlying(), func(part types.Type) (found, done bool) {
		named, ok := part.(*types.Named)
		return ok && types.Identical(named, t), ok && l.native(named) != nil
	})
}

// hollow is a new type with the kind and memory of t.
func (l *layouts) hollow(t types.Type, tag reflect.StructTag) reflect.Type {
	alone := func(part types.Type) reflect.Type {
		return reflect.StructOf([]reflect.StructField{{Name: "V", Type: l.opaque(part), Tag: tag}})
	}
	as := func(kind reflect.Type) reflect.Type {
		rt := alone(t)
		to, from := headerOf(rt), headerOf(kind)
		to.kind, to.flags = from.kind, from.flags
		return rt
	}
	switch t := t.(type) {
	case *types.Basic:
		return as(basicTypes[t.Kind()])
	case *types.Pointer:
		return reflect.PointerTo(alone(t.Elem()))
	case *types.Slice:
		return reflect.SliceOf(alone(t.Elem()))
	case *types.Array:
		return reflect.ArrayOf(int(t.Len()), alone(t.Elem()))
	case *types.Map:
		return reflect.MapOf(l.opaque(t.Key()), alone(t.Elem()))
	case *types.Chan:
		return reflect.ChanOf(chanDirs[t.Dir()], alone(t.Elem()))
	case *types.Signature:
		if t.Params().Len()+t.Results().Len() == 0 {
			return as(reflect.TypeFor[func()]())
		}
		return reflect.FuncOf(l.tuple(t.Params(), alone, t.Variadic()), l.tuple(t.Results(), alone, false), t.Variadic())
	}
	fields := l.fields(t.(*types.Struct), l.opaque)
	if len(fields) == 0 {
		return alone(t)
	}
	fields[0].Tag = tag
	return reflect.StructOf(fields)
}

// tuple are the types of parameters or results.
func (l *layouts) tuple(t *types.Tuple, of func(types.Type) reflect.Type, variadic bool) []reflect.Type {
	all := make([]reflect.Type, t.Len())
	for i := range all {
		all[i] = of(t.At(i).Type())
	}
	if last := len(all) - 1; variadic && all[last].Kind() != reflect.Slice {
		all[last] = reflect.SliceOf(all[last])
	}
	return all
}

// opaque is a type with the memory of t that leads nowhere. Go compares and hashes
// its values as it does those of t.
func (l *layouts) opaque(t types.Type) reflect.Type {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return basicTypes[u.Kind()]
	case *types.Pointer, *types.Chan:
		return pointerType
	case *types.Slice:
		return reflect.TypeFor[[]struct{}]()
	case *types.Map:
		return reflect.TypeFor[map[struct{}]struct{}]()
	case *types.Signature:
		return reflect.TypeFor[func()]()
	case *types.Array:
		return reflect.ArrayOf(int(u.Len()), l.opaque(u.Elem()))
	case *types.Struct:
		if named, ok := types.Unalias(t).(*types.Named); ok {
			if rt := l.native(named); rt != nil {
				return rt
			}
		}
		return reflect.StructOf(l.fields(u, l.opaque))
	}
	return l.of(t)
}

// A type of package reflect begins with a header; see internal/abi in the Go tree.
type typeHeader struct {
	_     [20]byte
	flags uint8
	_     [2]byte
	kind  uint8
	_     [16]byte
	name  int32
	_     int32
}

const flagExtraStar, flagNamed = 1 << 1, 1 << 2

func headerOf(t reflect.Type) *typeHeader { return (*typeHeader)(word(reflect.ValueOf(t))) }

// encodedName is a name as package reflect keeps it: flags, the length, the text.
func encodedName(name string) []byte {
	b := []byte{1}
	n := len(name)
	for ; n >= 0x80; n >>= 7 {
		b = append(b, byte(n)|0x80)
	}
	return append(append(b, byte(n)), name...)
}

// addReflectOff keeps a name for the process's types. The runtime keeps it for
// packages that make types.
//
//go:linkname addReflectOff reflect.addReflectOff
func addReflectOff(name unsafe.Pointer) int32

// tie gives a hollow type the parts of a true one, to which pointers lead behind the
// header.
func tie(hollow, truth reflect.Type) {
	if hollow.Kind() != truth.Kind() || hollow.Size() != truth.Size() || hollow.Comparable() != truth.Comparable() {
		panic(fmt.Errorf("lay out the type %s: it is not in memory as %s", hollow, truth))
	}
	first, n := unsafe.Sizeof(typeHeader{}), 1 // the element of a pointer, slice or channel
	switch hollow.Kind() {
	case reflect.Struct: // the path of the package, the slice of fields
		n = 4
	case reflect.Map: // the key, the element, the group and the function that hashes
		n = 4
	case reflect.Array: // the element and the type of slices
		n = 2
	case reflect.Func: // behind two counts
		first, n = first+8, hollow.NumIn()+hollow.NumOut()
	case reflect.Pointer, reflect.Slice, reflect.Chan:
	default:
		return
	}
	words := func(t reflect.Type) []unsafe.Pointer {
		return unsafe.Slice((*unsafe.Pointer)(unsafe.Add(unsafe.Pointer(headerOf(t)), first)), n)
	}
	copy(words(hollow), words(truth))
}

// typeOf is the cell's type of a layout that contains one, or nil. The lock is held.
func (l *layouts) typeOf(rt reflect.Type) types.Type {
	if t, ok := l.named.Load(rt); ok {
		return t.(types.Type)
	}
	if rt.Name() != "" {
		return nil
	}
	switch rt.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Chan:
		e := l.typeOf(rt.Elem())
		switch {
		case e == nil:
			return nil
		case rt.Kind() == reflect.Pointer:
			return types.NewPointer(e)
		case rt.Kind() == reflect.Slice:
			return types.NewSlice(e)
		case rt.Kind() == reflect.Array:
			return types.NewArray(e, int64(rt.Len()))
		}
		return types.NewChan(types.SendRecv, e)
	case reflect.Map:
		k, e := l.typeOf(rt.Key()), l.typeOf(rt.Elem())
		if k == nil && e == nil {
			return nil
		}
		if k == nil {
			k = basicOf(rt.Key())
		}
		if e == nil {
			e = basicOf(rt.Elem())
		}
		return types.NewMap(k, e)
	}
	return nil
}

// basicOf is the checker's type of a basic layout.
func basicOf(rt reflect.Type) types.Type {
	for kind, basic := range basicTypes {
		if basic == rt && types.Typ[kind].Info()&types.IsUntyped == 0 {
			return types.Typ[kind]
		}
	}
	if rt == anyType {
		return anyOf
	}
	panic(unsupported("reflection on a map of the type %s and a type of cells", rt))
}
