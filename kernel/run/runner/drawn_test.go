package runner

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"noema/kernel/task"
)

// TestDrawnIsAPrefix: whoever raises a limit goes on with the same samples in the same
// order, and no cluster is cut, over generated tasks.
func TestDrawnIsAPrefix(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 29))
	for range 30 {
		var samples []task.Sample
		for i := range 1 + random.IntN(60) {
			s := task.Sample{ID: fmt.Sprint(i)}
			if random.IntN(2) == 0 {
				s.Cluster = fmt.Sprint(random.IntN(8))
			}
			samples = append(samples, s)
		}
		seed := random.Uint64()
		whole := drawn(samples, seed, 0)
		if len(whole) != len(samples) {
			t.Fatalf("%d of %d samples", len(whole), len(samples))
		}
		before := 0
		for most := 1; most <= len(samples); most++ {
			some := drawn(samples, seed, most)
			switch n := len(some); {
			case n < before || n == 0 || n > most && largest(some) != n:
				t.Errorf("limit %d: %d samples, %d before", most, n, before)
			case !reflect.DeepEqual(some, whole[:n]):
				t.Errorf("limit %d is no prefix of all", most)
			case n < len(whole) && unitOf(whole[n]) == unitOf(whole[n-1]):
				t.Errorf("limit %d cuts %s", most, unitOf(whole[n]))
			}
			before = len(some)
		}
	}
}
