package cell

import (
	"fmt"
	"runtime"
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

func heapBytes() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
