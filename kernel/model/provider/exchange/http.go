package exchange

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"noema/kernel/model/provider"
)

const (
	replyLimit   = 32 << 20 // the largest reply that is read, in bytes
	textLimit    = 4 << 20  // the longest text of a completion, in bytes: thirty times what models write
	refusalLimit = 64 << 10 // how much of an error's body is read, in bytes
)

// errTooLarge ends the reading of a reply.
var errTooLarge = fmt.Errorf("reply is larger than %d MiB", replyLimit>>20)

// errTooLong refuses a completion that would be kept and handed on.
var errTooLong = fmt.Errorf("the text of the reply is larger than %d MiB", textLimit>>20)

// client is a copy of h that follows no redirect: that would carry the key to
// wherever the server says. The default is one for many calls at once to one
// host; the standard transport keeps two idle connections to a host, so that a
// thousand calls in flight would open a new one for nearly every call.
func client(h *http.Client) *http.Client {
	if h == nil {
		dialer := &net.Dialer{Timeout: 15 * time.Second, KeepAlive: 30 * time.Second}
		h = &http.Client{Transport: &http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			DialContext:         dialer.DialContext,
			ForceAttemptHTTP2:   true,
			MaxIdleConns:        2048,
			MaxIdleConnsPerHost: 2048,
			IdleConnTimeout:     90 * time.Second,
			TLSHandshakeTimeout: 15 * time.Second,
		}}
	}
	own := *h
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &own
}

// request writes a request to the server; one without a body asks for what is at the path.
func (c *Client) request(ctx context.Context, path string, body any) (*http.Request, error) {
	method, raw := http.MethodGet, []byte(nil)
	if body != nil {
		var err error
		if ready, ok := body.(json.RawMessage); ok { // which stays as it is
			raw = ready
		} else if raw, err = json.Marshal(body); err != nil {
			return nil, &provider.Error{Kind: provider.Rejected, Err: fmt.Errorf("encode request: %w", err)}
		}
		method = http.MethodPost
	}
	url := c.base.URL + path
	if len(c.base.Query) > 0 {
		separator := "?"
		if strings.Contains(path, "?") {
			separator = "&"
		}
		url += separator + c.base.Query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "noema")
	for name, value := range c.protocol.Header {
		req.Header.Set(name, value)
	}
	switch key := c.config.APIKey; {
	case key == "":
	case c.protocol.KeyHeader != "":
		req.Header.Set(c.protocol.KeyHeader, key)
	default:
		req.Header.Set("Authorization", "Bearer "+key)
	}
	return req, nil
}

// post sends one request and reads the whole reply. One that was cut off but is
// whole all the same, such as one whose server does not close the stream, was
// paid for and counts. The error is a [*Refusal] for a reply of another status
// than 2xx, and otherwise what [Client.failure] understands.
func (c *Client) post(ctx context.Context, path string, body any, room *share, whole func([]byte) bool) ([]byte, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	req, err := c.request(ctx, path, body)
	if err != nil {
		return nil, err
	}
	first := onSilence(c.config.FirstTimeout, func() { cancel(stalled("no byte of a reply", c.config.FirstTimeout)) })
	defer first.Stop()
	total := onSilence(c.config.TotalTimeout, func() {
		cancel(&provider.Error{Kind: provider.Network, Err: fmt.Errorf("no end of the reply within %v", c.config.TotalTimeout)})
	})
	defer total.Stop()
	res, err := c.http.Do(req)
	if err != nil {
		return nil, cause(ctx, err)
	}
	defer res.Body.Close()
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return nil, readRefusal(res)
	}
	if res.ContentLength > replyLimit {
		return nil, errTooLarge
	}
	raw, err := c.readBody(ctx, cancel, res, first, room)
	if err != nil && !errors.Is(err, errTooLarge) && whole(raw) {
		return raw, nil
	}
	return raw, err
}

// readBody reads a reply within the limits. What was read comes with an error.
func (c *Client) readBody(ctx context.Context, cancel context.CancelCauseFunc, res *http.Response, first *silence, room *share) ([]byte, error) {
	var idle *silence // once the answer has begun
	defer func() {
		if idle != nil {
			idle.Stop()
		}
	}()
	var body bytes.Buffer
	waits := func() { // the server is not to blame for the time
		first.Stop()
		if idle != nil {
			idle.Stop()
		}
	}
	if res.ContentLength > 0 {
		if err := room.grow(ctx, int(res.ContentLength), waits); err != nil {
			return nil, cause(ctx, err)
		}
		body.Grow(int(res.ContentLength) + bytes.MinRead)
	}
	var drip drip
	chunk := make([]byte, 16<<10)
	mark := []byte(c.protocol.Answering)
	for answering := len(mark) == 0; ; {
		n, err := res.Body.Read(chunk)
		if body.Len()+n > replyLimit {
			return body.Bytes(), errTooLarge
		}
		if err := room.grow(ctx, body.Len()+n, waits); err != nil {
			return body.Bytes(), cause(ctx, err)
		}
		seen := max(0, body.Len()-len(mark)) // the mark may lie across two reads
		body.Write(chunk[:n])
		if err == io.EOF {
			return body.Bytes(), nil
		}
		if err != nil {
			return body.Bytes(), cause(ctx, err)
		}
		answering = answering || bytes.Contains(body.Bytes()[seen:], mark)
		switch content := drip.content(chunk[:n]); {
		case !content: // it keeps the connection, and says nothing
		case idle != nil:
			idle.Reset(c.config.IdleTimeout)
		case answering && body.Len() > 0:
			first.Stop()
			idle = onSilence(c.config.IdleTimeout, func() {
				cancel(stalled("the reply stops in its middle: no byte", c.config.IdleTimeout))
			})
		default:
			first.Reset(c.config.FirstTimeout)
		}
	}
}

func stalled(what string, after time.Duration) error {
	return &provider.Error{Kind: provider.Network, Err: fmt.Errorf("%s for %v", what, after)}
}

// cause is why a request failed: our own limit where it was that.
func cause(ctx context.Context, err error) error {
	if own, ok := errors.AsType[*provider.Error](context.Cause(ctx)); ok {
		return own
	}
	return err
}
