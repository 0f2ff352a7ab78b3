package booking

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"sync"

	"noema/kernel/task"
	"noema/kernel/task/internal/tools"
	"noema/methods"
)

// environment makes the environments of trials. By itself it lists the tools.
type environment struct {
	*tools.Set[*step]
	world    *world
	fail     float64            // probability that a call is refused
	accounts map[string]Account // by sample
}

var (
	_ task.PerTrial = (*environment)(nil)
	_ task.Stateful = (*session)(nil)
)

func newEnvironment(w *world, o Options) *environment {
	return &environment{Set: tools.NewSet(toolList()...), world: w, fail: o.Fail, accounts: map[string]Account{}}
}

// Tools implements [task.Environment].
func (e *environment) Tools() []methods.ToolSpec { return e.Specs() }

// Call implements [task.Environment]. There is no state before there is a trial.
func (e *environment) Call(context.Context, methods.ToolCall) (methods.ToolResult, error) {
	return methods.ToolResult{}, fmt.Errorf("call a tool of %s: its tools serve one trial each", Name)
}

// Of implements [task.PerTrial].
func (e *environment) Of(p methods.Problem) (task.Environment, error) {
	account, ok := e.accounts[p.ID]
	if !ok {
		return nil, fmt.Errorf("the tools of %s work on a request of its samples, and %q is not one", Name, p.ID)
	}
	return &session{environment: e, seed: p.Seed, state: newState(e.world, account)}, nil
}

// session is the environment of one trial.
type session struct {
	*environment
	seed  uint64
	mu    sync.Mutex
	state *state
}

// step is one call: the state that it meets, and the id of what it makes.
type step struct {
	*state
	id string
}

// Call implements [task.Environment]. What a call makes has an id drawn from the
// call itself, so that it is the same in every execution of the trial.
func (s *session) Call(ctx context.Context, c methods.ToolCall) (methods.ToolResult, error) {
	if err := ctx.Err(); err != nil {
		return methods.ToolResult{}, err
	}
	luck := s.luck(c)
	if chance(luck[:8]) < s.fail {
		return methods.ToolResult{Content: c.Name + ": unavailable: nothing was done, try again", IsError: true}, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Set.Call(&step{s.state, "R-" + hex.EncodeToString(luck[8:16])}, c)
}

// luck is random bytes that belong to a call. Arguments that differ in layout or
// order alone are the same.
func (s *session) luck(c methods.ToolCall) [32]byte {
	h := sha256.New()
	var seed [8]byte
	binary.LittleEndian.PutUint64(seed[:], s.seed)
	h.Write(seed[:])
	var args any
	if methods.DecodeJSON(c.Arguments, &args) != nil {
		args = string(c.Arguments)
	}
	raw := methods.Must(json.Marshal([]any{c.Path, c.Name, args})) // it came from JSON, or is a text
	h.Write(raw)
	return [32]byte(h.Sum(nil))
}

// chance makes eight random bytes a number from 0 to 1, exclusive.
func chance(b []byte) float64 { return float64(binary.LittleEndian.Uint64(b)>>11) / (1 << 53) }

// Restore implements [task.Stateful]: what a result says was done is done, if it
// is not yet.
func (s *session) Restore(_ methods.ToolCall, r methods.ToolResult) error {
	if r.IsError {
		return nil // nothing was done
	}
	var done result
	if err := json.Unmarshal([]byte(r.Content), &done); err != nil {
		return fmt.Errorf("read result: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.restore(done)
	return nil
}
