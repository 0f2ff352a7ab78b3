package wiki

import (
	"cmp"
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

// How much a call returns, in bytes: a page of a longer text, which a method may ask
// for in another size.
const (
	leadPage    = 1000
	sectionPage = 1500
	minPage     = 100
	maxPage     = 20_000
)

// Environment runs the tools search, inspect and read_section over a source. Each
// result depends on the arguments alone, so the kernel keeps it, and a rerun
// opens no connection.
type Environment struct{ source Source }

var _ task.Environment = Environment{}

// NewEnvironment returns the environment of a source.
func NewEnvironment(s Source) Environment { return Environment{s} }

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
		of("inspect", "what an article is about: its title, lead and table of contents", `"url":{"type":"string"},"size":{"type":"integer","description":"bytes of the lead's first page"}`, `"url"`),
		of("read_section", "the text of one section of an article, in pages if it is long; the section Lead is what stands before the first", `"url":{"type":"string"},"section":{"type":"string"},"page":{"type":"integer","description":"from 1, which is the default"},"size":{"type":"integer","description":"bytes of a page"}`, `"url","section"`),
	}
}

// Inspection is what inspect returns.
type Inspection struct {
	Title          string   `json:"title"`
	URL            string   `json:"url"`
	Lead           string   `json:"lead"`                 // its first page
	LeadPages      int      `json:"lead_pages,omitempty"` // if there are more: read_section "Lead" reads them
	Sections       []string `json:"sections"`
	Links          []string `json:"links,omitempty"` // titles, see [Page]
	Disambiguation bool     `json:"disambiguation,omitempty"`
	RedirectedFrom string   `json:"redirected_from,omitempty"`
}

// Reading is what read_section returns.
type Reading struct {
	Title   string `json:"title"`
	URL     string `json:"url"`
	Section string `json:"section"`
	Page    int    `json:"page,omitempty"`  // which page the text is, from 1, if there are several
	Pages   int    `json:"pages,omitempty"` // how many there are
	Text    string `json:"text"`
}

// Call implements [task.Environment]. What does not exist is an error result,
// which a method can read; a source that fails is an error.
func (e Environment) Call(ctx context.Context, c methods.ToolCall) (methods.ToolResult, error) {
	var args struct {
		Query, URL, Section string
		Page, Size          int
	}
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
		if errors.Is(err, ErrNoPage) || errors.Is(err, ErrUnreadable) {
			return failure(err), nil
		}
		if err != nil {
			return methods.ToolResult{}, err
		}
		if c.Name == "inspect" {
			return inspect(page, sizeOf(args.Size, leadPage)), nil
		}
		return part(page, args.Section, args.Page, sizeOf(args.Size, sectionPage)), nil
	}
	return methods.ToolResult{}, fmt.Errorf("%w %q", methods.ErrUnknownTool, c.Name)
}

func failure(err error) methods.ToolResult {
	return methods.ToolResult{Content: err.Error(), IsError: true}
}

// sizeOf is the size of a page that is asked for, or else the usual one.
func sizeOf(asked, usual int) int {
	asked = cmp.Or(asked, usual)
	return min(max(asked, minPage), maxPage)
}

func inspect(p *Page, size int) methods.ToolResult {
	lead := pages(p.Lead, size)
	o := Inspection{
		Title: p.Title, URL: p.URL, Lead: lead[0], Sections: slices.Concat([]string{}, p.TOC()), Links: p.Links,
		Disambiguation: p.Disambiguation, RedirectedFrom: p.RedirectedFrom,
	}
	if len(lead) > 1 {
		o.LeadPages = len(lead)
	}
	return methods.ToolResult{Content: marshal(o)}
}

// part is a page of a section.
func part(p *Page, section string, page, size int) methods.ToolResult {
	heading, text, err := p.Section(section)
	if err != nil {
		return failure(err)
	}
	all := pages(text, size)
	page = max(page, 1)
	if page > len(all) {
		return failure(fmt.Errorf("section %q of article %q has no page %d: the last is page %d", heading, p.Title, page, len(all)))
	}
	o := Reading{Title: p.Title, URL: p.URL, Section: heading, Text: all[page-1]}
	if len(all) > 1 {
		o.Page, o.Pages = page, len(all)
	}
	return methods.ToolResult{Content: marshal(o)}
}
