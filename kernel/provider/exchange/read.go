package exchange

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"time"

	"noema/kernel/provider"
)

// refusalLimit is how much of an error's body is read, in bytes.
const refusalLimit = 64 << 10

// errTooLarge ends the reading of a reply.
var errTooLarge = fmt.Errorf("reply is larger than %d MiB", ReplyLimit>>20)

var masked = regexp.MustCompile(maskedForms)

// read sends one request and reads the whole reply.
func (x *Exchange) read(req *http.Request) ([]byte, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	defer cancel(nil)
	watch := time.AfterFunc(x.config.First, func() { cancel(stalled("no byte of a reply", x.config.First)) })
	defer watch.Stop()
	res, err := x.next.RoundTrip(req.WithContext(ctx))
	if err != nil {
		return nil, cause(ctx, err)
	}
	defer res.Body.Close()
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return nil, refusal(res)
	}
	if res.ContentLength > ReplyLimit {
		return nil, errTooLarge
	}
	body, err := x.readBody(ctx, cancel, res, watch)
	if err != nil && !errors.Is(err, errTooLarge) && x.config.Complete != nil && x.config.Complete(body) {
		return body, nil
	}
	return body, err
}

// readBody reads a reply within the limits. What was read comes with an error.
func (x *Exchange) readBody(ctx context.Context, cancel context.CancelCauseFunc, res *http.Response, first *time.Timer) ([]byte, error) {
	var idle *time.Timer
	defer func() {
		if idle != nil {
			idle.Stop()
		}
	}()
	var body bytes.Buffer
	if res.ContentLength > 0 {
		body.Grow(int(res.ContentLength) + bytes.MinRead)
	}
	chunk := make([]byte, 16<<10)
	answering := x.config.Answering == ""
	for {
		n, err := res.Body.Read(chunk)
		if body.Len()+n > ReplyLimit {
			return body.Bytes(), errTooLarge
		}
		// The marker may lie across two reads.
		seen := max(0, body.Len()-len(x.config.Answering))
		body.Write(chunk[:n])
		if err != nil {
			if err == io.EOF {
				return body.Bytes(), nil
			}
			return body.Bytes(), cause(ctx, err)
		}
		answering = answering || bytes.Contains(body.Bytes()[seen:], []byte(x.config.Answering))
		switch {
		case idle != nil:
			idle.Reset(x.config.Idle)
		case answering && body.Len() > 0:
			first.Stop()
			idle = time.AfterFunc(x.config.Idle, func() { cancel(stalled("the reply stops in its middle: no byte", x.config.Idle)) })
		default:
			first.Reset(x.config.First)
		}
	}
}

func stalled(what string, after time.Duration) error {
	return &provider.Error{Kind: provider.Network, Err: fmt.Errorf("%s for %v", what, after)}
}

// cause is why a request failed: our own limit where it was that.
func cause(ctx context.Context, err error) error {
	var own *provider.Error
	if errors.As(context.Cause(ctx), &own) {
		return own
	}
	return err
}
