package gateway

import (
	"fmt"
	"time"
)

// silence tells the user when nothing is answered for long, be it that the
// server hangs or that it refuses everything: the run itself shows neither. It
// tells again after twice the time.
type silence struct {
	since time.Time     // the last answer, or what was asked first after it
	next  time.Duration // how long it may last until the user is told
}

// longSilence is longer than most models think.
const longSilence = 30 * time.Second

// ends is told of an answer, and of an attempt before which nothing was asked.
func (s *silence) ends(now time.Time) { s.since, s.next = now, longSilence }

// notice is what to tell, if it is time for that. last is the last failure, if
// there was one since the last answer.
func (s *silence) notice(now time.Time, inFlight, waiting int, last error) string {
	if now.Sub(s.since) < s.next {
		return ""
	}
	s.next *= 2
	text := fmt.Sprintf("no answer for %v: %d calls are under way, %d wait", now.Sub(s.since).Round(time.Second), inFlight, waiting)
	if last != nil {
		text += fmt.Sprintf("; the last failed with: %v", last)
	}
	return text
}
