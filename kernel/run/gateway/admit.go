package gateway

import (
	"context"
	"errors"
	"fmt"
	"noema/kernel/model/provider"
	"noema/kernel/result/record"
	"noema/methods"
)

// refusal is 1 for a call that a limit refused, and else 0.
func refusal(c record.Call) int {
	if c.Fault == record.BudgetFault {
		return 1
	}
	return 0
}

// recall takes the recorded course of a call, if there is one; h.mu is held.
func (h *Host) recall(call *record.Call) (record.Call, bool) {
	id := CallID{call.Path, call.Key, call.Draw}
	calls := h.settled[id]
	if len(calls) == 0 {
		return record.Call{}, false
	}
	h.settled[id] = calls[1:]
	return calls[0], true
}

// repeat is the error of a call that failed for good, in a replay; nil if it did
// not fail.
func (h *Host) repeat(recorded record.Call) error {
	if h.gateway.opts.Mode != Replay {
		return nil
	}
	switch recorded.Fault {
	case record.ProviderFault, record.LengthFault:
		return &recordedError{recorded.Error, methods.ErrProvider}
	case record.ToolFault, record.BuildFault:
		return &recordedError{recorded.Error, nil}
	}
	return nil
}

// recordedError is a recorded failure: its text, which a method may have repeated
// in its answer, and its class.
type recordedError struct {
	text  string
	class error // may be nil
}

func (e *recordedError) Error() string { return e.text }

func (e *recordedError) Unwrap() error { return e.class }

// admit lets a call through or refuses it for a limit.
func (h *Host) admit(ctx context.Context, call *record.Call) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	if err := h.gateway.Fatal(); err != nil {
		return wrapCall(call.Path, err)
	}
	if scopeOf(ctx) != nil {
		return nil
	}
	err := h.let(call)
	if errors.Is(err, methods.ErrBudget) {
		h.await(ctx)
	}
	return err
}

// let lets a call through, or notes its refusal.
func (h *Host) let(call *record.Call) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.calls) >= maxCalls {
		h.refused = true
		return wrapCall(call.Path, fmt.Errorf("%w: a trial may make %d calls", methods.ErrBudget, maxCalls))
	}
	if fault, err := h.refuse(call); err != nil {
		call.Fault, call.Error = fault, err.Error()
		if h.tells(fault) {
			h.calls = append(h.calls, *call)
		}
		return wrapCall(call.Path, err)
	}
	if call.Kind == record.ToolCall {
		h.admitted.ToolCalls++
	} else {
		h.admitted.Calls++
	}
	return nil
}

// refuse says why a call is not made; h.mu is held.
func (h *Host) refuse(call *record.Call) (record.Fault, error) {
	recorded, settled := h.recall(call)
	if h.ahead > 0 && settled {
		if h.ahead--; h.ahead == 0 {
			close(h.met)
		}
	}
	switch {
	case !settled && h.program && h.limit != "": // in the record the trial had ended when it came
		return endedFault, &recordedError{h.limit, methods.ErrBudget}
	case settled && recorded.Fault == record.BudgetFault:
		return recorded.Fault, &recordedError{recorded.Error, methods.ErrBudget}
	case settled:
		return recorded.Fault, h.repeat(recorded)
	}
	u := h.spent
	u.Calls, u.ToolCalls = h.admitted.Calls, h.admitted.ToolCalls
	if limit := h.trial.Limits.Exceeded(u); limit != "" {
		return record.BudgetFault, fmt.Errorf("%w: the trial's limit of %s is reached", methods.ErrBudget, limit)
	}
	return "", nil
}

// note writes a call into the transcript and charges it to the trial and the
// run. Calls that build a method seed belong to the seed, not to the trial; the
// run pays for them one by one, also when the build fails.
func (h *Host) note(ctx context.Context, call record.Call, asked bool, err error) {
	if err != nil {
		failed(ctx, &call, err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.withdrawn {
		return
	}
	h.gateway.charge(call.Usage)
	if asked { // what the store answers costs nothing now
		h.gateway.countable(h.trial.Limits, call.Usage)
	}
	if s := scopeOf(ctx); s != nil {
		s.add(call.Usage)
		return
	}
	if call.Fault != record.CancelFault {
		call.Took, call.New = h.ended(call.Timing), asked
		h.calls = append(h.calls, call)
	}
	h.spent = h.spent.Plus(call.Usage)
	if asked {
		h.provider++
	}
}

// failed notes that a call failed.
func failed(ctx context.Context, call *record.Call, err error) {
	if call.Fault, call.Error = faultOf(ctx, call.Kind, err), err.Error(); call.Fault == record.MissFault {
		call.Missing, call.Error = call.Error, methods.ErrMiss.Error()
	}
}

func faultOf(ctx context.Context, kind record.CallKind, err error) record.Fault {
	switch {
	case errors.Is(err, methods.ErrMiss):
		return record.MissFault
	case ctx.Err() != nil: // err is then its cause, whatever that is
		return record.CancelFault
	case kind == record.ToolCall:
		return record.ToolFault
	case kind == record.SeedCall && !errors.Is(err, methods.ErrProvider):
		return record.BuildFault
	case tooLong(err):
		return record.LengthFault
	}
	return record.ProviderFault
}

// tooLong reports whether the prompt did not fit the model, which is the method's
// fault and not the provider's.
func tooLong(err error) bool {
	var pe *provider.Error
	return errors.As(err, &pe) && pe.Kind == provider.ContextLength
}

// errMissed is what a method hears of an answer that is missing.
var errMissed = fmt.Errorf("%w: run it once without --replay", methods.ErrMiss)

// wrapCall is a call's error as the method hears it. A method may repeat it in its
// transcript and its answer, which are hashed: of an answer that is missing it hears the fact
// alone, since the reason depends on what the store holds.
func wrapCall(path string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, methods.ErrMiss):
		err = errMissed
	}
	return fmt.Errorf("call %s: %w", path, err)
}
