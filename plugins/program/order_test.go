package program

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// call is a request that a generated program makes.
type call struct {
	site site
	body string
}

// programOf is a program of several threads with calls that are often equal.
func programOf(r *rand.Rand, numbered bool) (threads [][]call) {
	for t := range 1 + r.IntN(6) {
		var calls []call
		for n := range 1 + r.IntN(8) {
			s := site{draw: -1}
			if numbered {
				s = site{numbered: true, place: fmt.Sprintf("0.%d", t), number: fmt.Sprint(n), draw: -1}
			}
			calls = append(calls, call{s, fmt.Sprint("prompt ", r.IntN(3))})
		}
		threads = append(threads, calls)
	}
	return threads
}

// execute runs a program's threads, and returns by thread and number the draw that each call
// had. Chance decides how the threads interleave.
func execute(t *testing.T, r *rand.Rand, threads [][]call) map[[2]int]int {
	t.Helper()
	o, draws := newOrder(), map[[2]int]int{}
	next := make([]int, len(threads))
	for {
		var open []int
		for i := range threads {
			if next[i] < len(threads[i]) {
				open = append(open, i)
			}
		}
		if len(open) == 0 {
			return draws
		}
		i := open[r.IntN(len(open))]
		c := threads[i][next[i]]
		attempts := 1 + r.IntN(3)/2 // some are repeated by their client
		for range attempts {
			a, first := o.join(c.site, "chat/1", digestOf("chat", []byte(c.body)), 1)
			if first {
				a.finish([]byte("r"), nil)
			} else if attempts == 1 {
				t.Fatalf("call %d of thread %d joined another", next[i], i)
			}
			draws[[2]int{i, next[i]}] = a.draw
		}
		next[i]++
	}
}

// TestNumberedCallsHaveOneDraw: whatever the order in which threads run, each call of a
// numbered program has the same draw, and no two equal ones of a program share one.
func TestNumberedCallsHaveOneDraw(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		threads := programOf(r, true)
		first, second := execute(t, r, threads), execute(t, r, threads)
		taken := map[string]bool{}
		for at, draw := range first {
			if second[at] != draw {
				t.Fatalf("%v: call %v had draw %d, then %d", threads, at, draw, second[at])
			}
			name := fmt.Sprint(threads[at[0]][at[1]].body, draw)
			if taken[name] {
				t.Fatalf("%v: two equal calls have draw %d", threads, draw)
			}
			taken[name] = true
		}
	}
}

// TestOverlapIsTold: equal calls without a number that are under way together are told, those
// that follow each other are not.
func TestOverlapIsTold(t *testing.T) {
	o := newOrder()
	a, _ := o.join(site{draw: -1}, "chat/1", "x", 1)
	b, _ := o.join(site{draw: -1}, "chat/1", "x", 1)
	c, _ := o.join(site{draw: -1}, "chat/1", "y", 1)
	a.finish(nil, nil)
	b.finish(nil, nil)
	d, _ := o.join(site{draw: -1}, "chat/1", "x", 1)
	if a.unordered || !b.unordered || c.unordered || d.unordered || b.draw != 1 || d.draw != 2 {
		t.Errorf("%+v %+v %+v %+v", a, b, c, d)
	}
}

// TestRetryJoinsItsFirstAttempt: a client that gave up and asks again gets the reply to what
// it asked first, whether or not its leaving was noticed.
func TestRetryJoinsItsFirstAttempt(t *testing.T) {
	for _, noticed := range []bool{true, false} {
		o, retry := newOrder(), site{draw: -1, retry: true}
		a, first := o.join(site{draw: -1}, "chat/1", "x", 1)
		ctx, leave := context.WithCancel(t.Context())
		var gone sync.WaitGroup
		gone.Go(func() { _, _ = o.await(ctx, a) })
		leave()
		if noticed {
			gone.Wait()
		}
		b, again := o.join(retry, "chat/1", "x", 1)
		a.finish([]byte("reply"), nil)
		if got, err := o.await(t.Context(), b); !first || again || a != b || string(got) != "reply" || err != nil {
			t.Errorf("noticed %v: %q, %v, first %v, again %v", noticed, got, err, first, again)
		}
		gone.Wait()
		if c, first := o.join(retry, "chat/1", "x", 1); !first || c == a { // it has its reply: this is another
			t.Error("a second call took a reply that was taken")
		}
	}
}

func TestSiteOf(t *testing.T) {
	for header, want := range map[string]site{
		"0/3": {numbered: true, place: "0", number: "3", draw: -1}, "0.2.1/0": {numbered: true, place: "0.2.1", number: "0", draw: -1},
		"0/7;draw=2": {numbered: true, place: "0", number: "7", draw: 2}, "": {draw: -1}, "nonsense": {draw: -1},
		"0/1;draw=-5": {numbered: true, place: "0", number: "1", draw: -1}, strings.Repeat("0.", 200) + "/1": {draw: -1},
	} {
		h := http.Header{}
		h.Set(callHeader, header)
		if got := siteOf(h); got != want {
			t.Errorf("%q: %+v, want %+v", header, got, want)
		}
	}
}
