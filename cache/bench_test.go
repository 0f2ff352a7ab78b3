package cache

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"noema/methods"
)

// prose is n bytes that compress about as well as a model's replies do.
func prose(n int, seed uint64) string {
	words := strings.Fields("the a item review opening hours friend of person writes that place serves good coffee and true false is 1 2 3 because {\"score\": } it was not very quiet outdoor seating")
	rng := rand.New(rand.NewPCG(seed, 1))
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(words[rng.IntN(len(words))])
		fmt.Fprintf(&b, " %d ", rng.IntN(1000))
	}
	return b.String()[:n]
}

func benchRecord(i int) (Key, methods.Request, CompletionRecord) {
	c := fullCompletion()
	c.Attempts = nil
	c.Completion.Text = prose(2048, uint64(i))
	return testKey(i), methods.Request{Messages: methods.Ask(prose(4096, uint64(i)))}, c
}

const benchRecords = 2000

func benchStore(b *testing.B, dir string) *Store {
	s := mustOpen(b, dir)
	done := make(chan error)
	for w := range 16 {
		go func() {
			for i := w; i < benchRecords; i += 16 {
				k, r, c := benchRecord(i)
				if _, err := s.AddCompletion(b.Context(), k, r, testModel, c); err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	for range 16 {
		if err := <-done; err != nil {
			b.Fatal(err)
		}
	}
	return s
}

// parallel runs op on n goroutines and reports the median and 99th percentile.
func parallel(b *testing.B, n int, op func(i int) error) {
	b.Helper()
	var next atomic.Int64
	times := make([][]time.Duration, n)
	done := make(chan error)
	b.ResetTimer()
	for w := range n {
		go func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= b.N {
					done <- nil
					return
				}
				start := time.Now()
				if err := op(i); err != nil {
					done <- err
					return
				}
				times[w] = append(times[w], time.Since(start))
			}
		}()
	}
	for range n {
		if err := <-done; err != nil {
			b.Fatal(err)
		}
	}
	b.StopTimer()
	all := slices.Concat(times...)
	slices.Sort(all)
	b.ReportMetric(float64(all[len(all)/2].Nanoseconds())/1e3, "p50-µs")
	b.ReportMetric(float64(all[len(all)*99/100].Nanoseconds())/1e3, "p99-µs")
}

func BenchmarkAddCompletion(b *testing.B) {
	for _, side := range []string{"owner", "socket"} {
		for _, n := range []int{1, 64, 1000} {
			b.Run(fmt.Sprintf("%s/goroutines=%d", side, n), func(b *testing.B) {
				dir := b.TempDir()
				s := mustOpen(b, dir)
				if side == "socket" {
					s = mustOpen(b, dir)
				}
				_, r, c := benchRecord(0)
				parallel(b, n, func(i int) error {
					_, err := s.AddCompletion(b.Context(), testKey(i), r, testModel, c)
					return err
				})
			})
		}
	}
}

// BenchmarkHit is the time of a hit, and what it takes of the cores (cpu-µs). By
// Little's law n callers that ask without pause wait n times that, shared among
// the cores: queue-µs. Where cpu-µs does not grow with n and p50 is about queue-µs,
// the callers wait for a core and for nothing else.
func BenchmarkHit(b *testing.B) {
	dir := b.TempDir()
	owner := benchStore(b, dir)
	keys := make([]Key, benchRecords)
	for i := range keys {
		keys[i] = testKey(i)
	}
	for name, s := range map[string]*Store{"owner": owner, "socket": mustOpen(b, dir)} {
		for _, n := range []int{1, runtime.GOMAXPROCS(0), 64} {
			b.Run(fmt.Sprintf("%s/goroutines=%d", name, n), func(b *testing.B) {
				before := cpuTime(b)
				parallel(b, n, func(i int) error {
					_, err := s.Completion(b.Context(), keys[i*7919%benchRecords])
					return err
				})
				each := float64((cpuTime(b) - before).Nanoseconds()) / 1e3 / float64(b.N)
				b.ReportMetric(each, "cpu-µs")
				b.ReportMetric(each*float64(n)/float64(min(n, runtime.GOMAXPROCS(0))), "queue-µs")
			})
		}
	}
}

// cpuTime is what this process has used of the cores.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func BenchmarkCompletionKey(b *testing.B) {
	for _, size := range []int{4 << 10, 60 << 10} {
		b.Run(fmt.Sprintf("%dKB", size>>10), func(b *testing.B) {
			r := fullRequest()
			r.Messages[1].Content = prose(size, 1)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				CompletionKey(testModel, 0, r)
			}
		})
	}
}
