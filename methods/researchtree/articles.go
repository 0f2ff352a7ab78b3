package researchtree

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"noema/methods"
	"noema/methods/reply"
)

// hit is a result of the last search.
type hit struct{ id, title, url string }

// article is one that was inspected.
type article struct {
	title    string
	names    []string // its title and the addresses that led to it, see key
	sections []string
	read     []string // sections of which a page was read
	pages    []string // "Career page 2 of 3": pages of those that were not
}

// article finds the inspected article of an address or title; nil if there is none.
func (t *solver) article(address string) *article {
	i := slices.IndexFunc(t.articles, func(a *article) bool { return slices.Contains(a.names, key(address)) })
	if i < 0 {
		return nil
	}
	return t.articles[i]
}

// address is the article that an action means: a result of the last search, or
// an address or title.
func (t *solver) address(a arguments) string {
	for _, id := range []string{a.ResultID, a.URL} {
		if i := slices.IndexFunc(t.hits, func(h hit) bool { return h.id == id }); i >= 0 {
			return t.hits[i].url
		}
	}
	return a.URL
}

// key is an address or a title without the spelling that makes no difference:
// what stands before the title, and whether spaces are underscores.
func key(address string) string {
	if i := strings.Index(address, "wiki/"); i >= 0 {
		address = address[i+len("wiki/"):]
	}
	return strings.Join(strings.FieldsFunc(address, func(r rune) bool { return r == ' ' || r == '_' }), " ")
}

// call runs one of the problem's tools.
func (t *solver) call(ctx context.Context, act action, address string, n int) (seen, error) {
	args := map[string]any{"query": act.Args.Query}
	if act.Tool != "search" {
		args = map[string]any{"url": address, "size": t.opts.Observation / 2}
	}
	if act.Tool == "read_section" {
		args["section"] = act.Args.Section
		args["size"] = max(t.opts.Observation/2, t.opts.Observation-len(address)-len(act.Args.Section)-40)
		if act.Args.Page != 0 {
			args["page"] = act.Args.Page
		}
	}
	raw, err := json.Marshal(args)
	if err != nil {
		return seen{}, err
	}
	result, err := t.Host.CallTool(ctx, methods.ToolCall{Name: act.Tool, Arguments: raw, Path: fmt.Sprintf("turn/%d/%s", n, act.Tool)})
	if err != nil {
		return seen{}, err
	}
	if result.IsError {
		return seen{"error: " + result.Content, true}, nil
	}
	return seen{text: t.understand(act, address, result.Content)}, nil
}

// understand turns a tool's result into an observation, and notes what it opens.
func (t *solver) understand(act action, address, content string) string {
	switch act.Tool {
	case "search":
		return t.found(content)
	case "inspect":
		return t.opened(address, content)
	}
	var part struct {
		Title, Section, Text string
		Page, Pages          int
	}
	if json.Unmarshal([]byte(content), &part) != nil {
		return content
	}
	head := part.Title + ", " + part.Section
	a := t.article(address)
	a.read = append(a.read, strings.TrimSpace(act.Args.Section), part.Section)
	name := func(page int) string { return fmt.Sprintf("%s page %d of %d", part.Section, page, part.Pages) }
	a.pages = slices.DeleteFunc(a.pages, func(p string) bool { return p == name(part.Page) })
	if part.Pages > 1 {
		head += fmt.Sprintf(", page %d of %d", part.Page, part.Pages)
		if next := name(part.Page + 1); part.Page < part.Pages && !slices.Contains(a.pages, next) {
			a.pages = append(a.pages, next)
		}
	}
	return head + ":\n" + part.Text
}

func (t *solver) found(content string) string {
	var body struct {
		Results []struct{ Title, URL, Snippet string }
	}
	if json.Unmarshal([]byte(content), &body) != nil {
		return content
	}
	t.hits = nil
	var lines []string
	for i, r := range body.Results {
		h := hit{fmt.Sprintf("r%d", i+1), r.Title, r.URL}
		t.hits = append(t.hits, h)
		lines = append(lines, fmt.Sprintf("%s %s (%s): %s", h.id, r.Title, r.URL, reply.OneLine(r.Snippet, 160)))
	}
	if len(lines) == 0 {
		return "nothing found"
	}
	return strings.Join(lines, "\n")
}

// opened shows an inspected article: the lead first, then as many sections as fit.
func (t *solver) opened(address, content string) string {
	var page struct {
		Title, URL, Lead string
		LeadPages        int `json:"lead_pages"`
		Sections, Links  []string
		Disambiguation   bool
	}
	if json.Unmarshal([]byte(content), &page) != nil {
		return content
	}
	a := t.article(address)
	if a == nil {
		a = &article{}
		t.articles = append(t.articles, a)
	}
	a.title = page.Title
	a.names = append(a.names, key(address), key(page.URL), key(page.Title))
	a.sections = nil
	for _, s := range page.Sections {
		a.sections = append(a.sections, strings.TrimSpace(s))
	}
	text := fmt.Sprintf("%s (%s)\n", page.Title, page.URL)
	if page.Disambiguation {
		text = "a list of articles of this name, choose one: " + text
	}
	text += "lead: " + page.Lead + "\n"
	if page.LeadPages > 1 {
		text += fmt.Sprintf("(page 1 of %d of the lead: read_section \"Lead\", page 2, goes on)\n", page.LeadPages)
	}
	if len(page.Links) > 0 {
		text += "links: " + listed(page.Links, t.opts.Observation/6) + "\n"
	}
	return text + "sections: " + listed(a.sections, t.opts.Observation-len(text)-40)
}

// listed joins names within about limit bytes, and counts those that do not fit.
func listed(names []string, limit int) string {
	var b strings.Builder
	for i, name := range names {
		if i > 0 && b.Len()+len(name) > limit {
			return b.String() + fmt.Sprintf(" and %d more", len(names)-i)
		}
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(name)
	}
	return b.String()
}
