// Package machine executes cells. go/types checks a cell and go/ssa compiles it to
// functions of some thirty instructions, in which the finer points of Go (order
// of evaluation, copies, loop variables, generics, promoted methods, deferred
// calls, ranges over functions) are explicit. The machine executes these on
// ordinary Go memory, so that a cell's pointers, slices, maps, channels and
// functions can be passed to compiled packages as they are.
//
// Compiled packages are reached through tables of symbols and interface wrappers
// in yaegi's format.
package machine

import (
	"fmt"
	"go/token"
	"go/types"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/types/typeutil"
)

// CellPath is the import path of cells.
const CellPath = "main"

// Tables are the compiled packages, in the format of yaegi's interp.Exports: by
// "path/name", then by the symbol's name. A type is a nil pointer to it, a
// variable is addressable, and "_Name" is the wrapper of interface Name.
type Tables = map[string]map[string]reflect.Value

// Options are what a machine works with.
type Options struct {
	Tables Tables
	// Died is called when a panic ends a goroutine of cells, in that goroutine.
	Died func(*Execution, *Panic)
	// StandIns replace compiled values in interfaces, such as os.Stdin, a file.
	StandIns map[any]any
	// Grow is asked before a cell gets a megabyte or more at once. Its error ends
	// the cell. It may be nil.
	Grow func(bytes int64) error
	// Print receives the output of the builtin functions print and println.
	Print func(text string)
}

// Machine holds the types, variables and functions of a session. It is safe for
// concurrent use.
type Machine struct {
	o          Options
	program    *ssa.Program
	boxes      sync.Map // reflect.Type of a value in an interface -> *descriptor, nil for compiled ones
	holding    sync.Map // reflect.Type -> bool, see holdsInterfaces
	wrappers   sync.Map // reflect.Type of a wrapper -> true
	adapters   sync.Map // reflect.Type of an interface -> *adapter
	closures   sync.Map // uintptr of a function value -> *closure
	current    atomic.Pointer[Execution]
	idle       atomic.Pointer[Thread] // of a call by compiled code that has returned
	executions sync.Map               // *Execution -> true, for those with goroutines
	routines   sync.Map               // goroutine number -> true, for those that the machine started
	threads    atomic.Int32           // goroutines and calls of methods under way
	maps       mapGuards
	unlocking  sync.Mutex

	mu          sync.Mutex // guards what follows
	layouts     *layouts
	descriptors typeutil.Map // types.Type -> *descriptor
	numbered    int
	globals     map[types.Object]unsafe.Pointer
	slots       map[*ssa.Function]*slotOfCode
	natives     map[*ssa.Function]*native
	richer      map[reflect.Type][]reflect.Type // wrappers with further methods
}

// New returns a machine without cells.
func New(fset *token.FileSet, o Options) *Machine {
	m := &Machine{
		o: o, layouts: newLayouts(),
		program: ssa.NewProgram(fset, ssa.InstantiateGenerics|ssa.BareInits|ssa.BuildSerially),
		globals: map[types.Object]unsafe.Pointer{}, slots: map[*ssa.Function]*slotOfCode{},
		natives: map[*ssa.Function]*native{}, richer: map[reflect.Type][]reflect.Type{},
	}
	for key, table := range o.Tables {
		if key == "." {
			m.readRicher(table["MapTypes"])
			continue
		}
		i := strings.LastIndex(key, "/")
		if i < 0 {
			continue
		}
		m.layouts.tables[key[:i]] = table
		for name, v := range table {
			if strings.HasPrefix(name, "_") && v.Kind() == reflect.Pointer && v.Type().Elem().Kind() == reflect.Struct {
				m.wrappers.Store(v.Type().Elem(), true)
			}
		}
	}
	return m
}

// readRicher reads yaegi's list of wrappers that have further methods.
func (m *Machine) readRicher(v reflect.Value) {
	if !v.IsValid() {
		return
	}
	all, ok := v.Interface().(map[reflect.Value][]reflect.Type)
	if !ok {
		return
	}
	for plain, more := range all {
		if plain.Kind() != reflect.Pointer {
			continue // a function that looks for further methods
		}
		m.richer[plain.Type().Elem()] = more
		for _, rt := range more {
			m.wrappers.Store(rt, true)
		}
	}
}

// Program is the SSA program to which cells' packages are added.
func (m *Machine) Program() *ssa.Program { return m.program }

// SameStorage gives a variable of a new cell the memory of an earlier cell's.
func (m *Machine) SameStorage(fresh, old types.Object) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if p, ok := m.globals[old]; ok {
		m.globals[fresh] = p
	}
}

// Declare allocates a variable, with the value v if that is valid.
func (m *Machine) Declare(o *types.Var, v reflect.Value) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := reflect.New(m.layouts.of(o.Type()))
	if v.IsValid() {
		p.Elem().Set(v)
	}
	m.globals[o] = p.UnsafePointer()
}

// SameType makes a type of a new cell replace an earlier cell's type with the same
// definition: values of the old type become values of the new one and have its
// methods.
func (m *Machine) SameType(fresh, old types.Type) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, wrap := range []func(types.Type) types.Type{
		func(t types.Type) types.Type { return t },
		func(t types.Type) types.Type { return types.NewPointer(t) },
	} {
		f, o := wrap(fresh), wrap(old)
		d := m.describe(o)
		m.layouts.types.Set(f, d.rt)
		if _, ok := f.(*types.Named); ok {
			m.layouts.named.Store(d.rt, f)
		}
		d.current.Store(&f)
		d.methods.Clear()
		m.descriptors.Set(f, d)
	}
}

// Replace makes the old function's callers call the new one, which has the same
// signature.
func (m *Machine) Replace(fresh, old *types.Func) {
	f, o := m.program.FuncValue(fresh), m.program.FuncValue(old)
	if f == nil || o == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.slotFor(o)
	s.code.Store(newCode(m, f))
	m.slots[f] = s
}

// slotOfCode holds the code of a function, which a later cell may replace.
type slotOfCode struct{ code atomic.Pointer[code] }

// slotFor is the slot of a function's code. The lock is held.
func (m *Machine) slotFor(fn *ssa.Function) *slotOfCode {
	if s, ok := m.slots[fn]; ok {
		return s
	}
	s := &slotOfCode{}
	s.code.Store(newCode(m, fn))
	m.slots[fn] = s
	return s
}

// global is the address of a package-level variable. The lock is held.
func (m *Machine) global(g *ssa.Global) unsafe.Pointer {
	o := g.Object()
	if p, ok := m.globals[o]; ok {
		return p
	}
	var p unsafe.Pointer
	if !isCell(o.Pkg()) {
		v, ok := m.layouts.tables[o.Pkg().Path()][o.Name()]
		if !ok || !v.CanAddr() {
			panic(unsupported("the variable %s.%s", o.Pkg().Name(), o.Name()))
		}
		p = v.Addr().UnsafePointer()
	} else {
		p = m.variable(m.layouts.of(o.Type()))
	}
	m.globals[o] = p
	return p
}

// Value is the present value of a variable, in the form that compiled code gets.
func (m *Machine) Value(o *types.Var) (any, error) {
	m.mu.Lock()
	p, ok := m.globals[o]
	m.mu.Unlock()
	if !ok {
		return nil, fmt.Errorf("read %s: the variable has no value yet", o.Name())
	}
	return m.boxer(o.Type())(p), nil
}

// kindOf is the kind of a type's values. The lock is held.
func (m *Machine) kindOf(t types.Type) kind { return kind{shapeOf(t), m.layouts.of(t)} }

// Reset gives a variable its zero value.
func (m *Machine) Reset(o *types.Var) {
	m.mu.Lock()
	defer m.mu.Unlock()
	rt := m.layouts.of(o.Type())
	if p, ok := m.globals[o]; ok {
		reflect.NewAt(rt, p).Elem().SetZero()
		return
	}
	m.globals[o] = m.variable(rt)
}

// variable is memory for a variable of a cell.
func (m *Machine) variable(rt reflect.Type) unsafe.Pointer {
	if err := m.Grow(int64(rt.Size())); err != nil {
		panic(unsupportedError{fmt.Sprintf("a variable of type %s: %v", rt, err)})
	}
	return reflect.New(rt).UnsafePointer()
}

// Grow asks for memory before it is taken; see [Options]. Little is never refused.
func (m *Machine) Grow(bytes int64) error {
	if m.o.Grow == nil || bytes < large {
		return nil
	}
	return m.o.Grow(bytes)
}

// Call calls a function without parameters in a thread.
func (m *Machine) Call(th *Thread, fn *ssa.Function) {
	m.mu.Lock()
	s := m.slotFor(fn)
	m.mu.Unlock()
	newFrame(th, nil, s.code.Load()).exec()
}

// Unsupported reports whether a panic's value is the machine's error for something
// that cells do not support.
func Unsupported(v any) bool {
	_, ok := v.(unsupportedError)
	return ok
}
