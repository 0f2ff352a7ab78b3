package generic

import (
	std_errors "errors"
	std_rand "math/rand/v2"
	std_reflect "reflect"
	std_sync "sync"
)

func sync_OnceValue[T any](f func() T) func() T {
	var once std_sync.Once
	var valid bool
	var p any
	var result T
	run := func() {
		defer func() {
			p = recover()
			if !valid {
				panic(p)
			}
		}()
		result = f()
		f = nil
		valid = true
	}
	return func() T {
		once.Do(run)
		if !valid {
			panic(p)
		}
		return result
	}
}

func sync_OnceValues[T1, T2 any](f func() (T1, T2)) func() (T1, T2) {
	var once std_sync.Once
	var valid bool
	var p any
	var first T1
	var second T2
	run := func() {
		defer func() {
			p = recover()
			if !valid {
				panic(p)
			}
		}()
		first, second = f()
		f = nil
		valid = true
	}
	return func() (T1, T2) {
		once.Do(run)
		if !valid {
			panic(p)
		}
		return first, second
	}
}

type sync_atomic_Pointer[T any] struct {
	mu std_sync.Mutex
	p  *T
}

func (x *sync_atomic_Pointer[T]) Load() *T {
	x.mu.Lock()
	p := x.p
	x.mu.Unlock()
	return p
}

func (x *sync_atomic_Pointer[T]) Store(val *T) {
	x.mu.Lock()
	x.p = val
	x.mu.Unlock()
}

func (x *sync_atomic_Pointer[T]) Swap(new *T) (old *T) {
	x.mu.Lock()
	p := x.p
	x.p = new
	x.mu.Unlock()
	return p
}

func (x *sync_atomic_Pointer[T]) CompareAndSwap(old, new *T) (swapped bool) {
	x.mu.Lock()
	same := x.p == old
	if same {
		x.p = new
	}
	x.mu.Unlock()
	return same
}

func math_rand_v2_N[Int interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr
}](n Int) Int {
	if n <= 0 {
		panic("invalid argument to N")
	}
	return Int(std_rand.Uint64N(uint64(n)))
}

func errors_AsType[E error](err error) (E, bool) {
	var target E
	if std_errors.As(err, &target) {
		return target, true
	}
	var zero E
	return zero, false
}

func reflect_TypeFor[T any]() std_reflect.Type {
	return std_reflect.TypeOf((*T)(nil)).Elem()
}
