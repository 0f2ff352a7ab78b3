package exchange

import (
	"cmp"
	"fmt"
	"net/url"
	"path"
	"strings"
)

// Base is a parsed base URL: what requests go to, and what identifies it.
type Base struct {
	URL      string     // with credentials, without query
	Query    url.Values // to be sent with every request
	Endpoint string     // for methods.ModelID; empty for the provider's own
}

// WithoutV1 drops the version at the end of a base URL, for protocols whose
// paths begin with it: people copy the URL of OpenAI's protocol, which ends in it.
func WithoutV1(raw string) string {
	before, query, has := strings.Cut(strings.TrimSpace(raw), "?")
	before = strings.TrimSuffix(strings.TrimRight(before, "/"), "/v1")
	if has {
		return before + "?" + query
	}
	return before
}

// Key is the key in the environment and the variable that holds it, both empty
// if there is none.
func (s Service) Key(getenv func(string) string) (variable, key string) {
	for _, variable := range s.KeyVariable {
		if key := strings.TrimSpace(getenv(variable)); key != "" {
			return variable, key
		}
	}
	return "", ""
}

// Base parses a base URL, or the service's own if raw is empty.
func (s Service) Base(raw string) (Base, error) {
	if raw = strings.TrimSpace(raw); s.Address != nil {
		raw = s.Address(raw)
	}
	u, err := url.Parse(cmp.Or(raw, s.BaseURL))
	if err != nil {
		// The error of url.Parse quotes its input, which may hold a password.
		return Base{}, fmt.Errorf("%s: base URL is not a URL (check %s)", s.Kind, s.URLVariable)
	}
	u.Scheme, u.Host = strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return Base{}, fmt.Errorf("%s: base URL %q is not of the form %s (check %s)", s.Kind, u.Redacted(), s.BaseURL, s.URLVariable)
	}
	if port := u.Port(); u.Scheme == "https" && port == "443" || u.Scheme == "http" && port == "80" {
		u.Host = strings.TrimSuffix(u.Host, ":"+port)
	}
	u.Path = strings.TrimSuffix(path.Clean("/"+u.Path), "/")
	b := Base{Query: u.Query()}
	u.RawQuery, u.Fragment, u.RawPath = "", "", ""
	b.URL = u.String()
	u.User = nil
	if b.Endpoint = u.String(); b.Endpoint == s.BaseURL {
		b.Endpoint = ""
	}
	return b, nil
}
