package hub

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"noema/kernel/base/pause"
)

// Errors that callers tell apart.
var (
	// ErrNotFetched means that the cache lacks what [Client.Find] looks for.
	ErrNotFetched = errors.New("not fetched yet")
	// ErrGated means that the repository's terms must be accepted first.
	ErrGated = errors.New("the repository is gated")
	// ErrNotFound means that there is no such repository or revision.
	ErrNotFound = errors.New("not found")
	// ErrRateLimited means that the hub wants fewer requests.
	ErrRateLimited = errors.New("rate limited")
)

// transient is an error after which another attempt may succeed.
type transient struct {
	err   error
	after time.Duration // to wait, as the server asks; 0 means that it does not
}

func (e *transient) Error() string { return e.err.Error() }
func (e *transient) Unwrap() error { return e.err }

const (
	attempts = 5           // in a row without a byte more
	longest  = time.Minute // that a server may have us wait
)

// retry calls try until it succeeds, fails for good, or has failed too often.
// try reports whether it came further.
func (c *Client) retry(ctx context.Context, try func() (further bool, err error)) error {
	for failed := 1; ; failed++ {
		further, err := try()
		if further {
			failed = 1
		}
		var passing *transient
		if err == nil || ctx.Err() != nil || !errors.As(err, &passing) {
			return err
		}
		pause := max(passing.after, time.Second<<min(failed-1, 4))
		if failed == attempts || pause > longest {
			return err
		}
		if err := c.wait(ctx, pause); err != nil {
			return err
		}
	}
}

func (c *Client) wait(ctx context.Context, d time.Duration) error {
	if c.Wait != nil {
		return c.Wait(ctx, d)
	}
	return pause.For(ctx, d)
}

// refusal says in plain words what an answer other than 2xx and 3xx means.
func (c *Client) refusal(r Ref, resp *http.Response) error {
	code, message := resp.Header.Get("X-Error-Code"), resp.Header.Get("X-Error-Message")
	if message == "" {
		raw, _ := io.ReadAll(io.LimitReader(resp.Body, 300)) // it is only for the message
		message = strings.TrimSpace(string(raw))
	}
	switch status := resp.StatusCode; {
	case status == http.StatusTooManyRequests:
		return rateLimited(resp, c.Token == "")
	case code == "GatedRepo" && c.Token == "":
		return fmt.Errorf("%w: accept its terms at %s, then set HF_TOKEN to a token of your account (%s/settings/tokens)", ErrGated, c.page(r), c.Endpoint)
	case code == "GatedRepo":
		return fmt.Errorf("%w and the account of your token has no access: accept its terms at %s; some owners approve each request", ErrGated, c.page(r))
	case code == "RevisionNotFound":
		return fmt.Errorf("revision %q: %w: see the branches, tags and commits at %s/tree/main", r.revision(), ErrNotFound, c.page(r))
	case code == "EntryNotFound":
		return fmt.Errorf("file: %w", ErrNotFound)
	case status == http.StatusUnauthorized && strings.Contains(message, "Invalid credentials"):
		return fmt.Errorf("the hub does not accept your token: make one at %s/settings/tokens and set HF_TOKEN, or unset it", c.Endpoint)
	case (code == "RepoNotFound" || status == http.StatusUnauthorized || status == http.StatusNotFound) && c.Token == "":
		return fmt.Errorf("%w: check the name; if the repository is private, set HF_TOKEN", ErrNotFound)
	case code == "RepoNotFound" || status == http.StatusNotFound:
		return fmt.Errorf("%w: check the name, and whether the account of your token may read it", ErrNotFound)
	case status >= 500 || status == http.StatusRequestTimeout:
		return &transient{err: fmt.Errorf("the hub answered %q: %.300s", resp.Status, message), after: retryAfter(resp)}
	default:
		return fmt.Errorf("the hub answered %q: %.300s", resp.Status, message)
	}
}

func rateLimited(resp *http.Response, anonymous bool) error {
	after, hint := retryAfter(resp), ""
	if anonymous {
		hint = ", or set HF_TOKEN, with which more requests are allowed"
	}
	again := "later"
	if after > 0 {
		again = "in " + after.String()
	}
	return &transient{err: fmt.Errorf("%w by %s: try again %s%s", ErrRateLimited, resp.Request.URL.Host, again, hint), after: after}
}

// retryAfter is how long a server asks to wait; 0 if it does not say.
func retryAfter(resp *http.Response) time.Duration {
	text := resp.Header.Get("Retry-After")
	if n, err := strconv.Atoi(text); err == nil && n > 0 && n < 1<<20 {
		return time.Duration(n) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, time.Until(at).Round(time.Second))
	}
	return 0
}

// page is the address of a repository for people.
func (c *Client) page(r Ref) string { return c.Endpoint + "/" + r.path() }
