// Package reply turns what a model wrote into what a method can use: JSON,
// numbers, rankings, Python literals. Every method climbs the same ladder, so
// that none is favoured by a more patient reader: the reply as it is, then a
// fenced block in it, then the first balanced object or array in it; then the
// model is asked again with the fault, at most Options.Retries times. Each rung
// that was needed is an event. Final answers have more rungs, see [ReadAnswer].
package reply

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"noema/methods"
)

// DefaultRetries is how often a model is asked again by default.
const DefaultRetries = 2

// ErrInvalid says that the model's last allowed reply could still not be
// used.
var ErrInvalid = errors.New("no usable reply")

// ErrRefused says that the model refused, or that the provider's filter held the reply back.
// Asking again would pay for the same.
var ErrRefused = errors.New("the model refused to answer")

// InvalidError is an [ErrInvalid] with its circumstances.
type InvalidError struct {
	Path     string // call path of the last attempt
	Attempts int    // how often the model was asked
	Fault    error  // what is wrong with the last reply
}

// Error implements error.
func (e *InvalidError) Error() string {
	tries := "1 attempt"
	if e.Attempts != 1 {
		tries = fmt.Sprintf("%d attempts", e.Attempts)
	}
	return fmt.Sprintf("ask %s: %v after %s: %v", e.Path, ErrInvalid, tries, e.Fault)
}

// Unwrap returns ErrInvalid and the fault.
func (e *InvalidError) Unwrap() []error { return []error{ErrInvalid, e.Fault} }

// Options tells how patient a conversation is.
type Options struct {
	Retries int // how often the model is asked again; 0 means never
}

// JSON asks for a JSON value. The value found on the ladder must be valid
// under req.Schema, if that is set, and pass check, if that is not nil. It
// returns the value and the completion that held it.
//
// A re-ask continues the conversation with the reply and the fault, under the
// path of req with "/r1", "/r2" and so on. If none is left the error is an
// [*InvalidError] and the completion is the last one. Errors of the host are
// returned wrapped.
func JSON(ctx context.Context, h methods.Host, req methods.Request, check func(json.RawMessage) error, o Options) (json.RawMessage, methods.Completion, error) {
	valid, err := validator(req.Schema, check)
	if err != nil {
		return nil, methods.Completion{}, fmt.Errorf("ask %s: %w", req.Path, err)
	}
	var value json.RawMessage
	c, err := converse(ctx, h, req, o, func(c methods.Completion, path string) error {
		v, rung, err := Extract(c.Text, valid)
		if err != nil {
			return err
		}
		if rung != Strict {
			h.Emit(event(path, methods.Repair, "read the reply from "+string(rung)))
		}
		value = v
		return nil
	})
	return value, c, err
}

// Text asks for a text that parse accepts, and asks again as [JSON] does
// while parse returns an error. It returns the accepted text.
func Text(ctx context.Context, h methods.Host, req methods.Request, parse func(string) error, o Options) (string, methods.Completion, error) {
	c, err := converse(ctx, h, req, o, func(c methods.Completion, _ string) error { return parse(c.Text) })
	return c.Text, c, err
}

// converse asks until read accepts the reply or no attempt is left.
func converse(ctx context.Context, h methods.Host, req methods.Request, o Options, read func(c methods.Completion, path string) error) (methods.Completion, error) {
	base, form := req.Path, closing(req.Messages)
	req.Messages = append([]methods.Message(nil), req.Messages...)
	for attempt := 1; ; attempt++ {
		c, err := h.Complete(ctx, req)
		if err != nil {
			return c, fmt.Errorf("ask %s: %w", req.Path, err)
		}
		if c.Finish == methods.FinishFilter {
			return c, &InvalidError{Path: req.Path, Attempts: attempt, Fault: refusal(c)}
		}
		fault := InWords(read(c, req.Path))
		switch {
		case fault == nil:
			return c, nil
		case c.Finish == methods.FinishLength && c.Text == "":
			fault = errCutThought
		case c.Finish == methods.FinishLength:
			fault = fmt.Errorf("%w (it was cut off at the token limit: be shorter)", fault)
		}
		if attempt > o.Retries {
			return c, &InvalidError{Path: req.Path, Attempts: attempt, Fault: fault}
		}
		req.Messages = append(req.Messages, echo(h, req.Path, c.Text), complaint(fault, form))
		req.Path = base + "/r" + strconv.Itoa(attempt)
		h.Emit(event(req.Path, methods.Retry, "ask again: "+OneLine(fault.Error(), 200)))
	}
}

// refusal is the cause of a refusal, in the model's words or the provider's.
func refusal(c methods.Completion) error {
	if cause := OneLine(c.Text, 300); cause != "" {
		return fmt.Errorf("%w: %s", ErrRefused, cause)
	}
	return fmt.Errorf("%w: the provider's filter held the reply back", ErrRefused)
}

// Limits on what a re-ask repeats, in bytes. A model caught in a loop can
// fill its whole output with noise that nobody wants to pay for again.
const (
	maxEcho  = 8000
	maxFault = 2000
)

// echo is the assistant's turn in a re-ask. Providers refuse empty turns.
func echo(h methods.Host, path, text string) methods.Message {
	cut, n := Shorten(strings.ToValidUTF8(text, "\ufffd"), maxEcho)
	if n > 0 {
		h.Emit(event(path, methods.Truncated, fmt.Sprintf("repeat the first and the last %d bytes of the reply when asking again", maxEcho/2)))
	}
	if strings.TrimSpace(cut) == "" {
		cut = "(empty reply)"
	}
	return methods.Message{Role: methods.Assistant, Content: cut}
}

// complaint says what is wrong with a reply, and repeats the form that was asked for.
func complaint(fault error, form string) methods.Message {
	text, _ := Shorten(fault.Error(), maxFault)
	return methods.Message{Role: methods.User, Content: "That reply cannot be used: " + text + "\n" + form}
}

// maxForm bounds the form that a re-ask repeats, in bytes.
const maxForm = 500

// closing is how the last of the messages asks for the form of the reply: its last
// line if that begins with "Reply", or the last two where the one before the last
// ends in a colon. Small models that are told "in the form that was asked for" do
// not look it up.
func closing(messages []methods.Message) string {
	lines := []string{""}
	if n := len(messages); n > 0 {
		lines = append(lines, strings.Split(strings.TrimRight(messages[n-1].Content, "\n"), "\n")...)
	}
	last, before := lines[len(lines)-1], lines[max(0, len(lines)-2)]
	switch {
	case len(last)+len(before) > maxForm:
	case strings.HasPrefix(last, "Reply"):
		return last
	case strings.HasSuffix(before, ":"):
		return before + "\n" + last
	}
	return "Reply again, in exactly the form that was asked for."
}

func event(path string, kind methods.EventKind, text string) methods.Event {
	phase, _, _ := strings.Cut(path, "/")
	return methods.Event{Path: path, Phase: phase, Kind: kind, Text: text, Level: 1}
}
