// Package scripted is a provider whose replies come from a JSON or YAML file or
// from Go: for tests, and for seeing what a method does when the model says this
// or that.
//
// A script is a list of rules and an optional default. The first rule that
// fits a request answers it:
//
//	model: my-test              # optional name
//	rules:
//	  - match: "phase 1"        # text within any message; also: regex, path
//	    reply: "a text"
//	  - regex: "(?i)rank .* items"
//	    replies: ["[1,2]", "[2,1]"]   # by draw, starting over at the end
//	  - path: "P3/c*"           # call path, with the wildcards of path.Match
//	    reply: [1, 2]           # anything but a text is sent as JSON
//	    error: {kind: rate_limited, status: 429, retry_after: 2s}
//	    fail_times: 2           # fail twice for each request, then reply
//	  - match: "tools"
//	    tool_calls: [{name: add, arguments: {x: 1}}]
//	    finish: tool_calls
//	    usage: {input_tokens: 10, output_tokens: 5, cost_usd: 0.001}
//	    latency: 120ms          # recorded, not waited for
//	default: {reply: "I do not know."}
//
// Several conditions in one rule must all hold. A rule with an error and
// without fail_times always fails. What a request gets depends on the request
// alone, or on how often that same request was made before where fail_times
// is set; never on what arrived in between.
//
// A rule with a path gives one question different answers at different places.
// The cache does not know paths: with it, the first answer is reused.
package scripted

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"noema/kernel/model/provider"
	"noema/methods"
)

// Kind is the provider's name, as written before the slash of a model.
const Kind = "scripted"

// Provider answers from a script. It is safe for concurrent use.
type Provider struct {
	info   provider.Info
	rules  []rule
	answer *rule // the default; nil if there is none

	mu       sync.Mutex
	failures map[attempt]int
}

// attempt is what failures are counted by.
type attempt struct {
	rule    *rule
	request [32]byte
}

var _ provider.Provider = (*Provider)(nil)

// New makes a provider from a script.
func New(s Script) (*Provider, error) {
	p := &Provider{failures: map[attempt]int{}}
	for i, r := range s.Rules {
		compiled, err := r.compile()
		if err != nil {
			return nil, fmt.Errorf("scripted: rule %d: %w", i+1, err)
		}
		p.rules = append(p.rules, compiled)
	}
	if s.Default != nil {
		compiled, err := s.Default.compile()
		if err != nil {
			return nil, fmt.Errorf("scripted: default: %w", err)
		}
		p.answer = &compiled
	}
	digest, err := s.digest()
	if err != nil {
		return nil, err
	}
	p.info = provider.Info{ID: methods.ModelID{Provider: Kind, Model: s.Model, Config: "script=" + digest}}
	return p, nil
}

// Info describes the provider. The digest of the script is part of its
// identity, so another script never answers from the records of this one.
func (p *Provider) Info() provider.Info { return p.info }

// Complete answers by the first rule that fits.
func (p *Provider) Complete(ctx context.Context, r methods.Request) (methods.Completion, error) {
	if err := ctx.Err(); err != nil {
		return methods.Completion{}, fmt.Errorf("scripted: %w", err)
	}
	if err := provider.NoLogprobs(Kind, r.Sampling); err != nil {
		return methods.Completion{}, err
	}
	prompt := text(r)
	rule := p.find(prompt, r.Path)
	if rule == nil {
		return methods.Completion{}, &provider.Error{
			Kind: provider.Rejected,
			Err:  fmt.Errorf("no rule of the script matches the prompt %q at %q", head(prompt, 80), r.Path),
			Hint: "add a rule or a default to the script",
		}
	}
	if rule.fault != nil && p.fails(rule, r) {
		fault := *rule.fault
		return methods.Completion{}, &fault
	}
	return rule.completion(prompt, r.Draw), nil
}

func (p *Provider) find(prompt, path string) *rule {
	for i := range p.rules {
		if p.rules[i].fits(prompt, path) {
			return &p.rules[i]
		}
	}
	return p.answer
}

// fails reports whether this attempt is one of those that fail.
func (p *Provider) fails(r *rule, req methods.Request) bool {
	if r.failTimes == 0 {
		return true
	}
	a := attempt{r, fingerprint(req)}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failures[a] >= r.failTimes {
		return false
	}
	p.failures[a]++
	return true
}

// fingerprint tells requests apart by what a model would see, and by draw.
func fingerprint(r methods.Request) [32]byte {
	r.Path = ""
	raw, err := json.Marshal(r)
	if err != nil { // a schema or a tool that is no JSON
		raw = fmt.Appendf(nil, "%#v", r.Messages)
	}
	return sha256.Sum256(raw)
}

func text(r methods.Request) string {
	parts := make([]string, len(r.Messages))
	for i, m := range r.Messages {
		parts[i] = m.Content
	}
	return strings.Join(parts, "\n")
}

// head is the first n characters of s.
func head(s string, n int) string {
	if runes := []rune(s); len(runes) > n {
		return string(runes[:n]) + "…"
	}
	return s
}

func (s Script) digest() (string, error) {
	raw, err := json.Marshal(s)
	if err != nil {
		return "", fmt.Errorf("scripted: encode script: %w", err)
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:8]), nil
}
