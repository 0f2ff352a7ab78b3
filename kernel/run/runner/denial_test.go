package runner

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"noema/cache"
	"noema/kernel/internal/test/providertest"
	"noema/kernel/result/record"
	"noema/kernel/run/gateway"
	"noema/methods"
	"noema/methods/baseline"
)

// replies is a server that gives the n-th request the n-th status, and good answers
// after the last.
type replies struct {
	*providertest.Server
	mu    sync.Mutex
	left  []int
	given []int // in the order of arrival; 200 is an answer
}

func newReplies(t *testing.T, list ...int) *replies {
	r := &replies{left: list}
	r.Server = providertest.New(providertest.Config{
		Answer: func(providertest.Ask) providertest.Answer { return providertest.Answer{Text: `{"answer":[1,2,3]}`} },
		Respond: func(providertest.Ask) providertest.Response {
			r.mu.Lock()
			defer r.mu.Unlock()
			status := 200
			if len(r.left) > 0 {
				status, r.left = r.left[0], r.left[1:]
			}
			if r.given = append(r.given, status); status == 200 {
				return nil
			}
			return providertest.Status(status, "No.", "Retry-After", "0.001")
		},
	})
	t.Cleanup(r.Close)
	return r
}

// denials counts what the server denied, and the longest row of it without an answer
// between.
func (r *replies) denials() (all, row int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := 0
	for _, status := range r.given {
		switch status {
		case 200:
			now = 0
		case 401, 403, 404:
			all, now = all+1, now+1
			row = max(row, now)
		}
	}
	return all, row
}

// statuses is a sequence of replies: mostly good, with denials alone and in rows.
func statuses(r *rand.Rand, n int) []int {
	rate := []float64{0, 0.02, 0.1, 0.5, 0.95, 1}[r.IntN(6)]
	var list []int
	for len(list) < n {
		switch x := r.Float64(); {
		case x < rate:
			list = append(list, []int{401, 403, 404}[r.IntN(3)])
		case x < rate+0.05:
			list = append(list, []int{429, 500}[r.IntN(2)])
		case x < rate+0.07:
			list = append(list, slices.Repeat([]int{401}, r.IntN(16))...)
		default:
			list = append(list, 200)
		}
	}
	return list
}

// TestDeniedRequests carries out runs over generated sequences of replies, several
// trials at once. One denied request among good answers fails its own trial, as the
// infrastructure's fault; ten in a row, or a run in which all are denied, stop the run
// with one error, after few requests and without a failed trial on record; then the
// same command finishes it when the server has recovered, and pays for nothing twice that
// it was told.
func TestDeniedRequests(t *testing.T) {
	const samples, limit = 60, 10
	r := rand.New(rand.NewPCG(12, 30))
	stopped, failed := 0, 0
	rounds := 20
	if testing.Short() {
		rounds = 8
	}
	for round := range rounds {
		atOnce := []int{1, 1, 2, 4, 8}[r.IntN(5)]
		list := statuses(r, r.IntN(2*samples))
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			server, store := newReplies(t, list...), openStore(t, t.TempDir())
			e := Setup{
				Task: sampleTask(ofThree, "[1]", names(samples)...), Methods: []Method{inProcess(baseline.Direct())}, Provider: openaiModel(t, server.Server, "key"),
				Retry: gateway.Retry{Base: time.Microsecond, Max: time.Microsecond}, Experiment: Experiment{MaxSamples: atOnce, Retries: 100},
			}
			first, err := e.Run(context.Background(), store, Quiet{})
			denied, row := server.denials()
			// The replies to requests that are under way at once come in any order.
			mayStop, mustStop := denied >= limit && row+2*atOnce > limit, row >= limit+2*atOnce
			if (err != nil) && !mayStop || (err == nil) && mustStop {
				t.Fatalf("error %v after %d denials, %d in a row, %d at once", err, denied, row, atOnce)
			}
			bad := 0
			for _, tr := range first.Trials {
				if tr.Answer.Outcome != methods.Answered {
					bad++
					if !tr.Infra || !strings.Contains(tr.Failure, "HTTP 40") || !strings.Contains(tr.Failure, "openai") {
						t.Errorf("trial %s: infra %t, %q", tr.ID, tr.Infra, tr.Failure)
					}
				}
			}
			failed += bad
			if err == nil {
				if first.Run.Status != record.Finished || len(first.Trials) != samples || bad != denied {
					t.Errorf("run %s with %d trials, %d failed for %d denials", first.Run.Status, len(first.Trials), bad, denied)
				}
				return
			}
			stopped++
			if !errors.Is(err, methods.ErrProvider) || strings.Count(err.Error(), "HTTP 40") != 1 || !strings.Contains(err.Error(), "10 requests in a row were denied") || first.Run.Status == record.Finished {
				t.Errorf("run %s: %v", first.Run.Status, err)
			}
			if row > limit+2*atOnce {
				t.Errorf("%d requests were denied in a row, %d at once", row, atOnce)
			}
			checkGoesOn(t, e, store, server, first)
		})
	}
	if !testing.Short() && (stopped < 5 || failed < 20) {
		t.Errorf("of the runs, %d were stopped; %d trials failed", stopped, failed)
	}
}

// checkGoesOn repeats a run's command when the server has recovered.
func checkGoesOn(t *testing.T, e Setup, store *cache.Store, server *replies, first *Result) {
	t.Helper()
	server.mu.Lock()
	server.left = nil
	server.mu.Unlock()
	second := mustRun(t, e, store)
	answers := 0
	for _, status := range server.given {
		if status == 200 {
			answers++
		}
	}
	// What was under way when the run stopped may have been answered to nobody.
	if twice := answers - len(second.Trials); second.Run.ID != first.Run.ID || twice < 0 || twice >= e.MaxSamples {
		t.Errorf("run %s, was %s; %d answers for %d trials", second.Run.ID, first.Run.ID, answers, len(second.Trials))
	}
	for _, tr := range second.Trials {
		if tr.Answer.Outcome != methods.Answered && len(first.Trials) == 0 {
			t.Errorf("trial %s: %s", tr.ID, tr.Failure)
		}
	}
}

// TestDeniedFirst: the order of a denial and the answers does not matter, not even when
// the denial comes first, and trials come one by one.
func TestDeniedFirst(t *testing.T) {
	for at := range 3 {
		list := []int{200, 200, 200}
		list[at] = 401
		server := newReplies(t, list...)
		e := Setup{
			Task: sampleTask(ofThree, "[1]", names(3)...), Methods: []Method{inProcess(baseline.Direct())},
			Provider: openaiModel(t, server.Server, "key"), Experiment: Experiment{MaxSamples: 1},
		}
		run := mustRun(t, e, openStore(t, t.TempDir()))
		for i, tr := range run.Trials {
			if tr.Infra != (i == at) {
				t.Errorf("denial %d: trial %d is %+v, %s", at, i, tr.Answer, tr.Failure)
			}
		}
	}
}

// TestAllDenied: a run that is over before ten requests were denied has no trials,
// either, and keeps no decision of a rule that would rest on them.
func TestAllDenied(t *testing.T) {
	server, store := newReplies(t, slices.Repeat([]int{403}, 4)...), openStore(t, t.TempDir())
	e := Setup{
		Task: sampleTask(ofThree, "[1]", names(4)...), Methods: []Method{inProcess(baseline.Direct())},
		Provider: openaiModel(t, server.Server, "key"), Experiment: Experiment{MaxSamples: 2},
	}
	first, err := e.Run(context.Background(), store, Quiet{})
	if err == nil || !strings.Contains(err.Error(), "no request was answered") || strings.Count(err.Error(), "403") != 1 {
		t.Errorf("error %v", err)
	}
	if len(first.Trials) != 0 || first.Run.Status == record.Finished || server.Requests() != 4 {
		t.Errorf("%d trials, run %s, %d requests", len(first.Trials), first.Run.Status, server.Requests())
	}
	checkGoesOn(t, e, store, server, first)
}
