package exchange

import (
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"
)

// TestSilence: of generated lives of a timer, with bytes that come after any time, the one
// that is silent for as long as its limit ends then, and no other. A look that comes late,
// as when the process was stopped, is one part of the time, however late it is.
func TestSilence(t *testing.T) {
	const limit = looks * time.Second
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		synctest.Test(t, func(t *testing.T) {
			var over, last time.Time
			last = time.Now()
			s := onSilence(limit, func() { over = time.Now() })
			for range random.IntN(5) {
				if random.IntN(3) == 0 {
					s.look() // late by all of the limit: what came is read before the next
				}
				<-time.After(time.Duration(random.IntN(int(limit/time.Second*7/8*1000))) * time.Millisecond)
				synctest.Wait()
				if !over.IsZero() && over.Sub(last) < limit*6/8 {
					t.Fatalf("over after %v", over.Sub(last))
				}
				s.Reset(limit)
				over, last = time.Time{}, time.Now()
			}
			stopped := random.IntN(2) == 0
			if stopped {
				s.Stop()
			}
			<-time.After(2 * limit)
			if over.IsZero() != stopped || !stopped && over.Sub(last) != limit {
				t.Errorf("stopped %v, over after %v", stopped, over.Sub(last))
			}
		})
	}
}
