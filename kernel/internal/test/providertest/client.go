package providertest

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"noema/kernel/model/provider"
	"noema/methods"
)

// Complete calls a model again as long as the server refuses a form of the
// request and the provider adapts, as the gateway does.
func Complete(ctx context.Context, m methods.Model, r methods.Request) (methods.Completion, error) {
	for {
		c, err := m.Complete(ctx, r)
		var e *provider.Error
		if !errors.As(err, &e) || e.Kind != provider.Adapted {
			return c, err
		}
	}
}

// Says is a client whose server answers every request with one body.
func Says(body string) *http.Client { return &http.Client{Transport: says(body)} }

type says string

// RoundTrip implements [http.RoundTripper].
func (s says) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(string(s))), Request: r}, nil
}

// Fuzz hands bodies of replies to a provider, and holds what it makes of them
// to what the vocabulary promises.
func Fuzz(f *testing.F, open func(*http.Client) (provider.Provider, error), r methods.Request) {
	f.Helper()
	f.Fuzz(func(t *testing.T, body []byte) {
		p, err := open(Says(string(body)))
		if err != nil {
			t.Fatal(err)
		}
		c, err := p.Complete(t.Context(), r)
		var e *provider.Error
		if err != nil && !errors.As(err, &e) && !errors.As(err, new(*provider.Miscount)) {
			t.Errorf("%v is not a provider error", err)
		}
		if u := c.Usage; u.InputTokens < u.CachedTokens+u.CacheWriteTokens || u.OutputTokens < u.ReasoningTokens ||
			min(u.CachedTokens, u.CacheWriteTokens, u.ReasoningTokens) < 0 || u.Cost < 0 {
			t.Errorf("usage %+v", u)
		}
		for _, token := range c.Logprobs {
			if !utf8.ValidString(token.Token) || math.IsNaN(token.Logprob) || math.IsInf(token.Logprob, 0) || token.Bytes != nil && string(token.Bytes) == token.Token {
				t.Errorf("token %+v", token)
			}
		}
	})
}

// SameJSON fails the test if got, as JSON, is not want, whatever the order of
// names and the white space.
func SameJSON(t testing.TB, got any, want string) {
	t.Helper()
	g, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal([]byte(want), &v); err != nil {
		t.Fatal(err)
	}
	w, err := json.Marshal(v)
	if err != nil || string(g) != string(w) {
		t.Errorf("sent %s\nwant %s", g, w)
	}
}
