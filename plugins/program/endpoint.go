package program

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"noema/kernel/base/verbatim"
	"noema/methods"
	"noema/plugins/program/wires"
)

// maxBody bounds a request of the program: beyond what any model reads.
const maxBody = 32 << 20

// endpoint is where one trial's program finds its model and its tools.
type endpoint struct {
	ctx     context.Context // of the trial: a call goes on when the program's client has left
	host    methods.Host
	trial   methods.Problem
	folders folders
	order   *order
	kept    conversations

	models map[string]string // which of the experiment's models the names of the program mean
	noise  []string          // patterns of what differs between equal executions

	end context.CancelCauseFunc // of the program

	mu      sync.Mutex
	calls   int            // of the host, under way
	idle    *sync.Cond     // told when there are none
	refused map[string]int // how often in a row a request had no reply, by its place and content
	cause   error          // the first failure that was not the program's
	limit   error          // the limit that was reached, which ends the trial
}

// newEndpoint makes the endpoint of a trial, whose calls end with ctx. It may end the program.
func newEndpoint(ctx context.Context, p methods.Problem, h methods.Host, f folders, end context.CancelCauseFunc) *endpoint {
	e := &endpoint{ctx: ctx, host: h, trial: p, folders: f, order: newOrder(), end: end, refused: map[string]int{}}
	e.idle = sync.NewCond(&e.mu)
	return e
}

// ServeHTTP answers a request of the program.
func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	wire, known := wires.At(r.URL.Path)
	switch {
	case known && r.Method == http.MethodPost:
		e.serveModel(w, r, wire)
	case strings.HasSuffix(r.URL.Path, "/models") && r.Method == http.MethodGet:
		writeJSON(w, http.StatusOK, json.RawMessage(`{"object":"list","data":[{"id":"noema","object":"model","type":"model","created":0,"owned_by":"noema","display_name":"noema","created_at":"1970-01-01T00:00:00Z"}],"has_more":false,"first_id":"noema","last_id":"noema"}`))
	case strings.HasPrefix(r.URL.Path, "/tools"):
		e.serveTools(w, r)
	case r.Method == http.MethodHead:
		w.WriteHeader(http.StatusOK)
	default:
		e.refuse(w, wires.Chat, wires.Refused{Status: http.StatusNotFound, Code: "not_found", Message: fmt.Sprintf(
			"%s %s is not served here: a program finds chat/completions, responses, completions, embeddings, models, messages, messages/count_tokens and tools", r.Method, r.URL.Path)})
	}
}

// serveModel answers one request of a client of a model.
func (e *endpoint) serveModel(w http.ResponseWriter, r *http.Request, wire wires.Wire) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err == nil && len(body) > maxBody {
		_, _ = io.Copy(io.Discard, io.LimitReader(r.Body, 16*maxBody)) // so that the client reads why
		e.refuse(w, wire, wires.Refused{Status: http.StatusRequestEntityTooLarge, Code: "request_too_large", Message: fmt.Sprintf("the request is larger than %d MiB", maxBody>>20)})
		return
	}
	if err != nil { // the client has left
		return
	}
	said, body, err := e.kept.whole(wire, e.folders.taken(body))
	var a wires.Asked
	if err == nil {
		a, err = wires.Read(wire, body)
	}
	if err != nil {
		e.fail(w, wire, err)
		return
	}
	a.By, a.Raw.Noise = e.models[a.Model], e.noise
	same := verbatim.Same(*a.Raw)
	digest, site := digestOf(string(wire)+a.By, same), siteOf(r.Header)
	refused := e.refusals(site.place + "\x00" + digest)
	call, first := e.order.join(site, label(wire, a), digest, a.Choices)
	if first {
		e.begin()
		go e.called(func() error {
			reply, err := e.ask(a, wire, call, same)
			if err == nil {
				e.kept.keep(wire, said, reply)
			}
			call.finish(reply, err)
			return err
		}, call.path)
	}
	stop := e.keepAlive(w, a.Stream)
	reply, err := e.order.await(r.Context(), call)
	streaming := stop()
	if err != nil {
		switch {
		case r.Context().Err() != nil:
		case errors.Is(err, methods.ErrBudget):
			<-e.ctx.Done() // a reply would be another thing to go on from
		case e.refuses(site.place+"\x00"+digest, refused+1):
			<-e.ctx.Done() // with a reply it would ask again before it ends
		default:
			e.answerFailure(w, wire, err, streaming)
		}
		return
	}
	reply = e.folders.given(reply)
	if !a.Stream {
		writeJSON(w, http.StatusOK, reply)
		return
	}
	frames, err := wires.Frames(wire, reply, a.IncludeUsage)
	if err != nil {
		e.answerFailure(w, wire, err, streaming)
		return
	}
	if !streaming {
		w.Header().Set("Content-Type", "text/event-stream")
	}
	for _, f := range frames {
		_, _ = w.Write(f) // a client that has left takes none
	}
}

// label begins the path of a call without a number: the wire's last name, and how much of a
// conversation it has, by which the calls of an agent stand in their order.
func label(wire wires.Wire, a wires.Asked) string {
	_, name, _ := strings.Cut(string(wire), ".")
	return fmt.Sprintf("%s/%d", name, len(a.Messages))
}

// begin counts a call of the host, which the trial's end waits for.
func (e *endpoint) begin() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.calls++
}

// called makes a call that was counted. A failure is kept: if the
// program fails after it, it failed for that. A limit ends the trial once the calls that it
// allowed are there.
func (e *endpoint) called(call func() error, path string) {
	err := call()
	e.mu.Lock()
	defer e.mu.Unlock()
	if err != nil && e.ctx.Err() == nil {
		e.cause = cmp.Or(e.cause, err)
		if errors.Is(err, methods.ErrBudget) && e.limit == nil {
			// Which of several calls is refused first is chance: it is not named.
			e.limit = fmt.Errorf("%w: the program was ended: %s", methods.ErrBudget, strings.TrimPrefix(strings.TrimPrefix(err.Error(), "call "+path+": "), methods.ErrBudget.Error()+": "))
		}
	}
	if e.calls--; e.calls == 0 {
		if e.limit != nil {
			e.end(e.limit)
		}
		e.idle.Broadcast()
	}
}

// settle waits until no call is under way.
func (e *endpoint) settle() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for e.calls > 0 {
		e.idle.Wait()
	}
}

// ask makes the call, or as many as it wants choices, and returns the reply's body. The kernel
// reads what it needs of the request itself.
func (e *endpoint) ask(a wires.Asked, wire wires.Wire, call *asked, same []byte) ([]byte, error) {
	r := a.Request
	r.Messages, r.Tools, r.Schema, r.Unordered = nil, nil, nil, call.unordered
	if r.Sampling.Seed == 0 {
		r.Sampling.Seed = e.trial.Seed
	}
	var replies []methods.Completion
	for i := range a.Choices {
		r.Draw, r.Path = call.draw+i, call.path
		if i > 0 {
			r.Path = fmt.Sprintf("%s/%d", call.path, i+1)
		}
		c, err := e.host.Complete(e.ctx, r)
		if err != nil {
			return nil, err
		}
		replies = append(replies, c)
		if c.Raw != nil { // has all choices
			break
		}
	}
	return wires.Whole(wire, a, replies, digestOf(fmt.Sprint(call.path, call.draw), same)[:24])
}

// maxRefused is how often in a row a program may send a request that has no reply. Published code
// often repeats a failed request for ever; the kernel has repeated it as often as that helps, and
// what a limit refuses once it refuses always.
const maxRefused = 4

// refusals is how often in a row a request had no reply at a place of the program, as a thread of
// it: what several threads ask at once is not repeated. Requests at the same time count once.
func (e *endpoint) refusals(request string) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.refused[request]
}

// refuses notes the nth refusal of a request. It ends a program that keeps sending it, and
// reports whether it has.
func (e *endpoint) refuses(request string, nth int) (ended bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.refused[request] = max(e.refused[request], nth)
	if nth < maxRefused {
		return false
	}
	e.end(fmt.Errorf("it sent a refused request %d times", maxRefused))
	return true
}

// failure is the first failure that was not the program's own, and whether it was a limit.
func (e *endpoint) failure() (cause error, limit bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.limit != nil {
		return e.limit, true
	}
	return e.cause, false
}

// aliveEvery is how often a stream whose reply is not there yet says that it will come.
const aliveEvery = 10 * time.Second

// keepAlive begins a stream when its reply takes long, so that clients wait. The function
// that it returns ends that, and reports whether the stream has begun.
func (e *endpoint) keepAlive(w http.ResponseWriter, stream bool) (stop func() (begun bool)) {
	if !stream {
		return func() bool { return false }
	}
	ended, gone, begun := make(chan struct{}), make(chan struct{}), false
	go func() {
		defer close(gone)
		tick := time.NewTicker(aliveEvery)
		defer tick.Stop()
		for {
			select {
			case <-ended:
				return
			case <-tick.C:
			}
			if !begun {
				begun = true
				w.Header().Set("Content-Type", "text/event-stream")
			}
			_, _ = io.WriteString(w, ": waiting\n\n") // a client that has left takes none
			if f, ok := w.(http.Flusher); ok {
				f.Flush()
			}
		}
	}()
	return func() bool {
		close(ended)
		<-gone
		return begun
	}
}

// answerFailure says in the protocol's own form why there is no reply.
func (e *endpoint) answerFailure(w http.ResponseWriter, wire wires.Wire, err error, streaming bool) {
	r := refusalOf(err)
	if !streaming {
		e.refuse(w, wire, r)
		return
	}
	fmt.Fprintf(w, "event: error\ndata: %s\n\n", wires.Refusal(wire, r))
}

// fail refuses a request that cannot be read.
func (e *endpoint) fail(w http.ResponseWriter, wire wires.Wire, err error) {
	e.refuse(w, wire, refusalOf(err))
}

// refusalOf is an error as the program's client meets it: one that it must not repeat, since
// the kernel has repeated all that is worth it.
func refusalOf(err error) wires.Refused {
	if r, ok := errors.AsType[*wires.Refused](err); ok {
		return *r
	}
	r := wires.Refused{Status: http.StatusBadRequest, Code: "provider_failed", Message: err.Error()}
	switch {
	case errors.Is(err, methods.ErrBudget):
		r.Code = "budget_exceeded"
	case errors.Is(err, methods.ErrMiss):
		r.Code = "not_recorded"
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		r.Code = "trial_ended"
	}
	return r
}

func (e *endpoint) refuse(w http.ResponseWriter, wire wires.Wire, r wires.Refused) {
	w.Header().Set("X-Should-Retry", "false")
	writeJSON(w, r.Status, wires.Refusal(wire, r))
}

func writeJSON(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that has left takes none
}

// serveTools lists the problem's tools and calls them: GET /tools, and POST /tools/NAME with
// the arguments as an object. The reply has what the tool said as "content", and "is_error".
func (e *endpoint) serveTools(w http.ResponseWriter, r *http.Request) {
	name := strings.Trim(strings.TrimPrefix(r.URL.Path, "/tools"), "/")
	switch {
	case name == "mcp":
		e.serveMCP(w, r)
	case name == "" && r.Method == http.MethodGet:
		writeJSON(w, http.StatusOK, encode(e.toolList("parameters")))
	case r.Method == http.MethodPost && slices.ContainsFunc(e.trial.Tools, func(t methods.ToolSpec) bool { return t.Name == name }):
		arguments, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err == nil && !json.Valid(arguments) {
			err = errors.New("the arguments are not JSON")
		}
		if err != nil {
			e.refuse(w, wires.Chat, wires.Refused{Status: http.StatusBadRequest, Code: "bad_arguments", Message: "call tool: " + err.Error()})
			return
		}
		result, err := e.callTool(r, name, arguments)
		if err != nil {
			e.fail(w, wires.Chat, err)
			return
		}
		writeJSON(w, http.StatusOK, encode(map[string]any{"content": result.Content, "is_error": result.IsError}))
	default:
		e.refuse(w, wires.Chat, wires.Refused{Status: http.StatusNotFound, Code: "not_found", Message: fmt.Sprintf("the problem has no tool %q", name)})
	}
}

// toolList is what a program reads of the tools; schema is the name of their arguments' schema.
func (e *endpoint) toolList(schema string) []map[string]any {
	all := []map[string]any{}
	for _, t := range e.trial.Tools {
		parameters := t.Parameters
		if len(parameters) == 0 {
			parameters = json.RawMessage(`{"type":"object"}`)
		}
		all = append(all, map[string]any{"name": t.Name, "description": t.Description, schema: parameters})
	}
	return all
}

// callTool calls a tool on the kernel's side. Equal calls of a tool with effects are told
// apart as those of a model are.
func (e *endpoint) callTool(r *http.Request, name string, arguments json.RawMessage) (methods.ToolResult, error) {
	arguments = e.folders.taken(arguments)
	digest := digestOf("tool "+name, arguments)
	call, first := e.order.join(siteOf(r.Header), "tool/"+name, digest, 1)
	if first {
		path := call.path
		if call.draw > 0 {
			path = fmt.Sprintf("%s/%d", path, call.draw+1)
		}
		e.begin()
		e.called(func() error {
			result, err := e.host.CallTool(e.ctx, methods.ToolCall{Name: name, Arguments: arguments, Path: path})
			call.finish(encode(result), err)
			return err
		}, path)
	}
	reply, err := e.order.await(r.Context(), call)
	if errors.Is(err, methods.ErrBudget) {
		<-e.ctx.Done()
	}
	var result methods.ToolResult
	if err == nil {
		err = json.Unmarshal(e.folders.given(reply), &result)
	}
	return result, err
}

// encode is v as JSON.
func encode(v any) []byte {
	return methods.Must(methods.EncodeJSON(v)) // made of texts and valid JSON
}
