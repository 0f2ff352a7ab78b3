package providertest

import (
	"encoding/binary"
	"hash/fnv"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// Fault is a way for a request to fail.
type Fault string

// The faults. A reply that is lost on its way may have been paid for; one that
// came whole must not be asked for again.
const (
	None        Fault = ""
	RateLimit   Fault = "rate limit"   // 429, with how long to wait in one of the forms in use
	Overloaded  Fault = "overloaded"   // 503 or 529
	ServerError Fault = "server error" // 500 or 502
	HTML        Fault = "html"         // a proxy's page, with status 502 or 200
	Reset       Fault = "reset"        // the connection ends before any byte
	Cut         Fault = "cut"          // … in the middle of the reply
	EndsEarly   Fault = "ends early"   // the reply ends properly, in its middle
	HalfOpen    Fault = "half open"    // the reply stops in its middle and the connection stays
	Silent      Fault = "silent"       // no byte at all, and the connection stays
	InStream    Fault = "error inside" // the stream says that the server failed
	Malformed   Fault = "malformed"    // no reply, with status 200
	Empty       Fault = "empty"        // nothing, with status 200
	WrongUsage  Fault = "wrong usage"  // a whole reply with counts that cannot be
	BadSchema   Fault = "bad schema"   // a whole reply that is not of the schema that was asked for
	NeverCloses Fault = "never closes" // a whole reply, after which the connection stays
)

// All lists the faults.
func All() []Fault {
	return []Fault{
		RateLimit, Overloaded, ServerError, HTML, Reset, Cut, EndsEarly, HalfOpen, Silent,
		InStream, Malformed, Empty, WrongUsage, BadSchema, NeverCloses,
	}
}

// Plan says which requests fail and how. It depends on what is asked and how
// often, never on the order of arrival, except for storms.
type Plan struct {
	Seed   uint64
	Rate   float64 // of attempts that fail
	Faults []Fault // of which one is chosen; none means All
	// Most is how often requests of one content fail at most; 0 means no limit.
	Most int
	// Each is how often every fault is made at least, for the first requests
	// that it can happen to, some way apart.
	Each int
	// Storm is how many requests in a row are answered with 429, out of every
	// StormEvery that arrive.
	Storm, StormEvery int
}

// owed are the faults that Each demands.
func (p Plan) owed() []Fault {
	var owed []Fault
	for range p.Each {
		owed = append(owed, All()...)
	}
	return owed
}

// apart is how many requests lie between two faults that Each demands: a
// provider that failed every request at first would be taken for down.
const apart = 7

// plan is the fault that a request meets.
func (s *Server) plan(a Ask) Fault {
	if s.config.Fault != nil {
		return s.config.Fault(a)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if a.Attempt == 1 && len(s.bills)%apart == 0 {
		for i, f := range s.owed {
			if f.happens(a) {
				s.owed = slices.Delete(s.owed, i, i+1)
				return f
			}
		}
	}
	if f := s.config.Plan.fault(a); f.happens(a) {
		return f
	}
	return None
}

func (f Fault) happens(a Ask) bool { return f != BadSchema || a.Schema }

func (p Plan) fault(a Ask) Fault {
	if p.StormEvery > 0 && a.Number%p.StormEvery < p.Storm {
		return RateLimit
	}
	if p.Most > 0 && a.Attempt > p.Most || chance(p.Seed, a, "whether") >= p.Rate {
		return None
	}
	faults := p.Faults
	if len(faults) == 0 {
		faults = All()
	}
	return faults[int(chance(p.Seed, a, "which")*float64(len(faults)))]
}

// chance is a number in [0,1) that depends on its arguments alone.
func chance(seed uint64, a Ask, what string) float64 {
	h := fnv.New64a()
	_ = binary.Write(h, binary.LittleEndian, []uint64{seed, uint64(a.Attempt)})
	_, _ = h.Write([]byte(a.Key + what))
	x := h.Sum64()
	x ^= x >> 33 // the low bits of FNV say more than the high ones
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	return float64(x>>11) / (1 << 53)
}

// answer answers a request, with the fault if there is one.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, a Ask, f Fault) {
	switch f {
	case RateLimit:
		s.rateLimit(w, a)
	case Overloaded:
		s.refuse(w, pick(a, 503, 529), "Overloaded")
	case ServerError:
		s.refuse(w, pick(a, 500, 502), "The server had an error.")
	case HTML:
		s.send(w, pick(a, 502, 200), "text/html", []byte("<html><body><h1>Bad Gateway</h1></body></html>"))
	case Reset:
		reset(w)
	case Silent:
		s.stall(r)
		reset(w)
	case Malformed:
		s.send(w, http.StatusOK, "application/json", []byte(`{"id":"x","object":`))
	case Empty:
		s.send(w, http.StatusOK, "application/json", nil)
	default:
		s.answerInFull(w, r, a, f)
	}
}

// answerInFull answers with a reply that was made, whatever becomes of it.
func (s *Server) answerInFull(w http.ResponseWriter, r *http.Request, a Ask, f Fault) {
	answer := s.config.Answer(a)
	switch f {
	case WrongUsage:
		s.deliver(w, a, answer, usage{wrong: 1 + int(chance(0, a, "usage")*5)})
		return
	case BadSchema:
		if a.Schema {
			answer.Text = `{"unasked":` + strconv.Quote(answer.Text)
		}
		s.deliver(w, a, answer, usage{})
		return
	case NeverCloses:
		s.deliver(w, a, answer, usage{})
		s.stall(r)
		return
	case None:
		s.deliver(w, a, answer, usage{})
		return
	}
	s.count(func() { s.bills[a.Key].Lost++ })
	s.sendHalf(w, a, answer)
	switch f {
	case Cut:
		panic(http.ErrAbortHandler)
	case HalfOpen:
		s.stall(r)
		panic(http.ErrAbortHandler)
	case InStream:
		_ = write(w, s.wire.failure())
	}
}

// sendHalf sends the first half of a reply.
func (s *Server) sendHalf(w http.ResponseWriter, a Ask, answer Answer) {
	w.Header().Set("Content-Type", s.wire.streams())
	if a.Stream && !s.config.Whole {
		frames := s.wire.frames(a, answer, usage{})
		for _, frame := range frames[:(len(frames)-1)/2+1] {
			_ = write(w, frame)
		}
		return
	}
	whole := s.wire.whole(a, answer, usage{})
	_ = write(w, whole[:len(whole)/2])
}

// rateLimit says how long to wait in one of the forms in use, always shorter
// than a test can notice, or not at all.
func (s *Server) rateLimit(w http.ResponseWriter, a Ask) {
	var inBody time.Duration
	switch int(chance(0, a, "form") * 4) {
	case 0:
		w.Header().Set("Retry-After-Ms", "3")
	case 1:
		w.Header().Set("Retry-After", "0.003")
	case 2:
		now := time.Now().UTC().Format(http.TimeFormat)
		w.Header().Set("Date", now)
		w.Header().Set("Retry-After", now)
	case 3:
		inBody = 3 * time.Millisecond
	}
	s.send(w, http.StatusTooManyRequests, "application/json", s.wire.refusal(http.StatusTooManyRequests, "Rate limit reached.", inBody))
}

// stall says nothing until the client leaves or the time is up.
func (s *Server) stall(r *http.Request) { wait(r, s.config.Stall) }

// wait lets d pass and reports whether the client is still there.
func wait(r *http.Request, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.Context().Done():
		return false
	}
}

func pick(a Ask, first, second int) int {
	if chance(0, a, "pick") < 0.5 {
		return first
	}
	return second
}
