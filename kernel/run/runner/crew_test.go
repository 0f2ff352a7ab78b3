package runner

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"noema/kernel/result/record"
)

// TestDealGivesEachTrialOnce: whoever takes, gives back, looks again and ends at the same
// time, each trial is done once, and none is lost. (One was, when a taker found the end
// while another was between counting a trial and giving it out.)
func TestDealGivesEachTrialOnce(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for round := range 20_000 {
		n, takers, seed := random.IntN(12), 1+random.IntN(8), random.Uint64()
		ids := make([]record.TrialID, n)
		for i := range ids {
			ids[i] = record.TrialID{Method: "m", Sample: fmt.Sprint(i)}
		}
		deal := NewDeal((&inTurn{ids: ids}).next)
		var mu sync.Mutex
		done := map[record.TrialID]int{}
		var working sync.WaitGroup
		for k := range takers {
			working.Go(func() {
				random := rand.New(rand.NewPCG(seed, uint64(k)))
				for id, ok := deal.Take(context.Background(), nil); ok; id, ok = deal.Take(context.Background(), nil) {
					switch random.IntN(8) {
					case 0:
						deal.Back(id)
						continue
					case 1:
						deal.Look()
					}
					mu.Lock()
					done[id]++
					mu.Unlock()
					deal.Done()
				}
			})
		}
		working.Wait()
		for _, id := range ids {
			if done[id] != 1 {
				t.Fatalf("round %d, %d trials, %d takers: trial %s was done %d times", round, n, takers, id, done[id])
			}
		}
	}
}
