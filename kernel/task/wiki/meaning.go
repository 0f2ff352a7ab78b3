package wiki

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"noema/kernel/task"
)

// byMeaning searches a corpus by embeddings: an article is as near to a query as
// the nearest of its passages is (Dai and Callan 2019, "Deeper Text
// Understanding for IR with Contextual Neural Language Modeling": MaxP).
type byMeaning struct {
	*Corpus
	embedder task.Embedder
	hybrid   bool // the ranking by words counts as much

	turn     chan struct{} // of one: held while the passages are embedded
	passages []passage
	vectors  [][]float32 // of the first passages, of all in the end
}

// passage is a piece of an article that is embedded as one.
type passage struct {
	page int
	text string
}

// Passages are windows that overlap by half, so that no sentence is cut in all
// of them; so many words fit the models that embed sentences.
const (
	passageWords = 120
	passageStep  = 60
)

// embeddedAtOnce is how many passages are embedded between two looks at whether
// somebody still waits, and what is told.
const embeddedAtOnce = 64

// WithEmbedder implements [task.Searcher] for a corpus. A server's search is its
// own.
func (e Environment) WithEmbedder(m task.Embedder, hybrid bool) (task.Environment, error) {
	c, ok := e.source.(*Corpus)
	if !ok {
		return nil, errors.New("the articles come from a server, which searches by itself: embeddings need a corpus")
	}
	return Environment{&byMeaning{Corpus: c, embedder: m, hybrid: hybrid, turn: make(chan struct{}, 1), passages: c.cut()}}, nil
}

// Prepare implements [task.Preparer]: it embeds a corpus that is searched by
// meaning.
func (e Environment) Prepare(ctx context.Context, progress func(done, total int)) error {
	if m, ok := e.source.(*byMeaning); ok {
		_, err := m.embedded(ctx, progress)
		return err
	}
	return nil
}

// cut lists the passages of all articles. Each begins with the names of the
// article and the section, which its text may take as known.
func (c *Corpus) cut() []passage {
	var list []passage
	for i, p := range c.pages {
		list = append(list, windows(i, p.Title, p.Lead)...)
		for _, s := range p.Sections {
			list = append(list, windows(i, p.Title+". "+s.Title, s.Text)...)
		}
	}
	return list
}

// windows cuts one text. An empty one is its heading alone.
func windows(page int, heading, text string) []passage {
	words := strings.Fields(text)
	var list []passage
	for at := 0; at == 0 || at+passageWords-passageStep < len(words); at += passageStep {
		part := strings.Join(words[at:min(at+passageWords, len(words))], " ")
		list = append(list, passage{page, strings.TrimSpace(heading + ". " + part)})
	}
	return list
}

// embedded returns the passages' vectors. Who is first makes them, the others
// wait; if the first is cancelled, another goes on.
func (m *byMeaning) embedded(ctx context.Context, progress func(done, total int)) ([][]float32, error) {
	select {
	case m.turn <- struct{}{}:
		defer func() { <-m.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	for len(m.vectors) < len(m.passages) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var texts []string
		for _, p := range m.passages[len(m.vectors):min(len(m.vectors)+embeddedAtOnce, len(m.passages))] {
			texts = append(texts, p.text)
		}
		vectors, err := m.embedder.Embed(ctx, texts)
		if err != nil {
			return nil, fmt.Errorf("embed the corpus, passage %d of %d: %w", len(m.vectors)+1, len(m.passages), err)
		}
		m.vectors = append(m.vectors, vectors...)
		if progress != nil {
			progress(len(m.vectors), len(m.passages))
		}
	}
	return m.vectors, nil
}

// Search implements [Source]. Equally near articles come in the order of their
// titles.
func (m *byMeaning) Search(ctx context.Context, query string, n int) ([]Hit, error) {
	vectors, err := m.embedded(ctx, nil)
	if err != nil {
		return nil, err
	}
	asked, err := m.embedder.Embed(ctx, []string{query})
	if err != nil {
		return nil, fmt.Errorf("embed the query: %w", err)
	}
	near := make([]float64, len(m.pages))
	for i := range near {
		near[i] = -2 // below any cosine
	}
	for i, p := range m.passages {
		near[p.page] = max(near[p.page], task.Cosine(asked[0], vectors[i]))
	}
	best := make([]int, len(m.pages))
	for i := range best {
		best[i] = i
	}
	m.sort(best, func(i int) float64 { return near[i] })
	if m.hybrid {
		m.fuse(best, m.ranked(query))
	}
	return m.hits(best[:min(n, len(best))]), nil
}

// rankConstant damps how much the first ranks of each list count.
//
// Source: Cormack, Clarke and Buettcher 2009, "Reciprocal Rank Fusion Outperforms
// Condorcet and Individual Rank Learning Methods".
const rankConstant = 60

// fuse orders list, which holds every article, by its ranks there and in other.
func (m *byMeaning) fuse(list, other []int) {
	score := make([]float64, len(m.pages))
	for _, ranking := range [][]int{slices.Clone(list), other} {
		for rank, i := range ranking {
			score[i] += 1 / float64(rankConstant+rank+1)
		}
	}
	m.sort(list, func(i int) float64 { return score[i] })
}

// sort orders articles by falling score, equal ones by their titles.
func (c *Corpus) sort(list []int, score func(int) float64) {
	slices.SortFunc(list, func(a, b int) int {
		return cmp.Or(cmp.Compare(score(b), score(a)), strings.Compare(c.pages[a].Title, c.pages[b].Title))
	})
}
