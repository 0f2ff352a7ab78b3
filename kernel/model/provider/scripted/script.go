package scripted

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"noema/kernel/base/files"
	"noema/kernel/model/provider"
	"noema/methods"
)

// Script is a list of rules for replies.
type Script struct {
	Model   string `yaml:"model" json:"model,omitempty"`
	Rules   []Rule `yaml:"rules" json:"rules,omitempty"`
	Default *Rule  `yaml:"default" json:"default,omitempty"` // its conditions are ignored
}

// Rule is a condition and what to answer where it holds. A rule without a
// condition holds always.
type Rule struct {
	Match string `yaml:"match" json:"match,omitempty"` // text within the messages
	Regex string `yaml:"regex" json:"regex,omitempty"` // of package regexp, on the messages joined by newlines
	Path  string `yaml:"path" json:"path,omitempty"`   // of package path, on the call path

	Reply     any        `yaml:"reply" json:"reply,omitempty"`     // a text, or a value that is sent as JSON
	Replies   []any      `yaml:"replies" json:"replies,omitempty"` // by draw, starting over at the end
	ToolCalls []ToolCall `yaml:"tool_calls" json:"tool_calls,omitempty"`
	Finish    string     `yaml:"finish" json:"finish,omitempty"` // empty is "stop", or "tool_calls" if there are any

	Error     *Fault `yaml:"error" json:"error,omitempty"`
	FailTimes int    `yaml:"fail_times" json:"fail_times,omitempty"` // failures of each request before it is answered; 0 with an error means always

	Usage   *Usage `yaml:"usage" json:"usage,omitempty"`     // nil counts one token for each 4 bytes, and no cost
	Latency string `yaml:"latency" json:"latency,omitempty"` // as of time.ParseDuration; recorded, not waited for
}

// Fault is a failed attempt.
type Fault struct {
	Kind       string `yaml:"kind" json:"kind,omitempty"` // a provider.Kind; empty takes the status's
	Status     int    `yaml:"status" json:"status,omitempty"`
	RetryAfter string `yaml:"retry_after" json:"retry_after,omitempty"` // as of time.ParseDuration
	Message    string `yaml:"message" json:"message,omitempty"`
}

// ToolCall is a tool call of a reply.
type ToolCall struct {
	ID        string         `yaml:"id" json:"id,omitempty"` // empty numbers them: "call_1" and so on
	Name      string         `yaml:"name" json:"name,omitempty"`
	Arguments map[string]any `yaml:"arguments" json:"arguments,omitempty"`
}

// Usage is the recorded usage of a reply.
type Usage struct {
	InputTokens  int64   `yaml:"input_tokens" json:"input_tokens,omitempty"`
	OutputTokens int64   `yaml:"output_tokens" json:"output_tokens,omitempty"`
	CostUSD      float64 `yaml:"cost_usd" json:"cost_usd,omitempty"`
}

// Load reads a script from a JSON or YAML file.
func Load(file string) (*Provider, error) {
	raw, err := files.Read(file, files.MaxConfig)
	if err != nil {
		return nil, fmt.Errorf("scripted: %w", err)
	}
	s, err := Parse(raw)
	if err != nil {
		return nil, fmt.Errorf("scripted: %s: %w", file, err)
	}
	return New(s)
}

// Parse reads a script in YAML or JSON. Unknown names are errors, so that a
// misspelt one does not go unnoticed.
func Parse(raw []byte) (Script, error) {
	var s Script
	if err := files.YAML(raw, &s, yaml.Strict()); err != nil {
		return Script{}, errors.New(strings.TrimSpace(yaml.FormatError(err, false, true)))
	}
	if len(s.Rules) == 0 && s.Default == nil {
		return Script{}, errors.New("no rules and no default: give at least one")
	}
	return s, nil
}

// rule is a compiled Rule.
type rule struct {
	match, path string
	regex       *regexp.Regexp
	replies     []methods.Completion // without usage, where metered is false
	metered     bool
	fault       *provider.Error
	failTimes   int
}

func (r Rule) compile() (rule, error) {
	out := rule{match: r.Match, path: r.Path, failTimes: r.FailTimes, metered: r.Usage != nil}
	var err error
	if r.Regex != "" {
		if out.regex, err = regexp.Compile(r.Regex); err != nil {
			return out, fmt.Errorf("regex: %w", err)
		}
	}
	if _, err := path.Match(r.Path, ""); err != nil {
		return out, fmt.Errorf("path %q: %w", r.Path, err)
	}
	if out.fault, err = r.Error.compile(); err != nil {
		return out, err
	}
	if r.FailTimes < 0 || r.FailTimes > 0 && r.Error == nil {
		return out, fmt.Errorf("fail_times %d: give a positive number and an error", r.FailTimes)
	}
	return out, r.compileReplies(&out)
}

func (r Rule) compileReplies(out *rule) error {
	values := r.Replies
	switch {
	case r.Reply != nil && values != nil:
		return errors.New("give reply or replies, not both")
	case values == nil:
		values = []any{r.Reply} // nil if there are only tool calls, or only an error
	}
	if len(values) == 0 || values[0] == nil && r.ToolCalls == nil && (r.Error == nil || r.FailTimes > 0) {
		return errors.New("nothing to answer: give reply, replies, tool_calls, or an error without fail_times")
	}
	base, err := r.base()
	if err != nil {
		return err
	}
	for i, v := range values {
		c := base
		if c.Text, err = textOf(v); err != nil {
			return fmt.Errorf("reply %d: %w", i+1, err)
		}
		out.replies = append(out.replies, c)
	}
	return nil
}

// base is what all replies of the rule have in common.
func (r Rule) base() (methods.Completion, error) {
	c := methods.Completion{Finish: methods.FinishReason(r.Finish), Model: Kind, Usage: methods.Usage{Calls: 1}}
	for i, call := range r.ToolCalls {
		if call.ID == "" {
			call.ID = fmt.Sprintf("call_%d", i+1)
		}
		raw := json.RawMessage("{}")
		if call.Arguments != nil {
			var err error
			if raw, err = json.Marshal(call.Arguments); err != nil {
				return c, fmt.Errorf("tool call %q: %w", call.Name, err)
			}
		}
		c.ToolCalls = append(c.ToolCalls, methods.ToolCall{ID: call.ID, Name: call.Name, Arguments: raw})
	}
	if c.Finish == "" {
		c.Finish = methods.FinishStop
		if len(c.ToolCalls) > 0 {
			c.Finish = methods.FinishTools
		}
	}
	if r.Usage != nil {
		if r.Usage.InputTokens < 0 || r.Usage.OutputTokens < 0 || r.Usage.CostUSD < 0 {
			return c, errors.New("usage: tokens and costs cannot be negative")
		}
		c.Usage.InputTokens, c.Usage.OutputTokens = r.Usage.InputTokens, r.Usage.OutputTokens
		c.Usage.Cost = methods.NanoUSD(math.Round(r.Usage.CostUSD * 1e9))
	}
	var err error
	c.Usage.Latency, err = duration("latency", r.Latency)
	return c, err
}

func (f *Fault) compile() (*provider.Error, error) {
	if f == nil {
		return nil, nil
	}
	known := []provider.Kind{
		provider.RateLimited, provider.Unavailable, provider.Network, provider.Malformed,
		provider.Unauthorized, provider.ContextLength, provider.Rejected,
	}
	kind := provider.Kind(f.Kind)
	if kind == "" {
		kind = provider.KindOf(f.Status)
	}
	if !slices.Contains(known, kind) {
		return nil, fmt.Errorf("error: unknown kind %q: use one of %v", f.Kind, known)
	}
	after, err := duration("retry_after", f.RetryAfter)
	if err != nil {
		return nil, fmt.Errorf("error: %w", err)
	}
	message := cmp.Or(f.Message, "failure that the script asks for")
	return &provider.Error{Kind: kind, Status: f.Status, RetryAfter: after, Err: errors.New(message)}, nil
}

func (r *rule) fits(prompt, callPath string) bool {
	if !strings.Contains(prompt, r.match) || r.regex != nil && !r.regex.MatchString(prompt) {
		return false
	}
	if r.path == "" {
		return true
	}
	ok, err := path.Match(r.path, callPath)
	return ok && err == nil // the pattern was checked when the rule was made
}

// completion is the reply to a draw.
func (r *rule) completion(prompt string, draw int) methods.Completion {
	n := len(r.replies)
	c := r.replies[((draw%n)+n)%n]
	c.ToolCalls = slices.Clone(c.ToolCalls)
	if !r.metered {
		c.Usage.InputTokens, c.Usage.OutputTokens = tokens(prompt), tokens(c.Text)
	}
	return c
}

func tokens(s string) int64 { return int64(len(s)+3) / 4 }

func textOf(v any) (string, error) {
	switch v := v.(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	}
	raw, err := json.Marshal(v)
	return string(raw), err
}

func duration(name, s string) (time.Duration, error) {
	if s == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%s %q is not a duration such as 120ms or 2s", name, s)
	}
	return d, nil
}
