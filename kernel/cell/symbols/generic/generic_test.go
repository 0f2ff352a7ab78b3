package generic

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
)

// outcome is what a call gave, or its panic.
func outcome(call func() any) (result string) {
	defer func() {
		if p := recover(); p != nil {
			result = fmt.Sprint("panic: ", p)
		}
	}()
	return fmt.Sprintf("%#v", call())
}

// same compares a text with the original of the standard library.
func same(t *testing.T, name string, text, original func() any) {
	t.Helper()
	if got, want := outcome(text), outcome(original); got != want {
		t.Errorf("%s: the text gives %s, the original %s", name, got, want)
	}
}

var nan = math.NaN()

func lists() [][]int {
	long := make([]int, 200)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range long {
		long[i] = r.IntN(50)
	}
	return [][]int{nil, {}, {1}, {2, 1}, {1, 1, 2, 2, 1}, {3, 1, 2}, {5, 4, 3, 2, 1, 0}, long}
}

func TestSorting(t *testing.T) {
	type pair struct{ key, place int }
	byKey := func(a, b pair) int { return cmp.Compare(a.key%7, b.key%7) }
	for _, list := range lists() {
		var pairs []pair
		var floats []float64
		var small []int8
		for i, n := range list {
			pairs = append(pairs, pair{n, i})
			floats = append(floats, []float64{float64(n), nan, math.Inf(-1)}[n%3])
			small = append(small, int8(n-20))
		}
		both(t, "Sort", list, slices_Sort, slices.Sort)
		both(t, "Sort of floats", floats, slices_Sort, slices.Sort)
		both(t, "Sort of a named type", small, slices_Sort, slices.Sort)
		// Unstable sorts must leave equal elements in the same order as well: a
		// script prints the same however it is run.
		both(t, "SortFunc", pairs, func(x []pair) { slices_SortFunc(x, byKey) }, func(x []pair) { slices.SortFunc(x, byKey) })
		both(t, "SortStableFunc", pairs, func(x []pair) { slices_SortStableFunc(x, byKey) }, func(x []pair) { slices.SortStableFunc(x, byKey) })
		same(t, "IsSorted", func() any { return slices_IsSorted(list) }, func() any { return slices.IsSorted(list) })
		same(t, "IsSorted", func() any { return slices_IsSorted(floats) }, func() any { return slices.IsSorted(floats) })
		same(t, "IsSortedFunc", func() any { return slices_IsSortedFunc(pairs, byKey) }, func() any { return slices.IsSortedFunc(pairs, byKey) })
		same(t, "Min", func() any { return slices_Min(floats) }, func() any { return slices.Min(floats) })
		same(t, "Max", func() any { return slices_Max(floats) }, func() any { return slices.Max(floats) })
		same(t, "Min", func() any { return slices_Min(list) }, func() any { return slices.Min(list) })
		same(t, "Max", func() any { return slices_Max(list) }, func() any { return slices.Max(list) })
		same(t, "MinFunc", func() any { return slices_MinFunc(pairs, byKey) }, func() any { return slices.MinFunc(pairs, byKey) })
		same(t, "MaxFunc", func() any { return slices_MaxFunc(pairs, byKey) }, func() any { return slices.MaxFunc(pairs, byKey) })
		same(t, "Sorted", func() any { return slices_Sorted(slices_Values(list)) }, func() any { return slices.Sorted(slices.Values(list)) })
		same(t, "SortedFunc", func() any { return slices_SortedFunc(slices_Values(pairs), byKey) }, func() any { return slices.SortedFunc(slices.Values(pairs), byKey) })
		same(t, "SortedStableFunc", func() any { return slices_SortedStableFunc(slices_Values(pairs), byKey) }, func() any { return slices.SortedStableFunc(slices.Values(pairs), byKey) })
		sorted := slices.Sorted(slices.Values(list))
		for n := -1; n < 52; n++ {
			same(t, "BinarySearch",
				func() any { i, ok := slices_BinarySearch(sorted, n); return []any{i, ok} },
				func() any { i, ok := slices.BinarySearch(sorted, n); return []any{i, ok} })
			same(t, "BinarySearchFunc",
				func() any { i, ok := slices_BinarySearchFunc(sorted, n, cmp_Compare); return []any{i, ok} },
				func() any { i, ok := slices.BinarySearchFunc(sorted, n, cmp.Compare); return []any{i, ok} })
		}
	}
}

// both sorts two copies of a list.
func both[E any](t *testing.T, name string, list []E, text, original func([]E)) {
	t.Helper()
	same(t, name,
		func() any { x := slices.Clone(list); text(x); return x },
		func() any { x := slices.Clone(list); original(x); return x })
}

func TestComparing(t *testing.T) {
	floats := []float64{nan, math.Inf(-1), -1, math.Copysign(0, -1), 0, 1}
	for _, a := range floats {
		for _, b := range floats {
			same(t, "Compare", func() any { return cmp_Compare(a, b) }, func() any { return cmp.Compare(a, b) })
			same(t, "Less", func() any { return cmp_Less(a, b) }, func() any { return cmp.Less(a, b) })
			same(t, "Or", func() any { return cmp_Or(0, a, b) }, func() any { return cmp.Or(0, a, b) })
		}
	}
	same(t, "Or", func() any { return cmp_Or[int]() }, func() any { return cmp.Or[int]() })
	eq := func(a int, b int) bool { return a%5 == b%5 }
	for _, a := range lists() {
		for _, b := range lists() {
			same(t, "Equal", func() any { return slices_Equal(a, b) }, func() any { return slices.Equal(a, b) })
			same(t, "EqualFunc", func() any { return slices_EqualFunc(a, b, eq) }, func() any { return slices.EqualFunc(a, b, eq) })
			same(t, "Compare", func() any { return slices_Compare(a, b) }, func() any { return slices.Compare(a, b) })
			same(t, "CompareFunc", func() any { return slices_CompareFunc(a, b, cmp.Compare) }, func() any { return slices.CompareFunc(a, b, cmp.Compare) })
			same(t, "Concat", func() any { return slices_Concat(a, b, a) }, func() any { return slices.Concat(a, b, a) })
		}
	}
}

// change runs a text and its original on copies with spare room, and compares
// the whole memory behind them: the result, its capacity and what was cleared.
func change(t *testing.T, name string, list []int, text, original func([]int) []int) {
	t.Helper()
	run := func(f func([]int) []int) func() any {
		return func() any {
			var all []any
			for _, room := range []int{0, 3} {
				memory := make([]int, len(list)+room)
				for i := range memory {
					memory[i] = -9
				}
				copy(memory, list)
				got := f(memory[:len(list)])
				all = append(all, got, got == nil, cap(got), memory)
			}
			return all
		}
	}
	same(t, name, run(text), run(original))
}

func TestChanging(t *testing.T) {
	odd := func(n int) bool { return n%2 == 1 }
	near := func(a, b int) bool { return a/2 == b/2 }
	for _, list := range lists()[:7] {
		change(t, "Reverse", list, func(s []int) []int { slices_Reverse(s); return s }, func(s []int) []int { slices.Reverse(s); return s })
		change(t, "Compact", list, slices_Compact, slices.Compact)
		change(t, "CompactFunc", list, func(s []int) []int { return slices_CompactFunc(s, near) }, func(s []int) []int { return slices.CompactFunc(s, near) })
		change(t, "DeleteFunc", list, func(s []int) []int { return slices_DeleteFunc(s, odd) }, func(s []int) []int { return slices.DeleteFunc(s, odd) })
		change(t, "Clone", list, slices_Clone, slices.Clone)
		change(t, "Clip", list, slices_Clip, slices.Clip)
		for n := -1; n < 5; n++ {
			change(t, "Grow", list, func(s []int) []int { return slices_Grow(s, n) }, func(s []int) []int { return slices.Grow(s, n) })
			change(t, "Repeat", list, func(s []int) []int { return slices_Repeat(s, n) }, func(s []int) []int { return slices.Repeat(s, n) })
			same(t, "Chunk", func() any { return slices_Collect(slices_Chunk(list, n)) }, func() any { return slices.Collect(slices.Chunk(list, n)) })
		}
		for i := 0; i <= len(list); i++ {
			for _, given := range [][]int{nil, {7}, {7, 8, 9, 10}} {
				change(t, "Insert", list, func(s []int) []int { return slices_Insert(s, i, given...) }, func(s []int) []int { return slices.Insert(s, i, given...) })
				for j := i; j <= len(list); j++ {
					change(t, "Replace", list, func(s []int) []int { return slices_Replace(s, i, j, given...) }, func(s []int) []int { return slices.Replace(s, i, j, given...) })
				}
			}
			change(t, "Insert of itself", list, func(s []int) []int { return slices_Insert(s, i, s...) }, func(s []int) []int { return slices.Insert(s, i, s...) })
			for j := i; j <= len(list); j++ {
				change(t, "Delete", list, func(s []int) []int { return slices_Delete(s, i, j) }, func(s []int) []int { return slices.Delete(s, i, j) })
			}
		}
	}
	for _, call := range []func(){
		func() { slices_Delete([]int{1}, 1, 2) }, func() { slices_Delete(make([]int, 1, 5), 0, 2) }, func() { slices_Insert([]int{1}, 2) },
		func() { slices_Insert([]int{1}, -1, 1) }, func() { slices_Replace([]int{1, 2}, 1, 0) },
	} {
		if got := outcome(func() any { call(); return nil }); got == "<nil>" {
			t.Error("a change out of range passes")
		}
	}
}

func TestSearching(t *testing.T) {
	big := func(n int) bool { return n > 2 }
	for _, list := range lists() {
		for n := range 6 {
			same(t, "Index", func() any { return slices_Index(list, n) }, func() any { return slices.Index(list, n) })
			same(t, "Contains", func() any { return slices_Contains(list, n) }, func() any { return slices.Contains(list, n) })
		}
		same(t, "IndexFunc", func() any { return slices_IndexFunc(list, big) }, func() any { return slices.IndexFunc(list, big) })
		same(t, "ContainsFunc", func() any { return slices_ContainsFunc(list, big) }, func() any { return slices.ContainsFunc(list, big) })
	}
}

// taken are the first n pairs of a sequence.
func taken[K, V any](seq iter.Seq2[K, V], n int) []any {
	var all []any
	for k, v := range seq {
		if len(all) >= n {
			break
		}
		all = append(all, k, v)
	}
	return all
}

func TestSequences(t *testing.T) {
	for _, list := range lists() {
		for _, n := range []int{0, 3, 1000} {
			same(t, "All", func() any { return taken(slices_All(list), n) }, func() any { return taken(slices.All(list), n) })
			same(t, "Backward", func() any { return taken(slices_Backward(list), n) }, func() any { return taken(slices.Backward(list), n) })
		}
		same(t, "Collect", func() any { return slices_Collect(slices_Values(list)) }, func() any { return slices.Collect(slices.Values(list)) })
		same(t, "AppendSeq", func() any { return slices_AppendSeq([]int{9}, slices_Values(list)) }, func() any { return slices.AppendSeq([]int{9}, slices.Values(list)) })
	}
	for v := range slices_Values([]int{1, 2}) {
		if v != 1 {
			t.Errorf("after break comes %d", v)
		}
		break
	}
}

func TestMaps(t *testing.T) {
	eq := func(a, b string) bool { return len(a) == len(b) }
	all := []map[string]string{nil, {}, {"a": "x"}, {"a": "y"}, {"a": "x", "b": "yy", "": "z"}}
	for _, m := range all {
		same(t, "Clone", func() any { return maps_Clone(m) }, func() any { return maps.Clone(m) })
		same(t, "Keys", func() any { return slices.Sorted(maps_Keys(m)) }, func() any { return slices.Sorted(maps.Keys(m)) })
		same(t, "Values", func() any { return slices.Sorted(maps_Values(m)) }, func() any { return slices.Sorted(maps.Values(m)) })
		same(t, "Collect", func() any { return maps_Collect(maps_All(m)) }, func() any { return maps.Collect(maps.All(m)) })
		for _, other := range all {
			same(t, "Equal", func() any { return maps_Equal(m, other) }, func() any { return maps.Equal(m, other) })
			same(t, "EqualFunc", func() any { return maps_EqualFunc(m, other, eq) }, func() any { return maps.EqualFunc(m, other, eq) })
			same(t, "Copy",
				func() any { c := maps.Clone(m); maps_Copy(c, other); return c },
				func() any { c := maps.Clone(m); maps.Copy(c, other); return c })
			same(t, "Insert",
				func() any { c := maps.Clone(m); maps_Insert(c, maps_All(other)); return c },
				func() any { c := maps.Clone(m); maps.Insert(c, maps.All(other)); return c })
		}
		del := func(k, _ string) bool { return k == "a" }
		same(t, "DeleteFunc",
			func() any { c := maps.Clone(m); maps_DeleteFunc(c, del); return c },
			func() any { c := maps.Clone(m); maps.DeleteFunc(c, del); return c })
	}
	n := 0
	for range maps_Keys(all[4]) {
		n++
		break
	}
	for range maps_Values(all[4]) {
		n++
		break
	}
	for range maps_All(all[4]) {
		n++
		break
	}
	if n != 3 {
		t.Errorf("%d turns in three loops that break at once", n)
	}
}

func TestOnce(t *testing.T) {
	type once = func(func() int) func() int
	for _, fails := range []bool{false, true} {
		run := func(of once) func() any {
			return func() any {
				n := 0
				f := of(func() int {
					n++
					if fails {
						panic("no")
					}
					return n * 10
				})
				return []string{outcome(func() any { return f() }), outcome(func() any { return f() }), fmt.Sprint(n)}
			}
		}
		same(t, "OnceValue", run(sync_OnceValue[int]), run(sync.OnceValue[int]))
		two := func(of func(func() (int, error)) func() (int, error)) once {
			return func(f func() int) func() int {
				g := of(func() (int, error) { return f(), nil })
				return func() int { n, _ := g(); return n }
			}
		}
		same(t, "OnceValues", run(two(sync_OnceValues[int, error])), run(two(sync.OnceValues[int, error])))
	}
}

func TestPointer(t *testing.T) {
	var text sync_atomic_Pointer[int]
	var original atomic.Pointer[int]
	a, b := new(int), new(int)
	step := func(name string, got, want any) {
		t.Helper()
		if got != want {
			t.Errorf("%s gives %v, want %v", name, got, want)
		}
	}
	step("Load", text.Load(), original.Load())
	text.Store(a)
	original.Store(a)
	step("CompareAndSwap of another", text.CompareAndSwap(b, a), original.CompareAndSwap(b, a))
	step("CompareAndSwap", text.CompareAndSwap(a, b), original.CompareAndSwap(a, b))
	step("Swap", text.Swap(a), original.Swap(a))
	step("Load", text.Load(), original.Load())
}

func TestSingle(t *testing.T) {
	seen := map[int64]bool{}
	for range 300 {
		n := math_rand_v2_N(int64(3))
		if n < 0 || n > 2 {
			t.Fatalf("N(3) is %d", n)
		}
		seen[n] = true
	}
	if len(seen) != 3 {
		t.Errorf("N(3) gives only %v", seen)
	}
	same(t, "N", func() any { return math_rand_v2_N(0) }, func() any { return rand.N(0) })
	err := fmt.Errorf("read: %w", &os.PathError{Op: "open", Err: io.EOF})
	for _, err := range []error{nil, io.EOF, err, errors.Join(io.EOF, err)} {
		same(t, "AsType",
			func() any { e, ok := errors_AsType[*os.PathError](err); return []any{e == nil, ok} },
			func() any { e, ok := errors.AsType[*os.PathError](err); return []any{e == nil, ok} })
	}
	if got := reflect_TypeFor[io.Reader](); got != reflect.TypeFor[io.Reader]() {
		t.Errorf("TypeFor gives %v", got)
	}
	if got := reflect_TypeFor[bytes.Buffer](); got != reflect.TypeFor[bytes.Buffer]() {
		t.Errorf("TypeFor gives %v", got)
	}
}
