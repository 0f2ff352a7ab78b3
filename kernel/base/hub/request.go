package hub

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"noema/kernel/base/files"
)

// getJSON reads a JSON value of the hub's interface.
func (c *Client) getJSON(ctx context.Context, r Ref, address string, into any) (header http.Header, err error) {
	err = c.retry(ctx, func() (bool, error) {
		ctx, quiet := c.watched(ctx)
		defer quiet.stop()
		resp, err := c.open(ctx, r, address, 0)
		if err != nil {
			return false, err
		}
		defer resp.Body.Close()
		raw, err := files.ReadAll(quiet.reader(resp.Body), address, files.MaxJSON)
		if err != nil {
			return false, err
		}
		header = resp.Header
		if err := json.NewDecoder(bytes.NewReader(raw)).Decode(into); err != nil {
			return false, fmt.Errorf("the answer of %s is not what a Hugging Face hub gives (%w): see HF_ENDPOINT", c.Endpoint, err)
		}
		return true, nil
	})
	return header, err
}

// open makes a GET request and follows redirects. Only the hub's own host gets
// the token. The body is the content from offset on, or all of it if the
// status is 200.
func (c *Client) open(ctx context.Context, r Ref, address string, offset int64) (*http.Response, error) {
	if c.Offline {
		return nil, errors.New("HF_HUB_OFFLINE is set: unset it to fetch")
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if c.HTTP != nil {
		client.Transport = c.HTTP.Transport
	}
	for range 10 {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			return nil, fmt.Errorf("%w: see HF_ENDPOINT", err)
		}
		req.Header.Set("User-Agent", "noema")
		req.Header.Set("Accept-Encoding", "identity") // else sizes and ranges are of another content
		if c.Token != "" && strings.HasPrefix(req.URL.String(), c.Endpoint+"/") {
			req.Header.Set("Authorization", "Bearer "+c.Token)
		}
		if offset > 0 {
			req.Header.Set("Range", fmt.Sprintf("bytes=%d-", offset))
		}
		resp, err := client.Do(req)
		if err != nil {
			return nil, unreachable(ctx, err)
		}
		if resp.StatusCode < 300 {
			return resp, nil
		}
		next, err := resp.Location()
		if err != nil || resp.StatusCode >= 400 {
			err = c.refusal(r, resp)
			resp.Body.Close()
			return nil, err
		}
		resp.Body.Close()
		address = next.String()
	}
	return nil, errors.New("more than 10 redirects")
}

// unreachable is the error of a request without an answer. Addresses of other
// hosts may be signed, so only their host is told.
func unreachable(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	var fault *url.Error
	if !errors.As(err, &fault) {
		return &transient{err: err}
	}
	host := "the hub"
	if u, parseErr := url.Parse(fault.URL); parseErr == nil {
		host = u.Host
	}
	return &transient{err: fmt.Errorf("reach %s: %w: check the network, HF_ENDPOINT and HTTPS_PROXY", host, fault.Err)}
}

// watch ends a request that gives nothing for a while.
type watch struct {
	ctx   context.Context // of the request
	timer *time.Timer
	limit time.Duration
	stop  func()
}

// watched is a context for one request, with what ends it.
func (c *Client) watched(ctx context.Context) (context.Context, watch) {
	w := watch{limit: cmp.Or(c.Stall, time.Minute)}
	ctx, cancel := context.WithCancelCause(ctx)
	w.ctx = ctx
	w.timer = time.AfterFunc(w.limit, func() {
		cancel(&transient{err: fmt.Errorf("no data from the server for %s", w.limit)})
	})
	w.stop = func() { w.timer.Stop(); cancel(nil) }
	return ctx, w
}

// reader is a body whose errors are those of the connection.
func (w watch) reader(r io.Reader) io.Reader { return &body{r, w} }

type body struct {
	io.Reader
	watch watch
}

// Read implements [io.Reader].
func (b *body) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if n > 0 {
		b.watch.timer.Reset(b.watch.limit)
	}
	if err == nil || err == io.EOF {
		return n, err
	}
	if cause := context.Cause(b.watch.ctx); cause != nil {
		return n, cause
	}
	return n, &transient{err: fmt.Errorf("the connection was cut: %w", err)}
}
