package cell

import (
	"strings"
	"testing"
)

// TestGenericFunctionsOfTheLibrary runs what the session has as source: each
// kind of thing that only the library's own code does, and each function that
// is replaced in it.
func TestGenericFunctionsOfTheLibrary(t *testing.T) {
	s, err := New(Options{Imports: []string{"fmt"}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	prelude := "import (\"cmp\"; \"errors\"; \"maps\"; \"math/rand/v2\"; \"reflect\"; \"slices\"; \"sync\"; \"sync/atomic\")\n" +
		"type age int8\ntype node struct { next atomic.Pointer[node]; n int }\ntype lost struct{ what string }\n" +
		"func (l lost) Error() string { return \"lost \" + l.what }\nvar xs = []int{1, 2, 3, 4}\n"
	if _, err := s.Run(t.Context(), prelude, &recorder{}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ text, want string }{
		{`x := []age{3, -1, 2}; slices.Sort(x); fmt.Print(x)`, "[-1 2 3]"},
		{`x := []string{"b", "a"}; slices.Sort(x); fmt.Print(x)`, "[a b]"},
		{`x := make([]float64, 0); for i := range 100 { x = append(x, float64(i*37%100)) }; slices.Sort(x); fmt.Print(x[0], x[99], slices.IsSorted(x))`, "0 99 true"},
		{`x := make([]uint16, 0); for i := range 1000 { x = append(x, uint16(i*37)) }; slices.Sort(x); fmt.Print(slices.IsSorted(x))`, "true"},
		{`x := slices.Clone(xs); fmt.Print(slices.Insert(slices.Grow(x, 8), 1, x[2:]...))`, "[1 3 4 2 3 4]"},
		{`x := append(make([]int, 0, 16), xs...); fmt.Print(slices.Replace(x, 0, 1, x[1:3]...))`, "[2 3 2 3 4]"},
		{`fmt.Print(slices.Repeat(xs[:2], 2), slices.Collect(slices.Chunk(xs, 3)))`, "[1 2 1 2] [[1 2 3] [4]]"},
		{`m := map[string]int{"a": 1}; c := maps.Clone(m); c["b"] = 2; fmt.Print(m, c, maps.Clone(map[int]int(nil)) == nil)`, "map[a:1] map[a:1 b:2] true"},
		{`fmt.Print(slices.Sorted(maps.Keys(map[int]bool{2: true, 1: true})), cmp.Or(0, 7))`, "[1 2] 7"},
		{`n := rand.N(age(5)); fmt.Print(0 <= n && n < 5); fmt.Printf("%T", n)`, "truemain.age"},
		{`f := sync.OnceValue(func() int { panic("once") }); for range 2 { func() { defer func() { fmt.Print(recover()) }(); f() }() }`, "onceonce"},
		{`a, b := &node{n: 1}, &node{n: 2}; a.next.Store(b); fmt.Print(a.next.Load().n, a.next.CompareAndSwap(b, nil), a.next.Load() == nil)`, "2 true true"},
		{`var p atomic.Pointer[int]; fmt.Printf("%T", &p)`, "*atomic.Pointer[int]"},
		{`var i interface{ Load() *age } = new(atomic.Pointer[age]); fmt.Print(i.Load() == nil)`, "true"},
		{`l, ok := errors.AsType[lost](fmt.Errorf("so: %w", errors.Join(nil, lost{"it"}))); fmt.Print(l, ok)`, "lost it true"},
		{`fmt.Print(reflect.TypeFor[map[string]int]())`, "map[string]int"},
		{`rand.IntN(1)`, ""}, // the package keeps its name in later cells
	} {
		out := &recorder{}
		if _, err := s.Run(t.Context(), c.text, out); err != nil || strings.TrimSpace(out.stdout()) != c.want {
			t.Errorf("%s\nprints %q, %v, want %q", c.text, out.stdout(), err, c.want)
		}
	}
}
