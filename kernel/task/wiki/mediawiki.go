package wiki

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
	"strconv"
	"strings"
	"sync"
	"time"

	"noema/kernel/base/pause"
	"noema/kernel/base/title"
)

// MediaWiki is a wiki server, such as Wikipedia. It asks politely: it names
// itself, waits between requests, and honours Retry-After.
type MediaWiki struct {
	Base string        // such as https://en.wikipedia.org
	Wait time.Duration // between requests; 0 means 200 ms

	mu    sync.Mutex
	next  time.Time        // when the next request may go out
	pages map[string]*Page // articles by the title that was asked for, so that reading on asks the server for nothing
}

// The bounds of a request: its time, and how often it is repeated after failures
// that may pass.
const (
	timeout = 30 * time.Second
	retries = 3
)

// maxPages bounds how many articles are kept.
const maxPages = 64

var _ Source = (*MediaWiki)(nil)

// Search implements [Source] by the search of the MediaWiki API.
func (m *MediaWiki) Search(ctx context.Context, query string, n int) ([]Hit, error) {
	raw, _, err := m.get(ctx, "/w/api.php?"+url.Values{
		"action": {"query"}, "list": {"search"}, "format": {"json"}, "srsearch": {query}, "srlimit": {strconv.Itoa(n)},
	}.Encode())
	if err != nil {
		return nil, fmt.Errorf("search wiki: %w", err)
	}
	var answer struct {
		Query struct {
			Search []struct{ Title, Snippet string }
		}
		Error struct{ Info string }
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		return nil, fmt.Errorf("search wiki: the server's answer is not JSON: %w", err)
	}
	if answer.Error.Info != "" {
		return nil, fmt.Errorf("search wiki: %s", answer.Error.Info)
	}
	hits := []Hit{}
	for _, s := range answer.Query.Search {
		page, err := Parse(strings.NewReader(s.Snippet), s.Title, "")
		if err != nil {
			return nil, err
		}
		hits = append(hits, Hit{s.Title, URL(s.Title), snippet(page.Lead)})
	}
	return hits, nil
}

// Page implements [Source] by the article's page, in whichever skin it comes. The
// title is the page's own: a server shows the article that a redirect leads to.
func (m *MediaWiki) Page(ctx context.Context, address string) (*Page, error) {
	asked := title.Of(address)
	m.mu.Lock()
	p, ok := m.pages[title.Canonical(asked)]
	m.mu.Unlock()
	if ok {
		return p, nil
	}
	p, err := m.fetch(ctx, asked)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.pages == nil || len(m.pages) == maxPages {
		m.pages = map[string]*Page{}
	}
	m.pages[title.Canonical(asked)] = p
	return p, nil
}

func (m *MediaWiki) fetch(ctx context.Context, asked string) (*Page, error) {
	raw, final, err := m.get(ctx, "/"+URL(asked))
	if err != nil {
		return nil, fmt.Errorf("fetch article %q: %w", asked, err)
	}
	p, err := Parse(bytes.NewReader(raw), title.Of(final), "")
	if err != nil {
		return nil, err
	}
	if p.canonical == "" {
		p.canonical = p.Title
	}
	p.URL = URL(p.canonical)
	if title.Canonical(p.canonical) != title.Canonical(asked) {
		p.RedirectedFrom = asked
	}
	return p, nil
}

// temporary is a failure that may pass.
type temporary struct {
	err  error
	wait time.Duration
}

func (t *temporary) Error() string { return t.err.Error() }
func (t *temporary) Unwrap() error { return t.err }

// get fetches a path, again after failures that may pass, and returns the
// content with the address where it was found.
func (m *MediaWiki) get(ctx context.Context, path string) ([]byte, string, error) {
	for attempt := 0; ; attempt++ {
		raw, final, err := m.once(ctx, path)
		var passing *temporary
		if err == nil || !errors.As(err, &passing) || attempt == retries || ctx.Err() != nil {
			return raw, final, err
		}
		if err := pause.For(ctx, max(passing.wait, time.Duration(1<<attempt)*100*time.Millisecond)); err != nil {
			return nil, "", err
		}
	}
}

func (m *MediaWiki) once(ctx context.Context, path string) ([]byte, string, error) {
	if err := m.turn(ctx); err != nil {
		return nil, "", err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(m.Base, "/")+path, nil)
	if err != nil {
		return nil, "", err
	}
	req.Header.Set("User-Agent", "noema (research workbench)")
	client := http.Client{Timeout: timeout}
	resp, err := client.Do(req)
	if err != nil {
		return nil, "", &temporary{err: err}
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxHTML+1))
	switch {
	case resp.StatusCode == http.StatusNotFound:
		return nil, "", fmt.Errorf("%w: %s", ErrNoPage, path)
	case resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode >= 500:
		seconds, _ := strconv.Atoi(resp.Header.Get("Retry-After")) // without one it is 0
		return nil, "", &temporary{fmt.Errorf("the server says %s", resp.Status), time.Duration(min(seconds, 60)) * time.Second}
	case resp.StatusCode != http.StatusOK:
		return nil, "", fmt.Errorf("the server says %s", resp.Status)
	case err != nil:
		return nil, "", &temporary{err: err}
	case len(raw) > maxHTML:
		return nil, "", fmt.Errorf("%w: the server's answer is longer than %d bytes", ErrUnreadable, maxHTML)
	}
	return raw, resp.Request.URL.Path, nil
}

// turn waits until a request may go out.
func (m *MediaWiki) turn(ctx context.Context) error {
	wait := cmp.Or(m.Wait, 200*time.Millisecond)
	m.mu.Lock()
	now := time.Now()
	at := m.next
	if at.Before(now) {
		at = now
	}
	m.next = at.Add(wait)
	m.mu.Unlock()
	if wait = time.Until(at); wait <= 0 {
		return ctx.Err()
	}
	return pause.For(ctx, wait)
}
