package openai

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"
)

// base is a parsed base URL: what requests go to, and what identifies it.
type base struct {
	url      string     // with credentials, without query
	query    url.Values // sent with every request
	endpoint string     // for methods.ModelID; empty for DefaultBaseURL
}

func parseBase(raw string) (base, error) {
	raw = strings.TrimSpace(raw)
	if raw == "" {
		raw = DefaultBaseURL
	}
	u, err := url.Parse(raw)
	if err != nil {
		// The error of url.Parse quotes its input, which may hold a password.
		return base{}, errors.New("openai: base URL is not a URL (check OPENAI_BASE_URL)")
	}
	u.Scheme, u.Host = strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return base{}, fmt.Errorf("openai: base URL %q is not of the form https://host/v1 (check OPENAI_BASE_URL)", u.Redacted())
	}
	if port := u.Port(); u.Scheme == "https" && port == "443" || u.Scheme == "http" && port == "80" {
		u.Host = strings.TrimSuffix(u.Host, ":"+port)
	}
	u.Path = strings.TrimSuffix(path.Clean("/"+u.Path), "/")
	b := base{query: u.Query()}
	u.RawQuery, u.Fragment, u.RawPath = "", "", ""
	b.url = u.String()
	u.User = nil
	if b.endpoint = u.String(); b.endpoint == DefaultBaseURL {
		b.endpoint = ""
	}
	return b, nil
}

// newClient returns a client for many calls at once to one host. The default
// transport keeps two idle connections to a host, so a thousand calls in
// flight would open a new one for nearly every call.
func newClient() *http.Client {
	dialer := &net.Dialer{Timeout: 15 * time.Second, KeepAlive: 30 * time.Second}
	return &http.Client{Transport: &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         dialer.DialContext,
		ForceAttemptHTTP2:   true,
		MaxIdleConns:        2048,
		MaxIdleConnsPerHost: 2048,
		IdleConnTimeout:     90 * time.Second,
		TLSHandshakeTimeout: 15 * time.Second,
		// No timeout for headers: a reasoning model may think for minutes
		// before the first byte. The context bounds the whole call.
	}}
}
