package exchange

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"syscall"

	"noema/kernel/model/provider"
)

// malformed is the error for a reply that is not a completion.
type malformed struct {
	raw []byte
	err error
}

// Error says what is wrong with the reply.
func (m *malformed) Error() string { return m.err.Error() }

// Malformed is the error for a reply, or a part of one, that is not a
// completion. Routers send errors of the servers behind them with status 200:
// raw is read as one, if it is, and its kind is kept.
func Malformed(raw []byte, format string, args ...any) error {
	return &malformed{raw, fmt.Errorf("decode reply: "+format, args...)}
}

// Short is the error for a reply that ended before it was complete.
func Short() error {
	return &provider.Error{Kind: provider.Network, Err: errors.New("the reply ends in its middle")}
}

// failure maps what went wrong with an attempt to what callers know: a
// [*provider.Error], or ctx's error where ctx ended.
func (c *Client) failure(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", c.service.Kind, ctx.Err())
	}
	var refused *Refusal
	var bad *malformed
	var known *provider.Error
	var inURL *url.Error
	switch {
	case errors.As(err, &refused):
		return c.refused(refused)
	case errors.As(err, &bad):
		return c.malformed(bad)
	case errors.As(err, &known):
		return known
	case errors.Is(err, errTooLarge):
		return &provider.Error{Kind: provider.Malformed, Err: errTooLarge}
	case errors.As(err, &inURL):
		err = inURL.Err // without the URL, which may hold credentials
	}
	down := &provider.Error{Kind: provider.Network, Err: errors.New(c.clean(err.Error()))}
	if c.service.Start != "" && errors.Is(err, syscall.ECONNREFUSED) {
		down.Hint = fmt.Sprintf("is it running? %q starts it", c.service.Start)
	}
	return down
}

func (c *Client) malformed(m *malformed) error {
	if f := parseRefusal(m.raw); f.IsError {
		if f.Status == 0 { // it does not say which
			return &provider.Error{Kind: provider.Malformed, Err: errors.New(c.clean(f.Text))}
		}
		return c.refused(f)
	}
	if looksLikeHTML(m.raw) {
		return &provider.Error{Kind: provider.Malformed, Err: errors.New("decode reply: an HTML page"), Hint: c.urlHint()}
	}
	return &provider.Error{Kind: provider.Malformed, Err: errors.New(c.clean(m.Error()))}
}

func (c *Client) urlHint() string {
	return "check the model's name and " + c.service.URLVariable + strings.ReplaceAll(c.service.NotFound, "NAME", c.config.Model)
}

// refused is a refusal as callers know it.
func (c *Client) refused(f *Refusal) error {
	e := &provider.Error{Kind: provider.KindOf(f.Status), Status: f.Status, RetryAfter: f.RetryAfter}
	switch {
	case f.HTML:
		e.Err = errors.New("the server sent an HTML page")
	case strings.TrimSpace(f.Text) != "":
		e.Err = errors.New(c.clean(f.Text))
	}
	switch {
	case e.Kind == provider.Unauthorized, f.Status == http.StatusBadRequest && badKey().MatchString(f.Text):
		e.Kind, e.Hint = provider.Unauthorized, "check "+c.service.KeyVariable[0]
	case f.Status == http.StatusPaymentRequired, noCredit().MatchString(f.Code + " " + f.Text):
		e.Kind, e.Hint = provider.Exhausted, "the account has no credit left"
	case f.Status == http.StatusRequestEntityTooLarge, f.Code == "context_length_exceeded",
		f.Status < 500 && f.Status != http.StatusTooManyRequests && contextLength().MatchString(f.Text):
		e.Kind, e.Hint = provider.ContextLength, "the prompt does not fit the model's context"
	case f.Status == http.StatusNotFound:
		e.Hint = c.urlHint()
	case f.Status >= 300 && f.Status < 400:
		e.Hint = "the server redirects; the key is not sent elsewhere: set the URL that it redirects to"
	}
	return e
}

var (
	contextLength = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)maximum context length|context (window|length|size|limit)|prompt is too long|too many tokens|exceeds the maximum number of tokens|input length exceeds`)
	})
	badKey = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)API key (not valid|expired|not found)`)
	})
	// Gemini's "check your plan and billing details" is not among these: it says
	// that of its limits per minute too.
	noCredit = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)insufficient_quota|billing_(hard_limit_reached|not_active)|credit balance is too low|credits are depleted|spending cap`)
	})
	// masked matches keys and what is left of them when a server masks them.
	masked = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\bsk-[\w*-]+|\bAIza[\w*-]+|\S*\*{3,}\S*|(?i:bearer)\s+\S+|([?&](key|api_key|token)=)[^&\s"]+`)
	})
)

// clean makes a server's text fit for an error: one line, at most 300
// characters, valid UTF-8, without the key.
func (c *Client) clean(text string) string {
	if c.config.APIKey != "" {
		text = strings.ReplaceAll(text, c.config.APIKey, "[key]")
	}
	text = masked().ReplaceAllString(text, "[key]")
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "�")), " ")
	if runes := []rune(text); len(runes) > 300 {
		text = string(runes[:300]) + "…"
	}
	return text
}
