package wiki

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"noema/kernel/task"
	"noema/methods"
)

// results is how many hits a search returns.
const results = 5

// Options are the limits of what tools return, in characters.
type Options struct {
	Lead    int // of an article's lead; 0 means 4,000
	Section int // of a section's text; 0 means 20,000
}

// Environment runs the tools search, inspect and read_section over a source. Each
// result depends on the arguments alone, so the kernel keeps it, and a rerun
// opens no connection.
type Environment struct {
	source  Source
	options Options
}

var _ task.Environment = Environment{}

// NewEnvironment returns the environment of a source.
func NewEnvironment(s Source, o Options) Environment {
	if o.Lead <= 0 {
		o.Lead = 4000
	}
	if o.Section <= 0 {
		o.Section = 20_000
	}
	return Environment{s, o}
}

// Tools implements [task.Environment].
func (Environment) Tools() []methods.ToolSpec {
	of := func(name, doc, properties, required string) methods.ToolSpec {
		return methods.ToolSpec{
			Name: name, Description: doc, Pure: true, Result: json.RawMessage(`{"type":"object"}`),
			Parameters: json.RawMessage(`{"type":"object","properties":{` + properties + `},"required":[` + required + `],"additionalProperties":false}`),
		}
	}
	return []methods.ToolSpec{
		of("search", "the five best articles for a query: titles, addresses and two lines of each", `"query":{"type":"string"}`, `"query"`),
		of("inspect", "what an article is about: its title, lead and table of contents", `"url":{"type":"string"}`, `"url"`),
		of("read_section", "the text of one section of an article", `"url":{"type":"string"},"section":{"type":"string"}`, `"url","section"`),
	}
}

// Inspection is what inspect returns.
type Inspection struct {
	Title          string   `json:"title"`
	URL            string   `json:"url"`
	Lead           string   `json:"lead"`
	Sections       []string `json:"sections"`
	Disambiguation bool     `json:"disambiguation,omitempty"`
	RedirectedFrom string   `json:"redirected_from,omitempty"`
	Truncated      bool     `json:"truncated,omitempty"`
}

// Reading is what read_section returns.
type Reading struct {
	Title     string `json:"title"`
	URL       string `json:"url"`
	Section   string `json:"section"`
	Text      string `json:"text"`
	Truncated bool   `json:"truncated,omitempty"`
}

// Call implements [task.Environment]. What does not exist is an error result,
// which a method can read; a source that fails is an error.
func (e Environment) Call(ctx context.Context, c methods.ToolCall) (methods.ToolResult, error) {
	var args struct{ Query, URL, Section string }
	if err := json.Unmarshal(c.Arguments, &args); err != nil {
		return failure(fmt.Errorf("read arguments: %w", err)), nil
	}
	for _, need := range map[string][]*string{"search": {&args.Query}, "inspect": {&args.URL}, "read_section": {&args.URL, &args.Section}}[c.Name] {
		if strings.TrimSpace(*need) == "" {
			return failure(fmt.Errorf("%s: an argument is empty", c.Name)), nil
		}
	}
	switch c.Name {
	case "search":
		hits, err := e.source.Search(ctx, args.Query, results)
		if err != nil {
			return methods.ToolResult{}, err
		}
		return methods.ToolResult{Content: marshal(map[string]any{"results": hits})}, nil
	case "inspect", "read_section":
		page, err := e.source.Page(ctx, args.URL)
		if errors.Is(err, ErrNoPage) {
			return failure(err), nil
		}
		if err != nil {
			return methods.ToolResult{}, err
		}
		if c.Name == "inspect" {
			return e.inspect(page), nil
		}
		return e.read(page, args.Section), nil
	}
	return methods.ToolResult{}, fmt.Errorf("%w %q", methods.ErrUnknownTool, c.Name)
}

func failure(err error) methods.ToolResult {
	return methods.ToolResult{Content: err.Error(), IsError: true}
}

func (e Environment) inspect(p *Page) methods.ToolResult {
	lead, cut := head(p.Lead, e.options.Lead)
	return methods.ToolResult{Content: marshal(Inspection{
		Title: p.Title, URL: p.URL, Lead: lead, Sections: slices.Concat([]string{}, p.TOC()),
		Disambiguation: p.Disambiguation, RedirectedFrom: p.RedirectedFrom, Truncated: cut,
	})}
}

func (e Environment) read(p *Page, section string) methods.ToolResult {
	text, err := p.Section(section)
	if err != nil {
		return failure(err)
	}
	text, cut := head(text, e.options.Section)
	return methods.ToolResult{Content: marshal(Reading{p.Title, p.URL, strings.TrimSpace(section), text, cut})}
}

func head(s string, limit int) (string, bool) {
	if r := []rune(s); len(r) > limit {
		return string(r[:limit]), true
	}
	return s, false
}
