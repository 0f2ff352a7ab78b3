package cell

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestManyCells runs many small cells of the usual sorts and bounds what the
// session keeps of them: 10,000 must not cost 100 MB.
func TestManyCells(t *testing.T) {
	cells := 10_000
	if testing.Short() {
		cells = 1_000
	}
	s := newSession(t)
	run(t, s, "x := 0\nf := func() int { return x }")
	heap := heapBytes()
	begun := time.Now()
	for i := range cells {
		switch i % 4 {
		case 0:
			run(t, s, fmt.Sprintf("x = %d", i))
		case 1:
			if got := value(t, s, "x + 1"); got != fmt.Sprint(i) {
				t.Fatalf("cell %d: x + 1 is %s", i, got)
			}
		case 2:
			run(t, s, "fmt.Println(x)")
		case 3:
			run(t, s, "for i := 0; i < 3; i++ { x += i }")
		}
	}
	took, grown := time.Since(begun), heapBytes()-heap
	t.Logf("%d cells: %v and %.1f KB each", cells, took/time.Duration(cells), float64(grown)/float64(cells)/1000)
	if grown > int64(cells)*10_000 {
		t.Errorf("%d cells keep %d MB, which is over 10 KB each", cells, grown>>20)
	}
}

// TestNotebookOfManyCells runs cells as people write them, again and again: they
// declare functions, types and variables, of which most replace those of before.
// With NOEMA_BENCH=1 there are 10,000.
func TestNotebookOfManyCells(t *testing.T) {
	cells := 1_000
	if os.Getenv("NOEMA_BENCH") != "" {
		cells = 10_000
	}
	s := newSession(t)
	notebookCells(t, s, 0, 100) // what a session needs once
	heap := heapBytes()
	begun := time.Now()
	notebookCells(t, s, 100, cells)
	took, grown := time.Since(begun), heapBytes()-heap
	t.Logf("%d cells: %v and %.1f KB each, %d MB resident", cells, took/time.Duration(cells), float64(grown)/float64(cells)/1000, residentMB())
	if grown > int64(cells)*12_000 {
		t.Errorf("%d cells keep %d MB, which is over 12 KB each", cells, grown>>20)
	}
	if n := residentMB(); cells == 10_000 && n > 400 {
		t.Errorf("the process has %d MB", n)
	}
}

// notebookCells runs the cells from a number to another.
func notebookCells(t *testing.T, s *Session, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		switch i % 10 {
		case 0:
			run(t, s, fmt.Sprintf("type point struct{ X, Y int; name string }\nfunc (p point) Sum() int { return p.X + p.Y + %d }\nfunc (p *point) Move(by int) { p.X += by }", i))
		case 1:
			run(t, s, fmt.Sprintf("p := point{X: %d, Y: 2}\np.Move(3)\np.Sum()", i))
		case 2:
			run(t, s, fmt.Sprintf("import (\"sort\"; \"strings\")\nfunc words(text string) []string {\n\tout := strings.Fields(text)\n\tsort.Strings(out)\n\tif len(out) > %d { return nil }\n\treturn out\n}", i+10))
		case 3:
			run(t, s, `words("the quick brown fox jumps over the lazy dog")`)
		case 4:
			run(t, s, "counts := map[string]int{}\nfor _, w := range words(\"a b a c\") { counts[w]++ }\ncounts")
		case 5:
			run(t, s, "rows := []struct{ Name string; Score float64 }{{\"a\", 0.5}, {\"b\", 0.25}}\ntotal := 0.0\nfor i, r := range rows { total += r.Score * float64(i) }\nfmt.Printf(\"%.2f %v\\n\", total, rows)")
		case 6:
			run(t, s, fmt.Sprintf("add := func(a, b int) int { return a + b + %d }\napply := func(f func(int, int) int, n int) (t int) { for i := range n { t = f(t, i) }; return t }\napply(add, 10)", i))
		case 7:
			run(t, s, "func largest[T int | float64](all ...T) (m T) { for _, x := range all { m = max(m, x) }; return m }\nlargest(1, 5, 3)")
		case 8:
			run(t, s, fmt.Sprintf("import \"sync\"\nvar wg sync.WaitGroup\nresults := make([]int, 4)\nfor i := range results { wg.Go(func() { results[i] = i * %d }) }\nwg.Wait()\nresults", i))
		case 9:
			run(t, s, fmt.Sprintf("type shape interface{ Area() float64 }\ntype square struct{ side float64 }\nfunc (s square) Area() float64 { return s.side * s.side }\nvar s shape = square{%d}\ns.Area()", i))
		}
	}
}

// residentMB is the memory of the process in MB; 0 where it is not known.
func residentMB() int {
	var size, pages int
	raw, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	if _, err := fmt.Sscan(string(raw), &size, &pages); err != nil {
		return 0
	}
	return pages * os.Getpagesize() >> 20
}

// TestBigValuesAreNotKept assigns and shows a value of 10 MB again and again.
func TestBigValuesAreNotKept(t *testing.T) {
	s := newSession(t)
	run(t, s, "big := make([]byte, 1)")
	heap := heapBytes()
	for range 30 {
		run(t, s, "big = make([]byte, 10 << 20)")
		run(t, s, "big := make([]byte, 10 << 20)")
		value(t, s, "big[:1]")
	}
	if grown := heapBytes() - heap; grown > 50<<20 {
		t.Errorf("60 values of 10 MB, of which one lives, keep %d MB", grown>>20)
	}
}

// limited is a session that may use a quarter of a GB more than there is in use.
func limited(t *testing.T) (s *Session, limit int64) {
	limit = heapBytes() + 256<<20
	return newSession(t, func(o *Options) { o.Memory = limit }), limit
}

// TestMemoryLimit has cells that take all the memory they can. They end, and the
// session goes on.
func TestMemoryLimit(t *testing.T) {
	s, limit := limited(t)
	run(t, s, "x := 1\nvar all [][]byte\nm := map[int][]int{}")
	for _, text := range []string{
		"for { all = append(all, make([]byte, 1<<20)) }",
		"for i := 0; ; i++ { m[i] = make([]int, 1000) }",
		"func() { var deep func(n int) []byte; deep = func(n int) []byte { b := make([]byte, 1<<20); return append(b, deep(n+1)...) }; deep(0) }()",
	} {
		var e *Error
		if _, err := s.Run(t.Context(), text, &recorder{}); !errors.As(err, &e) || e.Kind != "out of memory" ||
			!strings.Contains(e.Error(), "the limit is "+size(limit)) || !strings.Contains(e.Faults[0].Hint, "--memory") {
			t.Errorf("%s fails with %v", text, err)
		}
		if n := heapBytes(); n > 3*limit { // a busy machine sees it late
			t.Errorf("%s ends with %s in use, the limit is %s", text, size(n), size(limit))
		}
		run(t, s, "x++") // though what the cell has stored is there
		run(t, s, "all, m = nil, map[int][]int{}")
	}
	if got := value(t, s, "x"); got != "4" {
		t.Errorf("x is %s", got)
	}
}

// TestMemoryLimitSparesGarbage lets a cell allocate several times the limit.
func TestMemoryLimitSparesGarbage(t *testing.T) {
	s, _ := limited(t)
	if got := value(t, s, "n := 0\nfor range 2000 { b := make([]byte, 1<<20); n += len(b) }\nn >> 20"); got != "2000" {
		t.Errorf("%s MB were allocated", got)
	}
}

// TestMemoryLimitOfOneValue asks for more at once than there is anywhere.
func TestMemoryLimitOfOneValue(t *testing.T) {
	s, limit := limited(t)
	run(t, s, "n := 1<<45")
	for _, text := range []string{
		"make([]byte, n)", "make([]byte, 1<<45)", "make([]int, 0, n)", "make([][1000]string, n>>15)", "new([1<<45]byte)[0]",
		"var array [1<<45]byte", "defer func() { recover(); x := make([]byte, n); x[0] = 1 }(); panic(1)",
	} {
		if _, err := s.Run(t.Context(), text, &recorder{}); err == nil || !strings.Contains(err.Error(), "the limit is "+size(limit)) {
			t.Errorf("%s fails with %v", text, err)
		}
	}
	run(t, s, "empty := make([]struct{}, 1<<40)")
}

// TestMemoryLimitOfGoroutines has a goroutine that grows when its cell is over.
func TestMemoryLimitOfGoroutines(t *testing.T) {
	out := &recorder{}
	said := make(chan string, 100)
	out.onText = func(text string) { said <- text }
	limit := heapBytes() + 256<<20
	s := newSession(t, func(o *Options) { o.Memory = limit })
	s.Fallback(out)
	run(t, s, "go func() { var all [][]byte; for { all = append(all, make([]byte, 1<<16)) } }()")
	select {
	case text := <-said:
		if !strings.Contains(text, "goroutines of cells are stopped: memory:") {
			t.Errorf("the session says %q", text)
		}
	case <-time.After(2 * time.Minute):
		t.Error("the goroutine goes on")
	}
	value(t, s, "1 + 1")
}

func heapBytes() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
