package providertest

import (
	"net/http"
	"time"
)

// Response answers a request instead of the server.
type Response func(s *Server, w http.ResponseWriter, r *http.Request, a Ask)

// Raw answers a body as it is, with further headers in pairs of name and value.
func Raw(status int, contentType, body string, header ...string) Response {
	return func(s *Server, w http.ResponseWriter, _ *http.Request, _ Ask) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		s.send(w, status, contentType, []byte(body))
	}
}

// Status answers an error of the protocol's form, with further headers in pairs
// of name and value.
func Status(status int, message string, header ...string) Response {
	return func(s *Server, w http.ResponseWriter, r *http.Request, a Ask) {
		Raw(status, "application/json", string(s.wire.refusal(status, message, 0)), header...)(s, w, r, a)
	}
}

// Fail makes a fault.
func Fail(f Fault) Response {
	return func(s *Server, w http.ResponseWriter, r *http.Request, a Ask) { s.answer(w, r, a, f) }
}

// Slow sends the right reply after d, or nothing if the client leaves before.
func Slow(d time.Duration) Response {
	return func(s *Server, w http.ResponseWriter, r *http.Request, a Ask) {
		if wait(r, d) {
			s.answer(w, r, a, None)
		}
	}
}
