package wiki

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"unicode"

	"noema/kernel/base/title"
	"noema/kernel/task"
	"noema/methods"
)

// Source is where articles come from.
type Source interface {
	// Search returns the best n articles for a query, the best first.
	Search(ctx context.Context, query string, n int) ([]Hit, error)
	// Page returns the article of a URL, following redirects.
	Page(ctx context.Context, url string) (*Page, error)
}

// Hit is what a search finds.
type Hit struct {
	Title   string `json:"title"`
	URL     string `json:"url"`
	Snippet string `json:"snippet"` // about two lines
}

// ErrNoPage says that there is no article under a URL.
var ErrNoPage = errors.New("no such article")

// Corpus is articles in memory, searched by BM25, or by meaning where the
// environment has an embedding model.
//
// Source: Robertson and Zaragoza 2009, "The Probabilistic Relevance Framework:
// BM25 and Beyond", with k1 = 1.2 and b = 0.75; the title counts three times.
type Corpus struct {
	pages     []*Page
	byTitle   map[string]int      // by canonical title
	redirects map[string]string   // title to title, both canonical
	folded    map[string][]string // canonical titles and redirects by what they are without case
	terms     map[string][]posting
	lengths   []float64
	mean      float64
	notes     []string
}

// Notes say what a reader must know of how the corpus was read.
func (c *Corpus) Notes() []string { return c.notes }

type posting struct {
	page  int
	count float64
}

var _ Source = (*Corpus)(nil)

// NewCorpus indexes pages. Redirects lead from one title to another.
func NewCorpus(pages []*Page, redirects map[string]string) (*Corpus, error) {
	c := &Corpus{pages: pages, byTitle: map[string]int{}, redirects: map[string]string{}, folded: map[string][]string{}, terms: map[string][]posting{}}
	for i, p := range pages {
		key := title.Canonical(p.Title)
		if key == "" {
			return nil, fmt.Errorf("index corpus: article %d has no title", i+1)
		}
		if _, twice := c.byTitle[key]; twice {
			return nil, fmt.Errorf("index corpus: two articles have the title %q", p.Title)
		}
		c.byTitle[key] = i
		c.folded[title.Fold(key)] = append(c.folded[title.Fold(key)], key)
		if p.URL == "" {
			p.URL = URL(p.Title)
		}
		c.index(i, p)
	}
	for _, from := range slices.Sorted(maps.Keys(redirects)) {
		to := redirects[from]
		if _, ok := c.byTitle[title.Canonical(to)]; !ok {
			return nil, fmt.Errorf("index corpus: %q redirects to %q, which is not an article", from, to)
		}
		key := title.Canonical(from)
		c.redirects[key] = title.Canonical(to)
		c.folded[title.Fold(key)] = append(c.folded[title.Fold(key)], key)
	}
	return c, nil
}

// URL is the address of an article in a corpus.
func URL(name string) string { return title.URL(name) }

func (c *Corpus) index(i int, p *Page) {
	counts := map[string]float64{}
	for _, w := range wordsOf(p.Title) {
		counts[w] += 3
	}
	length := 0.0
	for _, w := range wordsOf(p.Text()) {
		counts[w]++
		length++
	}
	for w, n := range counts {
		c.terms[w] = append(c.terms[w], posting{i, n})
	}
	c.lengths = append(c.lengths, length)
	c.mean += (length - c.mean) / float64(len(c.lengths))
}

func wordsOf(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// Search implements [Source]. Equally good articles come in the order of their
// titles.
func (c *Corpus) Search(_ context.Context, query string, n int) ([]Hit, error) {
	best := c.ranked(query)
	return c.hits(best[:min(n, len(best))]), nil
}

// ranked lists the articles that have a word of the query, the best first.
func (c *Corpus) ranked(query string) []int {
	scores := map[int]float64{}
	asked := wordsOf(query)
	slices.Sort(asked)
	for _, w := range slices.Compact(asked) {
		list := c.terms[w]
		idf := math.Log(1 + (float64(len(c.pages))-float64(len(list))+0.5)/(float64(len(list))+0.5))
		for _, p := range list {
			norm := 1.2 * (0.25 + 0.75*c.lengths[p.page]/max(c.mean, 1))
			scores[p.page] += idf * p.count * 2.2 / (p.count + norm)
		}
	}
	best := make([]int, 0, len(scores))
	for i := range scores {
		best = append(best, i)
	}
	c.sort(best, func(i int) float64 { return scores[i] })
	return best
}

// hits shows articles as a search finds them.
func (c *Corpus) hits(pages []int) []Hit {
	hits := []Hit{}
	for _, i := range pages {
		p := c.pages[i]
		hits = append(hits, Hit{p.Title, p.URL, snippet(p.Lead)})
	}
	return hits
}

// snippet is about two lines.
func snippet(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > 160 {
		return string(r[:159]) + "…"
	}
	return text
}

// Page implements [Source]. If no title is spelled as asked, case may differ: one
// article of that name is found, and several are listed.
func (c *Corpus) Page(_ context.Context, address string) (*Page, error) {
	asked := title.Of(address)
	found := c.named(title.Canonical(asked))
	if found == nil {
		for _, name := range c.folded[title.Fold(asked)] {
			for _, i := range c.named(name) {
				if !slices.Contains(found, i) {
					found = append(found, i)
				}
			}
		}
	}
	switch len(found) {
	case 0:
		return nil, fmt.Errorf("%w: %q", ErrNoPage, asked)
	case 1:
		p := *c.pages[found[0]]
		if title.Canonical(p.Title) != title.Canonical(asked) {
			p.RedirectedFrom = asked
		}
		return &p, nil
	}
	return c.list(asked, found), nil
}

// named is the article of a canonical title or redirect.
func (c *Corpus) named(key string) []int {
	if to, ok := c.redirects[key]; ok {
		key = to
	}
	if i, ok := c.byTitle[key]; ok {
		return []int{i}
	}
	return nil
}

// list is a page that lists articles which a name may mean.
func (c *Corpus) list(name string, found []int) *Page {
	p := &Page{Title: name, URL: URL(name), Disambiguation: true, Lead: name + " may be:"}
	for _, i := range found {
		p.Lead += "\n- " + c.pages[i].Title
		p.Links = append(p.Links, c.pages[i].Title)
	}
	return p
}

// Digest identifies the corpus's content, in 12 hex digits.
func (c *Corpus) Digest() string {
	h := sha256.New()
	for _, p := range c.pages {
		fmt.Fprintf(h, "%q %q %q\n", p.Title, p.URL, p.Text())
	}
	return hex.EncodeToString(h.Sum(nil))[:12]
}

// LoadCorpus reads a corpus: a JSON Lines file of {"title", "text"}, with "url" and
// "section" if there are any, or a folder of articles as Markdown, HTML or text, whose
// titles are their first headings or else their file names.
func LoadCorpus(path string) (*Corpus, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("load corpus: there is no file or folder %q: name one that holds articles", path)
	}
	var pages []*Page
	var notes []string
	if info.IsDir() {
		pages, notes, err = loadFolder(path)
	} else {
		pages, err = loadParagraphs(path)
	}
	if err != nil {
		return nil, err
	}
	if len(pages) == 0 {
		return nil, fmt.Errorf("load corpus %s: no articles found: put .md, .html or .txt files into the folder, or name a .jsonl file", path)
	}
	c, err := NewCorpus(pages, nil)
	if err != nil {
		return nil, err
	}
	c.notes = notes
	return c, nil
}

// maxNested bounds how deep quotes and lists of Markdown may be within each other:
// the time to read them grows with the square of it.
const maxNested = 100

// deepLine is the first line that opens more quotes and lists than that; 0 if
// there is none.
func deepLine(raw []byte) int {
	number := 0
	for line := range bytes.Lines(raw) {
		number++
		marks := line[:len(line)-len(bytes.TrimLeft(line, "> -+*\t"))]
		opened := bytes.Count(marks, []byte(">"))
		for _, bullet := range []string{"- ", "+ ", "* "} {
			opened += bytes.Count(marks, []byte(bullet))
		}
		if opened > maxNested {
			return number
		}
	}
	return 0
}

// loadParagraphs joins the paragraphs of one title into an article.
func loadParagraphs(path string) ([]*Page, error) {
	var pages []*Page
	index := map[string]*Page{}
	err := task.EachLine(path, func(l task.Line) error {
		var in struct{ Title, Text, URL, Section string }
		if err := l.Decode(&in); err != nil {
			return err
		}
		if in.Title == "" || in.Text == "" {
			return l.Errorf("an article needs a title and a text")
		}
		key := title.Canonical(in.Title)
		p, ok := index[key]
		if !ok {
			p = &Page{Title: in.Title, URL: in.URL}
			index[key] = p
			pages = append(pages, p)
		}
		if in.Section != "" {
			p.Sections = append(p.Sections, Section{Title: in.Section, Level: 2, Text: in.Text})
			return nil
		}
		p.Lead = strings.TrimSpace(p.Lead + "\n" + in.Text)
		return nil
	})
	return pages, err
}

// Paragraphs makes a page of a title and its text, for data sets that come as
// paragraphs: the first is the lead, the whole a section.
func Paragraphs(title, text string) *Page {
	lead, _, _ := strings.Cut(text, ". ")
	return &Page{Title: title, Lead: lead, Sections: []Section{{Title: "Text", Level: 2, Text: text}}}
}

// marshal encodes a tool's result.
func marshal(v any) string {
	raw, err := methods.EncodeJSON(v)
	if err != nil {
		return fmt.Sprintf("%v", v)
	}
	return string(raw)
}
