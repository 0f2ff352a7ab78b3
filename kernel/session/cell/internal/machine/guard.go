package machine

import (
	"reflect"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
)

// The Go runtime ends the process when goroutines use a map at the same time, and
// when a mutex is unlocked that is not locked. In a cell these are panics.
const (
	errMapWrites plainError = "concurrent map writes"
	errMapRead   plainError = "concurrent map read and map write"
	errUnlock    plainError = "sync: unlock of unlocked mutex"
	errRWUnlock  plainError = "sync: Unlock of unlocked RWMutex"
	errRUnlock   plainError = "sync: RUnlock of unlocked RWMutex"
)

// mapGuard is a lock for those maps of cells whose addresses it stands for.
type mapGuard struct {
	sync.RWMutex
	writing atomic.Pointer[byte] // the map that changes under the lock
}

// mapGuards are as many as make it rare that two maps share one.
type mapGuards [512]mapGuard

// guard is the guard of a map; nil if only one goroutine runs cells.
func (m *Machine) guard(of unsafe.Pointer) *mapGuard {
	if m.threads.Load() < 2 {
		return nil
	}
	return &m.maps[uintptr(of)>>5%uintptr(len(m.maps))]
}

// read begins to read a map, which a call of done ends.
func (g *mapGuard) read(of unsafe.Pointer) {
	if g == nil || g.TryRLock() {
		return
	}
	if g.writing.Load() == (*byte)(of) {
		panic(errMapRead)
	}
	g.RLock()
}

func (g *mapGuard) done() {
	if g != nil {
		g.RUnlock()
	}
}

// write begins to change a map, which a call of written ends.
func (g *mapGuard) write(of unsafe.Pointer) {
	if g == nil {
		return
	}
	if !g.TryLock() {
		if of != nil && g.writing.Load() == (*byte)(of) {
			panic(errMapWrites)
		}
		g.Lock()
	}
	g.writing.Store((*byte)(of))
}

func (g *mapGuard) written() {
	if g != nil {
		g.writing.Store(nil)
		g.Unlock()
	}
}

// guardSync replaces the methods of package sync that end the process or cannot be
// interrupted.
func (m *Machine) guardSync(n *native, method string) {
	switch n.params[0].rt {
	case reflect.TypeFor[*sync.Mutex](), reflect.TypeFor[*sync.RWMutex]():
		if method == "Unlock" || method == "RUnlock" {
			n.fn = reflect.MakeFunc(n.fn.Type(), func(in []reflect.Value) []reflect.Value {
				m.unlock(in[0].Interface(), method)
				return nil
			})
		}
	case reflect.TypeFor[*sync.Cond]():
		if method == "Wait" {
			n.fn = reflect.ValueOf(func(c *sync.Cond) {
				checkLocked(c.L, "Unlock")
				c.Wait()
			})
		}
	case reflect.TypeFor[*sync.WaitGroup]():
		if method == "Wait" {
			n.fn, n.threaded = reflect.ValueOf(wait), true
		}
	}
}

// unlocker is the guarded method of a mutex, or the zero value for other methods
// and types.
func (m *Machine) unlocker(v any, method string) reflect.Value {
	if method != "Unlock" && method != "RUnlock" {
		return reflect.Value{}
	}
	switch v.(type) {
	case *sync.Mutex, *sync.RWMutex:
	default:
		locker := reflect.ValueOf(v)
		if locker.Type() != reflect.TypeOf((*sync.RWMutex)(nil).RLocker()) {
			return reflect.Value{}
		}
		v, method = (*sync.RWMutex)(locker.UnsafePointer()), "RUnlock"
	}
	return reflect.ValueOf(func() { m.unlock(v, method) })
}

// unlock unlocks a mutex. No other goroutine of cells unlocks one between the
// check and the call.
func (m *Machine) unlock(mutex any, method string) {
	m.unlocking.Lock()
	defer m.unlocking.Unlock()
	checkLocked(mutex, method)
	switch mu := mutex.(type) {
	case *sync.Mutex:
		mu.Unlock()
	case *sync.RWMutex:
		if method == "Unlock" {
			mu.Unlock()
		} else {
			mu.RUnlock()
		}
	}
}

// checkLocked panics if the method would end the process. A mutex of another type
// passes.
func checkLocked(mutex any, method string) {
	switch mu := mutex.(type) {
	case *sync.Mutex:
		if mu.TryLock() {
			mu.Unlock()
			panic(errUnlock)
		}
	case *sync.RWMutex:
		n := readers(mu)
		if method == "Unlock" && n >= 0 {
			panic(errRWUnlock)
		}
		if method == "RUnlock" && (n == 0 || n == -maxReaders) {
			panic(errRUnlock)
		}
	}
}

// maxReaders is what package sync takes from the count of readers while there is
// a writer.
const maxReaders = 1 << 30

// readers is the mutex's count of readers, which package sync does not export.
func readers(mu *sync.RWMutex) int32 {
	return field[atomic.Int32](mu, "readerCount").Load()
}

// field is an unexported field of a value.
func field[T any](of any, name string) *T {
	return (*T)(unsafe.Pointer(reflect.ValueOf(of).Elem().FieldByName(name).UnsafeAddr()))
}

// longestNap is how long a waiting goroutine may overlook that the wait is over.
const longestNap = time.Millisecond

// wait is a WaitGroup's Wait that a stop ends. It is not among the group's waiters,
// which would stay for ever and be woken in place of others.
func wait(th *Thread, wg *sync.WaitGroup) {
	state := field[atomic.Uint64](wg, "state")
	for nap := time.Microsecond; state.Load()>>32 != 0; nap = min(2*nap, longestNap) {
		th.Sleep(nap)
	}
}
