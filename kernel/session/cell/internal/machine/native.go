package machine

import (
	"context"
	"go/types"
	"reflect"

	"golang.org/x/tools/go/ssa"
)

// native is a compiled function or method.
type native struct {
	fn       reflect.Value
	params   []kind // with the receiver, without the thread
	results  []kind
	variadic bool
	threaded bool // it takes the calling thread first
}

var threadType = reflect.TypeFor[*Thread]()

func backgroundContext() (context.Context, context.CancelFunc) {
	return context.WithCancel(context.Background())
}

// nativeOf finds the compiled function that an SSA function without a body
// stands for. The lock is held.
func (m *Machine) nativeOf(fn *ssa.Function) *native {
	if n, ok := m.natives[fn]; ok {
		return n
	}
	n := &native{variadic: fn.Signature.Variadic()}
	o, ok := fn.Object().(*types.Func)
	if !ok {
		panic(unsupported("%s", fn))
	}
	if recv := fn.Signature.Recv(); recv != nil {
		rt := m.layouts.of(recv.Type())
		method, ok := rt.MethodByName(o.Name())
		if !ok {
			panic(unsupported("the method %s", o.FullName()))
		}
		n.fn = method.Func
		n.params = append(n.params, m.kindOf(recv.Type()))
	} else {
		v, ok := m.layouts.tables[o.Pkg().Path()][o.Name()]
		if !ok || v.Kind() != reflect.Func {
			panic(unsupported("the function %s", o.FullName()))
		}
		n.fn = v
		n.threaded = v.Type().NumIn() > 0 && v.Type().In(0) == threadType
	}
	n.params = append(n.params, m.kindsOf(fn.Signature.Params())...)
	n.results = m.kindsOf(fn.Signature.Results())
	m.fit(n)
	m.viewed(n, o, len(n.params)-fn.Signature.Params().Len())
	m.refuseValue(n, o)
	if o.Pkg().Path() == "sync" && fn.Signature.Recv() != nil {
		m.guardSync(n, o.Name())
	}
	m.natives[fn] = n
	return n
}

// fit wraps a compiled function some of whose parameters are unnamed interfaces
// with methods, which cells hold as any.
func (m *Machine) fit(n *native) {
	ft, shift := n.fn.Type(), 0
	if n.threaded {
		shift = 1
	}
	var differ []int
	for i, k := range n.params {
		if ft.In(i+shift) != k.rt {
			differ = append(differ, i+shift)
		}
	}
	if len(differ) == 0 {
		return
	}
	plain := n.fn
	in := make([]reflect.Type, ft.NumIn())
	for i := range in {
		in[i] = ft.In(i)
	}
	for _, i := range differ {
		in[i] = n.params[i-shift].rt
		if in[i] != anyType || ft.In(i).Kind() != reflect.Interface {
			panic(unsupported("a function with a parameter of type %s", ft.In(i)))
		}
	}
	out := make([]reflect.Type, ft.NumOut())
	for i := range out {
		out[i] = ft.Out(i)
	}
	n.fn = reflect.MakeFunc(reflect.FuncOf(in, out, ft.IsVariadic()), func(args []reflect.Value) []reflect.Value {
		for _, i := range differ {
			if args[i].IsNil() {
				args[i] = reflect.Zero(ft.In(i))
			} else {
				args[i] = m.adapt(m.unwrap(args[i].Interface()), ft.In(i), nil)
			}
		}
		return call(plain, args, ft.IsVariadic())
	})
}
