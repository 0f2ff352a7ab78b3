package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"noema/cache"
	"noema/kernel/result/record"
	"noema/kernel/task"
	"noema/methods"
	"noema/methods/reply"
	"noema/plugins/program/wires"
)

// Trial is what a Host must know of the trial that it serves.
type Trial struct {
	ID       record.TrialID
	Method   string // identity of the method, for its seeds
	Sampling record.Sampling
	Limits   record.Limits

	Environment   task.Environment // nil if the problem has no tools
	EnvironmentID string           // identity of the environment, for the keys of tool results

	// Effects is set if the trial is scored by what impure tools have done: their
	// results are kept for [Report.Effects], and method seeds, which trials share,
	// must not be built with such tools.
	Effects bool

	// Recorded is an earlier execution of the same trial, if there is one.
	// Exactly the calls that its limits refused are refused again: of several
	// calls in flight, chance decides which one meets the limit first, and that
	// is part of the record. In a replay, calls that failed for good fail again,
	// too.
	Recorded *record.Trial

	// Instead is asked about every model call how it is answered otherwise than by
	// the trial's model; nil changes none.
	Instead func(context.Context, Asked) (Substitute, error)
	// SeedsOf is the label of the method whose seeds the trial uses; empty is the
	// trial's own. Variant sets the seeds that the trial builds apart from that
	// method's, because Instead changes the calls that build them.
	SeedsOf, Variant string

	Clock   *Clock              // stands during model calls; may be nil
	OnEvent func(methods.Event) // told each event as it comes; may be nil
	// OnCall is told each model call as it ends, with what was asked and
	// answered; may be nil.
	OnCall func(methods.Request, methods.Completion, error)
}

// Asked is a model call before it is answered.
type Asked struct {
	CallID         // with the key under which the trial's model would answer
	Seed    string // call path of the method seed that the call helps to build; empty for one of the trial itself
	Request methods.Request
}

// Substitute is another answer to a call than its own. The zero value changes
// nothing.
type Substitute struct {
	Draws int                 // the draw to ask for, beyond the method's own
	Reply *methods.Completion // the answer, if nobody is to be asked
	// By names who gives Reply, and is part of its key. Without it the call keeps
	// its key, and the reply is not stored.
	By methods.ModelID
}

// CallID names a call within its trial.
type CallID struct {
	Path, Key string // where it is made, and the key of its record in hex
	Draw      int
}

// Host is the methods.Host of one trial.
type Host struct {
	gateway *Gateway
	trial   Trial

	mu       sync.Mutex
	calls    []record.Call
	effects  []methods.ToolResult
	effected int // bytes of all effects
	events   []methods.Event
	emitted  int           // bytes of all events, roughly
	refused  bool          // there were more than maxCalls
	admitted methods.Usage // counts only: calls let through, also those under way
	spent    methods.Usage
	provider int
	begun    time.Time
	order    int // of the calls so far; see record.Timing
	// withdrawn is set when another host runs the trial again.
	withdrawn bool
	settled   map[CallID][]record.Call // from Trial.Recorded: how calls went, next first
	program   bool                     // the trial is a program's: its first refused call ends it
	over      bool                     // a call of it was refused
	limit     string                   // why a call of the recorded trial was refused; empty if none was
	ahead     int                      // of the recorded calls of such a trial: those not made yet
	met       chan struct{}            // closed when there are none
}

var _ methods.Host = (*Host)(nil)

// Host returns the host for one trial.
func (g *Gateway) Host(t Trial) *Host {
	h := &Host{gateway: g, trial: t, begun: time.Now(), met: make(chan struct{})}
	if t.Recorded != nil {
		if i := slices.IndexFunc(t.Recorded.Calls, func(c record.Call) bool { return refusal(c) > 0 }); i >= 0 && t.Instead == nil {
			h.limit, h.ahead = t.Recorded.Calls[i].Error, len(t.Recorded.Calls)
		}
		h.settled = map[CallID][]record.Call{}
		for _, c := range t.Recorded.Calls {
			id := CallID{c.Path, c.Key, c.Draw}
			h.settled[id] = append(h.settled[id], c)
		}
		// A limit that refused a call refuses the same call from then on.
		for _, calls := range h.settled {
			slices.SortStableFunc(calls, func(a, b record.Call) int { return refusal(a) - refusal(b) })
		}
	}
	return h
}

// valid is s as valid UTF-8, the only text that crosses processes, so that a
// method meets the same text wherever it runs. ToValidUTF8 takes ten times as long
// to find that a text already is.
func valid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// Complete implements methods.Model.
func (h *Host) Complete(ctx context.Context, r methods.Request) (methods.Completion, error) {
	defer h.trial.Clock.stand()()
	short := r.Raw == nil && r.Sampling.MaxTokens > 0 // by the method's own will
	if r.Raw != nil {
		h.isProgram()
		var err error
		if r, err = wires.Reading(r); err != nil {
			return methods.Completion{}, wrapCall(valid(r.Path), err)
		}
	}
	r = h.gateway.cleanRequest(h.prepare(ctx, r))
	epoch := h.trial.ID.Epoch
	if scopeOf(ctx) != nil {
		epoch = 0
	}
	key := cache.CompletionKey(h.gateway.id, epoch, r)
	other, err := h.substitute(ctx, key, r)
	if err != nil {
		return methods.Completion{}, wrapCall(r.Path, err)
	}
	if r.Draw += other.Draws; other.Draws > 0 {
		key = cache.CompletionKey(h.gateway.id, epoch, r)
	}
	if other.By != (methods.ModelID{}) {
		key = cache.CompletionKey(other.By, epoch, r)
	}
	call := record.Call{Path: r.Path, Kind: record.CompletionCall, Key: key.String(), Draw: r.Draw, Timing: h.starts(ctx)}

	if err := h.admit(ctx, &call); err != nil {
		return methods.Completion{}, err
	}
	var rec cache.CompletionRecord
	asked := false
	if other.Reply != nil {
		rec, err = h.gateway.given(ctx, key, epoch, r, other)
	} else {
		rec, asked, err = h.gateway.completion(ctx, key, epoch, r)
	}
	if errors.Is(err, methods.ErrMiss) && !errors.Is(err, cache.ErrCorrupt) && h.gateway.opts.Mode == Replay {
		err = h.explainMiss(ctx, r, err)
	}
	if err == nil {
		call.Digest, call.Usage = record.ResponseDigest(rec.Completion), rec.Completion.Usage
	}
	call.Miscount, call.Attempts = rec.Miscount()
	call.Unordered = r.Unordered
	h.note(ctx, call, asked, err)
	if h.trial.OnCall != nil {
		h.trial.OnCall(r, rec.Completion, err)
	}
	if err == nil && rec.Completion.Finish == methods.FinishLength && !short && !h.gateway.opts.Verbatim && scopeOf(ctx) == nil {
		h.Emit(methods.Event{Path: r.Path, Phase: phaseOf(r.Path), Kind: methods.ReplyCut, Level: 1, Text: "the reply was cut at the token limit"})
	}
	return h.gateway.said(r, rec.Completion), wrapCall(r.Path, err)
}

// phaseOf is the phase of a call path: its first part.
func phaseOf(path string) string {
	phase, _, _ := strings.Cut(path, "/")
	return phase
}

// said is what the caller gets of a reply: a method what the model said, without what it
// thought, and a program all. The store keeps the reply as it came.
func (g *Gateway) said(r methods.Request, c methods.Completion) methods.Completion {
	if r.Raw != nil || g.opts.Verbatim {
		return c
	}
	return reply.Said(c, g.marks...)
}

// starts is the timing of a call that begins now. A call that builds a method seed belongs
// to the seed and has none.
func (h *Host) starts(ctx context.Context) record.Timing {
	if scopeOf(ctx) != nil {
		return record.Timing{}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.order++
	return record.Timing{Order: h.order, Start: time.Since(h.begun)}
}

// ended is how long a call took that began as told.
func (h *Host) ended(at record.Timing) time.Duration { return time.Since(h.begun) - at.Start }

// substitute asks how a call is answered otherwise.
func (h *Host) substitute(ctx context.Context, key cache.Key, r methods.Request) (Substitute, error) {
	if h.trial.Instead == nil {
		return Substitute{}, nil
	}
	a := Asked{CallID: CallID{r.Path, key.String(), r.Draw}, Request: r}
	if s := scopeOf(ctx); s != nil {
		a.Seed = s.path
	}
	return h.trial.Instead(ctx, a)
}

// prepare makes a request fit for its key: valid text, the experiment's
// sampling, and, while a method seed is built, a random seed that does not
// depend on the trial.
func (h *Host) prepare(ctx context.Context, r methods.Request) methods.Request {
	messages := make([]methods.Message, len(r.Messages))
	for i, m := range r.Messages {
		m.Content = valid(m.Content)
		messages[i] = m
	}
	r.Messages, r.Path = messages, valid(r.Path)
	r.Sampling, r.Raw = h.trial.Sampling.Apply(r.Sampling), h.trial.Sampling.ApplyRaw(r.Raw)
	if s := scopeOf(ctx); s != nil {
		r.Sampling.Seed = s.seed
	}
	return r
}

// CallTool implements methods.Toolbox. Pure tools share their results over
// epochs, others do not.
func (h *Host) CallTool(ctx context.Context, c methods.ToolCall) (methods.ToolResult, error) {
	c.Path, c.Name, c.Arguments = valid(c.Path), valid(c.Name), h.gateway.opts.Redactor.Bytes(c.Arguments)
	spec, err := h.tool(c.Name)
	if err != nil {
		return methods.ToolResult{}, wrapCall(c.Path, err)
	}
	effect := h.trial.Effects && !spec.Pure
	if effect {
		if err := h.mayAct(ctx, c.Name); err != nil {
			return methods.ToolResult{}, wrapCall(c.Path, err)
		}
	}
	key := h.toolKey(ctx, spec, c)
	call := record.Call{Path: c.Path, Kind: record.ToolCall, Key: key.String(), Timing: h.starts(ctx)}
	if err := h.admit(ctx, &call); err != nil {
		return methods.ToolResult{}, err
	}
	if effect { // what it did must be known, also if the method no longer wants it
		ctx = context.WithoutCancel(ctx)
	}
	rec, err := h.gateway.toolResult(ctx, key, h.trial.Environment, c)
	if err == nil {
		call.Digest = record.ToolDigest(rec.Result)
		call.Usage = methods.Usage{ToolCalls: 1, Latency: rec.Latency}
	}
	h.note(ctx, call, false, err)
	if effect && err == nil && !rec.Result.IsError {
		h.mu.Lock()
		h.effects = append(h.effects, rec.Result)
		h.effected += len(rec.Result.Content)
		h.mu.Unlock()
	}
	return rec.Result, wrapCall(c.Path, err)
}

// mayAct refuses the calls of impure tools whose effects the score could not count.
func (h *Host) mayAct(ctx context.Context, tool string) error {
	if scopeOf(ctx) != nil {
		return fmt.Errorf("tool %q may change the state of a trial: call it outside of the build of a method seed", tool)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.effected > maxEffectBytes {
		return fmt.Errorf("%w: the results of the trial's tools with effects exceed %d MiB", methods.ErrBudget, maxEffectBytes>>20)
	}
	return nil
}

// toolKey is the key of a tool's result. A pure tool gives every caller the same.
// Any other may have effects, so its key covers the trial, or the method seed
// that is being built, and the path.
func (h *Host) toolKey(ctx context.Context, spec methods.ToolSpec, c methods.ToolCall) cache.Key {
	if spec.Pure {
		return cache.ToolKey(h.trial.EnvironmentID, "1", 0, c)
	}
	place, epoch := []string{h.trial.EnvironmentID, h.trial.ID.Method, h.trial.ID.Sample, c.Path}, h.trial.ID.Epoch
	if s := scopeOf(ctx); s != nil {
		place, epoch = []string{h.trial.EnvironmentID, "seed", strconv.FormatUint(s.seed, 16), c.Path}, 0
	}
	return cache.ToolKey(string(methods.Must(json.Marshal(place))), "1", epoch, c) // strings always encode
}

func (h *Host) tool(name string) (methods.ToolSpec, error) {
	var known []string
	if h.trial.Environment != nil {
		for _, spec := range h.trial.Environment.Tools() {
			if spec.Name == name {
				return spec, nil
			}
			known = append(known, spec.Name)
		}
	}
	return methods.ToolSpec{}, fmt.Errorf("%w %q: this problem has the tools [%s]", methods.ErrUnknownTool, name, strings.Join(known, " "))
}
