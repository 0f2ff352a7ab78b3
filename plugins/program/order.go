package program

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// callHeader is what package numbering has clients send with each request: the place of
// the call in the program and its number there, as in "0.2/3", and where the caller knows
// it which of equal requests it is, as in "0/7;draw=1".
const callHeader = "Noema-Call"

// retryHeader is what the clients of OpenAI and Anthropic send with a request: how often
// it was sent before.
const retryHeader = "X-Stainless-Retry-Count"

// mainPlace is the place of calls of a program's first thread.
const mainPlace = "0"

// site is where a request was made, as it says.
type site struct {
	numbered bool
	place    string
	number   string
	draw     int // -1 where it is not said
	retry    bool
}

func siteOf(h http.Header) site {
	s := site{draw: -1}
	n, err := strconv.Atoi(h.Get(retryHeader))
	s.retry = err == nil && n > 0
	at, draw, drawn := strings.Cut(h.Get(callHeader), ";draw=")
	s.place, s.number, s.numbered = strings.Cut(at, "/")
	if len(at) > 200 || !s.numbered {
		return site{draw: -1, retry: s.retry}
	}
	if n, err := strconv.Atoi(draw); drawn && err == nil && n >= 0 && n < 1<<30 {
		s.draw = n
	}
	return s
}

// asked is a request of the program: the first attempt, which retries of it join.
type asked struct {
	path      string
	draw      int
	unordered bool

	done    chan struct{} // closed once reply or err is there
	reply   []byte
	err     error
	taken   bool // the program has its reply; guarded by order.mu
	waiting int  // requests of the program that wait for it; guarded by order.mu
}

// order tells the requests of a trial apart.
type order struct {
	mu    sync.Mutex
	count map[string]int      // equal requests so far, by place and content
	sites map[string]*asked   // numbered ones, by place, number and content
	equal map[string][]*asked // those without a number, by content
}

func newOrder() *order {
	return &order{count: map[string]int{}, sites: map[string]*asked{}, equal: map[string][]*asked{}}
}

// digestOf identifies a request's content within its trial.
func digestOf(wire string, body []byte) string {
	sum := sha256.Sum256(append([]byte(wire+"\x00"), body...))
	return hex.EncodeToString(sum[:])
}

// join returns the call that a request belongs to, and whether it is the first of it: then
// it must be made, and [asked.finish] called. label begins the path of a call that has no
// number, which says what is asked and not when; width is how many draws each takes.
func (o *order) join(s site, label, digest string, width int) (a *asked, first bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	place := s.place + "/" + s.number + "\x00" + digest
	if s.numbered && s.draw < 0 {
		if a = o.sites[place]; a != nil {
			a.waiting++
			return a, false
		}
	} else if s.retry {
		if a = o.left(digest); a != nil {
			a.waiting++
			return a, false
		}
	}
	a = &asked{done: make(chan struct{}), waiting: 1, draw: s.draw * width}
	if s.draw >= 0 && s.place != mainPlace { // a worker, which counts for itself
		a.draw += drawsOf(s.place)
	}
	switch {
	case s.numbered && s.draw < 0:
		a.path = s.place + "/c" + s.number
		a.draw = o.turn(s.place, digest) * width
		if s.place != mainPlace {
			a.draw += drawsOf(s.place)
		}
		o.sites[place] = a
		return a, true
	case s.draw < 0:
		a.draw = o.turn("", digest) * width
		for _, other := range o.equal[digest] {
			a.unordered = a.unordered || !other.finished()
		}
	}
	a.path = fmt.Sprintf("%s/%.8s", label, digest)
	open := slices.DeleteFunc(o.equal[digest], func(a *asked) bool { return a.taken }) // which nobody asks for again
	o.equal[digest] = append(open, a)
	return a, true
}

// left is the call whose first attempt a retry repeats: one that nobody waits for any more,
// or else one whose program has left without its being noticed yet.
func (o *order) left(digest string) (found *asked) {
	for _, a := range o.equal[digest] {
		if !a.taken && (found == nil || found.waiting > 0 && a.waiting == 0) {
			found = a
		}
	}
	return found
}

// turn counts the equal requests of a place.
func (o *order) turn(place, digest string) int {
	o.count[place+"\x00"+digest]++
	return o.count[place+"\x00"+digest] - 1
}

// drawsOf is where the draws of a place other than the main one begin. Each place has its
// own, so that equal requests of several threads have the same replies in each execution,
// whichever thread is first.
func drawsOf(place string) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(place))
	return (1 + int(h.Sum32())) << 12
}

func (a *asked) finished() bool {
	select {
	case <-a.done:
		return true
	default:
		return false
	}
}

// finish gives all who wait the reply, or the error.
func (a *asked) finish(reply []byte, err error) {
	a.reply, a.err = reply, err
	close(a.done)
}

// await waits for the reply as long as the program does. What is not taken by the time it
// leaves, a retry may take.
func (o *order) await(ctx context.Context, a *asked) ([]byte, error) {
	select {
	case <-a.done:
	case <-ctx.Done():
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	a.waiting--
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	a.taken = true
	return a.reply, a.err
}
