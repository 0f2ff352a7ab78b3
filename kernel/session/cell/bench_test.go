package cell

import (
	"testing"
)

// BenchmarkSmallCell is the time of a cell that does next to nothing.
func BenchmarkSmallCell(b *testing.B) {
	s := newSession(b)
	for b.Loop() {
		value(b, s, "1 + 1")
	}
}

// BenchmarkFirstCell is the time from nothing to the first result.
func BenchmarkFirstCell(b *testing.B) {
	for b.Loop() {
		s, err := New(Options{Imports: []string{"fmt"}})
		if err != nil {
			b.Fatal(err)
		}
		value(b, s, "1 + 1")
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkLoop is the time of a turn of a loop with an addition.
func BenchmarkLoop(b *testing.B) {
	s := newSession(b)
	run(b, s, "func loop(n int) int { t := 0; for i := 0; i < n; i++ { t += i & 3 }; return t }")
	for b.Loop() {
		run(b, s, "loop(1_000_000)")
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1e6, "ns/turn")
}

// BenchmarkMap is the time of a read and a write of a map, by one goroutine and
// beside another that runs.
func BenchmarkMap(b *testing.B) {
	s := newSession(b)
	run(b, s, "m := map[int]int{}\nfunc fill(n int) { for i := 0; i < n; i++ { m[i&1023] = m[i&511] + 1 } }")
	turns := func(b *testing.B) {
		for b.Loop() {
			run(b, s, "fill(100_000)")
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1e5, "ns/turn")
	}
	b.Run("alone", turns)
	run(b, s, "stop := make(chan bool)\ngo func() { <-stop }()")
	b.Run("shared", turns)
	run(b, s, "close(stop)")
}

// BenchmarkConcat is the time of a string of two.
func BenchmarkConcat(b *testing.B) {
	s := newSession(b)
	run(b, s, "func join(n int) int { t := 0; a, b := \"ab\", \"cd\"; for i := 0; i < n; i++ { t += len(a + b) }; return t }\nfunc grow(n int) int { var all []int; for i := 0; i < n; i++ { all = append(all, i) }; return len(all) }")
	for _, call := range []string{"join", "grow"} {
		b.Run(call, func(b *testing.B) {
			for b.Loop() {
				run(b, s, call+"(100_000)")
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1e5, "ns/turn")
		})
	}
}

// BenchmarkCall is the time of a call of a function of a cell.
func BenchmarkCall(b *testing.B) {
	s := newSession(b)
	run(b, s, "func fib(n int) int { if n < 2 { return n }; return fib(n-1) + fib(n-2) }")
	for b.Loop() {
		run(b, s, "fib(20)")
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/21891, "ns/call")
}
