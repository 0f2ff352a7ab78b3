package yaegi

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/traefik/yaegi/interp"

	"noema/kernel/session/cell/internal/machine"
)

// The package of functions that lowered cells call.
const (
	hostPath = "noema/cell/host"
	hostName = "host__"
)

// maxDepth is how many Go frames a goroutine may hold, about eight for each call
// of a cell's function: the Go runtime ends the process at a gigabyte of stack.
const maxDepth = 100_000

// host are the functions that lowered cells call.
func (e *Engine) host(print func(string)) interp.Exports {
	return interp.Exports{hostPath + "/host": {
		"Check":   reflect.ValueOf(e.check),
		"Room":    reflect.ValueOf(e.room),
		"Join":    reflect.ValueOf(e.join),
		"Enter":   reflect.ValueOf(e.machine.Enter),
		"Leave":   reflect.ValueOf(leave),
		"Wait":    reflect.ValueOf(e.wait),
		"Recv":    reflect.ValueOf(reflect.SelectRecv),
		"Send":    reflect.ValueOf(reflect.SelectSend),
		"Go":      reflect.ValueOf(e.start),
		"Recover": reflect.ValueOf(e.recovered),
		"Refuse":  reflect.ValueOf(func(reason string) { panic(unsupported(reason)) }),
		"Panic":   reflect.ValueOf(func(v any) { panic(v) }),
		"Clear":   reflect.ValueOf(func(v any) { reflect.ValueOf(v).Clear() }),
		"Rune":    reflect.ValueOf(utf8.DecodeRuneInString),
		"Float":   reflect.ValueOf(positive),
		"Shift":   reflect.ValueOf(func(by int64) uint64 { _ = 1 << by; return uint64(by) }),
		"Print": reflect.ValueOf(func(v ...any) {
			for _, x := range v {
				print(fmt.Sprint(x))
			}
		}),
		"Println":        reflect.ValueOf(func(v ...any) { print(fmt.Sprintln(v...)) }),
		"Sort":           reflect.ValueOf(sortBasic),
		"SortFunc":       reflect.ValueOf(func(list, compare any) { sort.Slice(list, less(list, compare)) }),
		"SortStableFunc": reflect.ValueOf(func(list, compare any) { sort.SliceStable(list, less(list, compare)) }),
		"Text":           reflect.ValueOf(text),
		"Fail":           reflect.ValueOf(e.fail),
		"FailOf":         reflect.ValueOf(e.failOf),
		"Typed":          reflect.ValueOf(e.typed),
		"As":             reflect.ValueOf(e.as),
		"Unmarshal":      reflect.ValueOf(e.unmarshal),
		"Decode":         reflect.ValueOf(e.decode),
	}}
}

// check ends the calling goroutine if its execution was stopped, and refuses a
// recursion that would end the process. Every function and loop of a cell calls it.
func (e *Engine) check() {
	if e.ticks.Add(1)%1024 != 0 && e.machine.Running() {
		return // what follows takes longer the deeper calls nest
	}
	th := e.machine.Thread()
	if th == nil {
		return
	}
	th.CheckOut()
	var deep [1]uintptr
	if runtime.Callers(maxDepth, deep[:]) > 0 {
		th.Exit(unsupported("stack overflow: calls nest too deep for yaegi"))
	}
}

// room asks for the memory of n values of a size, which a cell takes at once, and
// returns n. A look at the memory later comes too late for these: the Go runtime stops
// for nobody while it copies, not even for a signal.
func (e *Engine) room(n, size int64) int {
	const large = 1 << 20
	if n <= 0 || size <= 0 || n < large/size {
		return int(n)
	}
	bytes := int64(math.MaxInt64)
	if n <= math.MaxInt64/size {
		bytes = n * size
	}
	if th := e.machine.Thread(); th != nil {
		th.AllowOut(int(bytes))
	}
	return int(n)
}

// join is the sum of two strings.
func (e *Engine) join(a, b string) string {
	e.room(int64(len(a)+len(b)), 1)
	return a + b
}

// sortBasic is slices.Sort.
func sortBasic(list any) {
	v := reflect.ValueOf(list)
	switch list := list.(type) {
	case []int:
		slices.Sort(list)
		return
	case []string:
		slices.Sort(list)
		return
	}
	sort.Slice(list, func(i, j int) bool {
		x, y := v.Index(i), v.Index(j)
		switch {
		case x.CanInt():
			return x.Int() < y.Int()
		case x.CanUint():
			return x.Uint() < y.Uint()
		case x.CanFloat():
			return cmp.Less(x.Float(), y.Float())
		}
		return x.String() < y.String()
	})
}

// less is a cell's comparison of two elements of a list, as package sort calls it. It
// sorts by the same algorithm as package slices.
func less(list, compare any) func(i, j int) bool {
	v, f := reflect.ValueOf(list), reflect.ValueOf(compare)
	return func(i, j int) bool { return f.Call([]reflect.Value{v.Index(i), v.Index(j)})[0].Int() < 0 }
}

// shown and shownText print as the text of a value that has a method for it; package
// fmt separates strings otherwise than other values.
type (
	shown     struct{ text string }
	shownText string
)

// String implements [fmt.Stringer].
func (s shown) String() string { return s.text }

// text is such a value, of a type whose values are strings or not.
func text(isString bool, s string) any {
	if isString {
		return shownText(s)
	}
	return shown{s}
}

// positive refuses a negative zero.
func positive(x float64) float64 {
	if x == 0 && math.Signbit(x) {
		panic(unsupported("yaegi goes wrong with a negative zero as an argument"))
	}
	return x
}

// done ends when the calling goroutine's execution is stopped.
func (e *Engine) done() <-chan struct{} {
	if th := e.machine.Thread(); th != nil {
		return th.Done()
	}
	return nil
}

// start is the go statement.
func (e *Engine) start(f func()) {
	if th := e.machine.Thread(); th != nil {
		th.Go(func(*machine.Thread) { e.Guard(f) })
		return
	}
	panic(unsupported("a goroutine of a cell that has ended starts another"))
}

// unsupported is the panic of what turns out only at run time.
type unsupported string

// Error implements error.
func (u unsupported) Error() string { return string(u) }

// Refused reports whether a panic's value says that yaegi would have gone wrong.
func Refused(v any) bool {
	_, ok := v.(unsupported)
	return ok
}

// lost reports whether a panic comes from the interpreter's own code in place of
// the error that Go has.
func lost(v any) bool {
	if err, ok := v.(error); ok {
		t := reflect.TypeOf(err)
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		return t.PkgPath() == "reflect" || strings.HasPrefix(t.PkgPath(), "github.com/traefik/yaegi")
	}
	text, ok := v.(string)
	return ok && strings.HasPrefix(text, "reflect")
}

// outOfRange is a panic of a cell of which the interpreter does not know the numbers.
type outOfRange string

// Error implements error.
func (o outOfRange) Error() string { return string(o) }

// Guard calls a function of cells. A panic goes on with the functions that it
// ended; one of which the interpreter lost what it was becomes a refusal.
func (e *Engine) Guard(f func()) {
	th, trace := e.machine.Thread(), []machine.Frame{}
	e.traces.Store(th, &trace)
	defer func() {
		e.traces.Delete(th)
		r := recover()
		if r == nil {
			return
		}
		switch text := fmt.Sprint(r); {
		case !lost(r):
		case strings.HasSuffix(text, " index out of range"):
			r = outOfRange("runtime error: index out of range")
		case strings.HasSuffix(text, " index out of bounds"):
			r = outOfRange("runtime error: slice bounds out of range")
		default:
			r = unsupported(fmt.Sprintf("a runtime error that yaegi only knows as %q", unmarked(text)))
		}
		if _, is := r.(*machine.Panic); !is {
			r = &machine.Panic{Value: r, Trace: trace}
		}
		panic(r)
	}()
	f()
}

// leave ends a call that [machine.Machine.Enter] began, which panicked with v unless
// that is nil.
func leave(end func(), v any) {
	end()
	if lost(v) {
		v = fmt.Errorf("yaegi only knows the runtime error as %q: %s", fmt.Sprint(v), Cure)
	}
	if v != nil {
		panic(v)
	}
}

// recovered is what recover returns. A stop goes on, and so does a panic of which
// the interpreter lost what it was.
func (e *Engine) recovered(v any) any {
	if machine.Stopped(v) || Refused(v) {
		panic(v)
	}
	if lost(v) {
		panic(unsupported(fmt.Sprintf("yaegi goes wrong with recover from what it only knows as %q", unmarked(fmt.Sprint(v)))))
	}
	if v != nil {
		if t, ok := e.traces.Load(e.machine.Thread()); ok {
			*t.(*[]machine.Frame) = nil
		}
	}
	return v
}

var threadType = reflect.TypeFor[*machine.Thread]()

// unthreaded gives a function that takes its caller's thread the form without.
func (e *Engine) unthreaded(v reflect.Value) reflect.Value {
	if v.Kind() != reflect.Func || v.Type().NumIn() == 0 || v.Type().In(0) != threadType {
		return v
	}
	t := v.Type()
	var in, out []reflect.Type
	for i := 1; i < t.NumIn(); i++ {
		in = append(in, t.In(i))
	}
	for i := range t.NumOut() {
		out = append(out, t.Out(i))
	}
	return reflect.MakeFunc(reflect.FuncOf(in, out, t.IsVariadic()), func(args []reflect.Value) []reflect.Value {
		th := e.machine.Thread()
		if th == nil {
			panic(unsupported("no cell runs"))
		}
		args = append([]reflect.Value{reflect.ValueOf(th)}, args...)
		if t.IsVariadic() {
			return v.CallSlice(args)
		}
		return v.Call(args)
	})
}
