// Package openaitest is a server that speaks the chat-completions protocol
// over loopback, with faults on demand: what a test of a provider, of the
// gateway or of the command needs in order to meet a bad day of a real server
// without one. It is a real HTTP server, so connections, headers, timeouts
// and cut replies are the real thing.
//
// Faults are chosen by the number of the request, counted from 1 in order of
// arrival, or by a function of the request, for tests whose requests arrive
// in no fixed order.
package openaitest

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"
)

// Config is how a Server behaves. The zero value answers "ok" to everything.
type Config struct {
	Reply   func(Request) Reply // what it answers; nil answers "ok"
	Latency time.Duration       // before each reply; it ends early when the client leaves
	Faults  map[int]Fault       // by request number, from 1
	Fault   func(Request) Fault // asked where Faults has none; nil or a nil result is no fault
	Key     string              // if set, any other bearer token is answered with 401
	Rejects []string            // parameters that are answered with a 400 naming them, such as "temperature"
	Record  bool                // keep every request for Recorded
	Models  []string            // if set, any other model is answered with 404
	OnCall  func(Request)       // called when a request has arrived, before its latency
}

// Request is one call as the server read it.
type Request struct {
	Number   int // from 1, in order of arrival
	Model    string
	Messages []Message
	Header   http.Header
	Fields   map[string]json.RawMessage // the whole body, by top-level name
}

// Message is one turn of a request. Content is empty where it is null.
type Message struct {
	Role       string `json:"role"`
	Content    string `json:"content"`
	ToolCallID string `json:"tool_call_id"`
}

// Prompt is all message contents, joined by newlines.
func (r Request) Prompt() string {
	texts := make([]string, len(r.Messages))
	for i, m := range r.Messages {
		texts[i] = m.Content
	}
	return strings.Join(texts, "\n")
}

// Has reports whether the body named a parameter, such as "seed".
func (r Request) Has(name string) bool {
	_, ok := r.Fields[name]
	return ok
}

// Reply is what a model answered.
type Reply struct {
	Text      string
	ToolCalls []ToolCall
	Refusal   string
	Finish    string // empty is "stop", or "tool_calls" if there are any
	Model     string // empty repeats the request's
	Input     int64  // tokens; 0 counts one for each 4 bytes of prompt
	Output    int64  // tokens; 0 counts one for each 4 bytes of text
	NoUsage   bool   // leave the usage out
}

// ToolCall is a tool call in a reply. Arguments is sent as it is, so it may
// be no JSON at all.
type ToolCall struct{ ID, Name, Arguments string }

// Server is a running server. Close it when done.
type Server struct {
	config Config
	http   *httptest.Server

	mu          sync.Mutex
	requests    int
	inFlight    int
	maxInFlight int
	connections int
	recorded    []Request
}

// NewServer starts a server on a loopback port of its own.
func NewServer(c Config) *Server {
	s := &Server{config: c}
	s.http = httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	s.http.Config.ConnState = s.connState
	s.http.Config.ErrorLog = nil
	s.http.Start()
	return s
}

// Close stops the server and cuts whatever is in flight.
func (s *Server) Close() {
	s.http.CloseClientConnections()
	s.http.Close()
}

// URL is the base URL for clients; it ends in "/v1".
func (s *Server) URL() string { return s.http.URL + "/v1" }

// Requests is how many completions were asked for so far, faults included.
func (s *Server) Requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

// MaxInFlight is the largest number of requests served at one time.
func (s *Server) MaxInFlight() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.maxInFlight
}

// Connections is how many connections were opened so far.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.connections
}

// Recorded returns the requests so far, if Config.Record is set.
func (s *Server) Recorded() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.recorded)
}

func (s *Server) connState(_ net.Conn, state http.ConnState) {
	if state != http.StateNew {
		return
	}
	s.mu.Lock()
	s.connections++
	s.mu.Unlock()
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || r.URL.Path != "/v1/chat/completions" {
		writeError(w, http.StatusNotFound, "Unknown request URL: "+r.Method+" "+r.URL.Path, "", "unknown_url")
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client left
	}
	req, err := parse(body, r.Header)
	s.arrive(&req)
	defer s.leave()
	if err != nil {
		writeError(w, http.StatusBadRequest, "The body is not valid: "+err.Error(), "", "")
		return
	}
	if s.config.OnCall != nil {
		s.config.OnCall(req)
	}
	if !wait(r, s.config.Latency) {
		return
	}
	if s.refuse(w, req) {
		return
	}
	reply := s.reply(req)
	if fault := s.fault(req); fault != nil {
		fault(w, r, reply)
		return
	}
	writeJSON(w, http.StatusOK, reply)
}

func parse(body []byte, header http.Header) (Request, error) {
	req := Request{Header: header}
	if err := json.Unmarshal(body, &req.Fields); err != nil {
		return req, err
	}
	if err := json.Unmarshal(req.Fields["model"], &req.Model); err != nil {
		return req, err
	}
	return req, json.Unmarshal(req.Fields["messages"], &req.Messages)
}

func (s *Server) arrive(req *Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	s.inFlight++
	s.maxInFlight = max(s.maxInFlight, s.inFlight)
	req.Number = s.requests
	if s.config.Record {
		s.recorded = append(s.recorded, *req)
	}
}

func (s *Server) leave() {
	s.mu.Lock()
	s.inFlight--
	s.mu.Unlock()
}

// refuse answers what the configuration does not allow.
func (s *Server) refuse(w http.ResponseWriter, req Request) bool {
	if s.config.Key != "" && req.Header.Get("Authorization") != "Bearer "+s.config.Key {
		token := strings.TrimPrefix(req.Header.Get("Authorization"), "Bearer ")
		// Real servers quote the key they were sent, so this one does as well.
		writeError(w, http.StatusUnauthorized, "Incorrect API key provided: "+token+".", "", "invalid_api_key")
		return true
	}
	if len(s.config.Models) > 0 && !slices.Contains(s.config.Models, req.Model) {
		writeError(w, http.StatusNotFound, "The model '"+req.Model+"' does not exist", "model", "model_not_found")
		return true
	}
	for _, name := range s.config.Rejects {
		if req.Has(name) {
			writeError(w, http.StatusBadRequest, "Unsupported parameter: '"+name+"' is not supported with this model.", name, "unsupported_parameter")
			return true
		}
	}
	return false
}

func (s *Server) reply(req Request) []byte {
	reply := Reply{Text: "ok"}
	if s.config.Reply != nil {
		reply = s.config.Reply(req)
	}
	return encode(req, reply)
}

func (s *Server) fault(req Request) Fault {
	if f := s.config.Faults[req.Number]; f != nil {
		return f
	}
	if s.config.Fault != nil {
		return s.config.Fault(req)
	}
	return nil
}

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
