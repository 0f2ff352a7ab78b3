package machine

import (
	"fmt"
	"go/types"
	"reflect"
	"strconv"
	"sync/atomic"
	"unsafe"

	"noema/kernel/cell/internal/source"
)

// Package reflect makes types from finished parts, so it cannot make a type that
// leads back to itself. Such a type is made in three steps: a hollow type, which
// lies in memory alike but whose parts lead nowhere; its true parts, in which the
// hollow type stands for it; and the parts' entry into the hollow type.

// knots numbers the hollow types of the process: two alike would be one type.
var knots atomic.Int64

// cyclic reports whether a type leads back to itself.
func (l *layouts) cyclic(t *types.Named) bool {
	return source.AnyPart(t.Underlying(), func(part types.Type) (found, done bool) {
		named, ok := part.(*types.Named)
		if !ok {
			return false, false
		}
		return types.Identical(named, t), l.native(named) != nil
	})
}

// knot lays out a type that leads back to itself.
func (l *layouts) knot(t *types.Named) reflect.Type {
	hollow := l.hollow(t.Underlying())
	l.types.Set(t, hollow)
	tie(hollow, l.make(t.Underlying()))
	return hollow
}

// hollow is a new type with the kind and memory of t.
func (l *layouts) hollow(t types.Type) reflect.Type {
	tag := reflect.StructTag(`knot:"` + strconv.FormatInt(knots.Add(1), 10) + `"`)
	alone := func(part types.Type) reflect.Type {
		return reflect.StructOf([]reflect.StructField{{Name: "V", Type: l.opaque(part), Tag: tag}})
	}
	switch t := t.(type) {
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
		in, out := make([]reflect.Type, t.Params().Len()), make([]reflect.Type, t.Results().Len())
		for i := range in {
			in[i] = alone(t.Params().At(i).Type())
		}
		if t.Variadic() {
			in[len(in)-1] = reflect.SliceOf(in[len(in)-1])
		}
		for i := range out {
			out[i] = alone(t.Results().At(i).Type())
		}
		return reflect.FuncOf(in, out, t.Variadic())
	}
	fields := l.fields(t.(*types.Struct), l.opaque)
	fields[0].Tag = tag
	return reflect.StructOf(fields)
}

// opaque is a type with the memory of t that leads nowhere. Go compares and hashes
// its values as it does those of t.
func (l *layouts) opaque(t types.Type) reflect.Type {
	switch u := t.Underlying().(type) {
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

// typeHeader is how many bytes a type of package reflect begins with before the
// pointers to its parts; see internal/abi in the Go tree.
const typeHeader = 48

// tie gives a hollow type the parts of a true one. Package reflect has no function
// for that.
func tie(hollow, truth reflect.Type) {
	if hollow.Kind() != truth.Kind() || hollow.Size() != truth.Size() || hollow.Comparable() != truth.Comparable() {
		panic(fmt.Errorf("lay out a type that contains itself: %s is not in memory as %s", hollow, truth))
	}
	first, n := typeHeader, 1 // where the pointers are; the element of a pointer, slice or channel
	switch hollow.Kind() {
	case reflect.Struct: // the path of the package, the fields
		n = 2
	case reflect.Array, reflect.Map: // the element and the type of slices; the key and the element
		n = 2
	case reflect.Func: // behind two counts
		first, n = first+8, hollow.NumIn()+hollow.NumOut()
	}
	words := func(t reflect.Type) []unsafe.Pointer {
		return unsafe.Slice((*unsafe.Pointer)(unsafe.Add(word(reflect.ValueOf(t)), first)), n)
	}
	copy(words(hollow), words(truth))
}
