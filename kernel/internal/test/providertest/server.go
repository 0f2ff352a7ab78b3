// Package providertest is a model server for tests. It speaks the protocols of
// all providers over loopback HTTP, makes faults by a plan that depends on its
// seed and the request alone, and keeps accounts: what it delivered for each
// request, so that a test can prove that nothing was paid twice. It is a real
// HTTP server, so connections, headers, resets and cut replies are real.
package providertest

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"time"

	"noema/methods"
)

// Protocol is what a Server speaks.
type Protocol string

// The protocols.
const (
	Chat      Protocol = "chat completions"
	Responses Protocol = "responses"
	Anthropic Protocol = "anthropic messages"
	Gemini    Protocol = "gemini"
	Ollama    Protocol = "ollama"
)

// Config is how a Server behaves.
type Config struct {
	Protocol Protocol
	Answer   func(Ask) Answer // nil answers "ok"
	Plan     Plan
	// Fault, if set, is used instead of Plan.
	Fault func(Ask) Fault
	// Respond, if set, may answer a request instead of the server; a nil
	// Response leaves it to the server.
	Respond func(Ask) Response
	// Latency is how long each reply takes.
	Latency time.Duration
	// Arrived, if set, is called for each request before anything is answered.
	Arrived func(Ask)
	// Delivered, if set, is called for each reply that was sent whole.
	Delivered func(Ask)
	// Stall is how long a fault that says nothing lasts, unless the client
	// leaves before. 0 means 60 s.
	Stall time.Duration
	// Key, if set, is the only one that is accepted.
	Key string
	// Refuse answers with a 400 that says the returned text, if there is one.
	Refuse func(Ask) string
	// Rejects are parameters that are answered with a 400 that names them.
	Rejects []string
	// Models, if set, are the only ones offered.
	Models []string
	// Limit is the longest prompt in bytes; a longer one is refused as too
	// long in the protocol's own words. 0 means no limit.
	Limit int
	// Listener, if set, is where it is served, instead of a loopback port of its own.
	Listener net.Listener
	// Whole answers in one piece even where a stream was asked for.
	Whole bool
}

// Ask is a request as the server read it.
type Ask struct {
	Number  int    // from 1, in order of arrival
	Key     string // digest of the body: the same for requests of the same content
	Attempt int    // of requests with this key, from 1
	Header  http.Header
	Body    map[string]any

	Model    string
	Messages []methods.Message // with their texts alone; of chat completions and Ollama
	Prompt   string            // text of the last user turn
	System   string            // text of the system turns
	Results  []string          // of tools, in order
	Schema   bool              // a schema is to be enforced
	Tools    []string          // names
	Seed     float64
	Stream   bool
	// Logprobs is how many likeliest tokens are asked for at each place.
	Logprobs int
}

// Answer is what the model says.
type Answer struct {
	Text      string
	Calls     []Call
	Refused   bool // Text is why
	Truncated bool // by the limit of tokens
	Input     int64
	Output    int64 // tokens; 0 counts one for each 4 bytes, of Input too

	Cached, Written int64   // of Input: read from the server's cache, and written to it
	Reasoning       int64   // of Output
	Tokens          []Token // of Text; sent where log probabilities are asked for
}

// Call is a tool call. Arguments is JSON.
type Call struct{ ID, Name, Arguments string }

// Bill is what one request cost its sender.
type Bill struct {
	Requests  int // times that it was sent
	Delivered int // answers that were sent whole: more than 1 were paid twice
	Lost      int // answers that were made, and lost to a fault
}

// Server is a running server. Close it when done.
type Server struct {
	config Config
	wire   wire
	http   *httptest.Server

	mu       sync.Mutex
	asks     []Ask
	inFlight int
	most     int
	opened   int
	bills    map[string]*Bill
	faults   map[Fault]int
	owed     []Fault // faults still to be made; see Plan.Each
}

// wires are the protocols.
var wires = map[Protocol]wire{
	Chat: chatWire{}, Responses: responsesWire{}, Anthropic: anthropicWire{}, Gemini: geminiWire{}, Ollama: ollamaWire{},
}

// wire is a protocol.
type wire interface {
	// parse reads a request from its path and body; false means that there is
	// nothing at the path.
	parse(path string, a *Ask) bool
	// frames are the pieces of a streamed reply, the last of which ends it.
	frames(Ask, Answer, usage) [][]byte
	// whole is a reply in one piece.
	whole(Ask, Answer, usage) []byte
	// refusal is the body of an error.
	refusal(status int, message string, after time.Duration) []byte
	// failure is what tells of an error within a stream.
	failure() []byte
	// tooLong is what the server says of a prompt that does not fit.
	tooLong() string
	// streams is the type of a streamed reply.
	streams() string
	// key is the key that a request was sent with.
	key(http.Header) string
}

// New starts a server.
func New(c Config) *Server {
	if c.Answer == nil {
		c.Answer = func(Ask) Answer { return Answer{Text: "ok"} }
	}
	if c.Stall <= 0 {
		c.Stall = time.Minute
	}
	if c.Protocol == "" {
		c.Protocol = Chat
	}
	s := &Server{config: c, wire: wires[c.Protocol], bills: map[string]*Bill{}, faults: map[Fault]int{}, owed: c.Plan.owed()}
	s.http = httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	s.http.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.count(func() { s.opened++ })
		}
	}
	if c.Listener != nil {
		_ = s.http.Listener.Close() // nothing was connected to it
		s.http.Listener = c.Listener
	}
	s.http.Start()
	return s
}

// Close stops the server and cuts whatever is in flight.
func (s *Server) Close() {
	s.http.CloseClientConnections()
	s.http.Close()
}

// URL is the base URL to configure a provider with. OpenAI's protocols are
// served below every base, such as /openai/v1.
func (s *Server) URL() string {
	if s.config.Protocol == Chat || s.config.Protocol == Responses {
		return s.http.URL + "/v1"
	}
	return s.http.URL
}

// Bills is what each request cost, by its key.
func (s *Server) Bills() map[string]Bill {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]Bill{}
	for key, b := range s.bills {
		out[key] = *b
	}
	return out
}

// Faults is how often each fault was made.
func (s *Server) Faults() map[Fault]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[Fault]int{}
	for f, n := range s.faults {
		out[f] = n
	}
	return out
}

// Asks are the requests so far, in order of arrival.
func (s *Server) Asks() []Ask {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asks)
}

// Requests is how many requests have arrived.
func (s *Server) Requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.asks)
}

// MostInFlight is the largest number of requests served at one time.
func (s *Server) MostInFlight() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.most
}

// Connections is how many connections were opened so far.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.opened
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client left
	}
	sum := sha256.Sum256(append([]byte(r.URL.Path+"\n"), body...))
	ask := Ask{Key: hex.EncodeToString(sum[:]), Header: r.Header, Body: object(body)}
	if r.Method != http.MethodPost || ask.Body == nil || !s.wire.parse(r.URL.Path, &ask) {
		s.refuse(w, http.StatusNotFound, "nothing here: "+r.Method+" "+r.URL.Path)
		return
	}
	s.arrive(&ask)
	defer s.count(func() { s.inFlight-- })
	if s.config.Arrived != nil {
		s.config.Arrived(ask)
	}
	if !wait(r, s.config.Latency) || s.rejected(w, ask) {
		return
	}
	if s.config.Respond != nil {
		if respond := s.config.Respond(ask); respond != nil {
			respond(s, w, r, ask)
			return
		}
	}
	fault := s.plan(ask)
	s.count(func() { s.faults[fault]++ })
	s.answer(w, r, ask, fault)
}

func (s *Server) count(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

func (s *Server) arrive(a *Ask) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inFlight++
	s.most = max(s.most, s.inFlight)
	if s.bills[a.Key] == nil {
		s.bills[a.Key] = &Bill{}
	}
	s.bills[a.Key].Requests++
	a.Number, a.Attempt = len(s.asks)+1, s.bills[a.Key].Requests
	s.asks = append(s.asks, *a)
}

// rejected answers what the configuration does not allow.
func (s *Server) rejected(w http.ResponseWriter, a Ask) bool {
	if key := s.wire.key(a.Header); s.config.Key != "" && key != s.config.Key {
		// Real servers quote the key they were sent, so this one does as well.
		s.refuse(w, http.StatusUnauthorized, "Incorrect API key provided: "+key)
		return true
	}
	if len(s.config.Models) > 0 && !slices.Contains(s.config.Models, a.Model) {
		s.refuse(w, http.StatusNotFound, "The model '"+a.Model+"' does not exist")
		return true
	}
	for _, name := range s.config.Rejects {
		if a.Body[name] != nil {
			s.refuse(w, http.StatusBadRequest, "Unsupported parameter: '"+name+"' is not supported with this model.")
			return true
		}
	}
	if s.config.Limit > 0 && len(a.Prompt) > s.config.Limit {
		s.refuse(w, http.StatusBadRequest, s.wire.tooLong())
		return true
	}
	if s.config.Refuse != nil {
		if text := s.config.Refuse(a); text != "" {
			s.refuse(w, http.StatusBadRequest, text)
			return true
		}
	}
	return false
}

func (s *Server) refuse(w http.ResponseWriter, status int, message string) {
	s.send(w, status, "application/json", s.wire.refusal(status, message, 0))
}

func (s *Server) send(w http.ResponseWriter, status int, contentType string, body []byte) {
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// deliver sends a reply and counts it as delivered if all of it was sent.
func (s *Server) deliver(w http.ResponseWriter, a Ask, answer Answer, u usage) {
	var err error
	if a.Stream && !s.config.Whole {
		w.Header().Set("Content-Type", s.wire.streams())
		for _, frame := range s.wire.frames(a, answer, u) {
			if err = write(w, frame); err != nil {
				break
			}
		}
	} else {
		w.Header().Set("Content-Type", "application/json")
		err = write(w, s.wire.whole(a, answer, u))
	}
	if err == nil && s.config.Delivered != nil {
		s.config.Delivered(a)
	}
	s.count(func() {
		if err == nil {
			s.bills[a.Key].Delivered++
		} else {
			s.bills[a.Key].Lost++
		}
	})
}

func write(w http.ResponseWriter, frame []byte) error {
	if _, err := w.Write(frame); err != nil {
		return err
	}
	return http.NewResponseController(w).Flush()
}

// reset ends a connection without closing it properly.
func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if errors.Is(err, http.ErrNotSupported) || err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // RST rather than FIN
	}
	_ = conn.Close()
}
