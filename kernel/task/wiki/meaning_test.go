package wiki

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"noema/kernel/task"
)

// concepts embeds a text by what its words mean, of a few words that it knows,
// and counts what it was asked.
type concepts struct {
	mu    sync.Mutex
	asked map[string]int
	after func(texts []string) error // may be nil
}

var meanings = map[string]int{
	"ship": 0, "vessel": 0, "boat": 0, "film": 1, "movie": 1, "moon": 2, "lunar": 2, "bread": 3, "loaf": 3,
}

func (*concepts) ID() string { return "concepts" }

func (c *concepts) Embed(_ context.Context, texts []string) ([][]float32, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.after != nil {
		if err := c.after(texts); err != nil {
			return nil, err
		}
	}
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		c.asked[text]++
		v, square := make([]float64, 4), 0.0
		for _, w := range wordsOf(text) {
			if k, known := meanings[w]; known {
				square += 2*v[k] + 1
				v[k]++
			}
		}
		for _, x := range v {
			vectors[i] = append(vectors[i], float32(x/max(1e-9, math.Sqrt(square))))
		}
	}
	return vectors, nil
}

func library(t *testing.T) *Corpus {
	t.Helper()
	long := strings.Repeat("nothing of note ", 200) + "the lunar surface " + strings.Repeat("and more of nothing ", 100)
	c, err := NewCorpus([]*Page{
		{Title: "Aurora", Lead: "A vessel of oak.", Sections: []Section{{Title: "History", Level: 2, Text: "It sank."}}},
		{Title: "Bakery", Lead: "They bake a loaf a day."},
		{Title: "Cinema", Lead: "Where one sees a movie.", Sections: []Section{{Title: "Long", Level: 2, Text: long}}},
		{Title: "Ship words", Lead: "A ship in every ship of words, said twenty times: no vessel."},
		{Title: "Empty"},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func titles(t *testing.T, e task.Environment, query string) string {
	t.Helper()
	hits, err := e.(Environment).source.Search(t.Context(), query, 5)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, h := range hits {
		list = append(list, h.Title)
	}
	return strings.Join(list, ",")
}

func with(t *testing.T, c *Corpus, m task.Embedder, hybrid bool) task.Environment {
	t.Helper()
	e, err := NewEnvironment(c).WithEmbedder(m, hybrid)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestSearchByMeaning(t *testing.T) {
	c := library(t)
	words := NewEnvironment(c)
	meaning := with(t, c, &concepts{asked: map[string]int{}}, false)
	hybrid := with(t, c, &concepts{asked: map[string]int{}}, true)
	for _, q := range []struct{ query, words, meaning, hybrid string }{
		// No article has the word; by meaning it is the bakery.
		{"bread", "", "Bakery,Aurora,Cinema,Empty,Ship words", "Bakery,Aurora,Cinema,Empty,Ship words"},
		// The passage that counts is deep inside a section.
		{"moon", "", "Cinema,Aurora,Bakery,Empty,Ship words", "Cinema,Aurora,Bakery,Empty,Ship words"},
		// Hybrid puts first what both have found.
		{"ship film", "Ship words", "Aurora,Cinema,Ship words,Bakery,Empty", "Ship words,Aurora,Cinema,Bakery,Empty"},
	} {
		for name, c := range map[string]struct {
			env  task.Environment
			want string
		}{"words": {words, q.words}, "meaning": {meaning, q.meaning}, "hybrid": {hybrid, q.hybrid}} {
			if got := titles(t, c.env, q.query); got != c.want {
				t.Errorf("%q by %s: %s, want %s", q.query, name, got, c.want)
			}
		}
	}
	// The other tools are as they were.
	if o, _ := tool(t, meaning.(Environment), "read_section", map[string]string{"url": "Aurora", "section": "History"}); o["text"] != "It sank." {
		t.Errorf("reading gives %v", o)
	}
}

// TestPassagesCoverEveryWord: and no sentence of half a passage is cut in all
// passages that have a part of it.
func TestPassagesCoverEveryWord(t *testing.T) {
	for _, n := range []int{0, 1, 59, 60, 61, 119, 120, 121, 180, 181, 1000} {
		words := make([]string, n)
		for i := range words {
			words[i] = fmt.Sprint("w", i)
		}
		list := windows(7, "Title. Section", strings.Join(words, "\n"))
		for at := 0; at+passageStep <= n; at++ {
			sentence := strings.Join(words[at:at+passageStep], " ")
			if !slices.ContainsFunc(list, func(p passage) bool { return strings.Contains(p.text, sentence) }) {
				t.Errorf("%d words: words %d to %d are in no passage", n, at, at+passageStep)
			}
		}
		if want := max(1, (n-1)/passageStep); len(list) != want {
			t.Errorf("%d words make %d passages, want %d", n, len(list), want)
		}
		for _, p := range list {
			if k := len(strings.Fields(p.text)); p.page != 7 || !strings.HasPrefix(p.text, "Title. Section.") || k > passageWords+2 {
				t.Errorf("%d words: passage %+v of %d words", n, p, k)
			}
		}
	}
}

// TestPrepare embeds each passage once, whoever asks, and goes on where a
// cancelled or failed attempt had come to.
func TestPrepare(t *testing.T) {
	var pages []*Page
	for i := range 400 {
		pages = append(pages, &Page{Title: fmt.Sprint("Page ", i), Lead: "text"})
	}
	c, err := NewCorpus(pages, nil)
	if err != nil {
		t.Fatal(err)
	}
	broken, ctx := errors.New("no memory"), t.Context()
	cancelled, cancel := context.WithCancel(ctx)
	m := &concepts{asked: map[string]int{}}
	m.after = func([]string) error { cancel(); return nil }
	e := with(t, c, m, false).(Environment)
	if err := e.Prepare(cancelled, nil); !errors.Is(err, context.Canceled) || len(m.asked) != embeddedAtOnce {
		t.Fatalf("cancelled: %v after %d passages", err, len(m.asked))
	}
	m.after = func([]string) error { return broken }
	if err := e.Prepare(ctx, nil); !errors.Is(err, broken) || !strings.Contains(err.Error(), fmt.Sprintf("passage %d of 400", embeddedAtOnce+1)) {
		t.Fatalf("failed: %v", err)
	}
	m.after = nil
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			last := 0
			err := e.Prepare(ctx, func(done, total int) {
				if done <= last || total != 400 {
					t.Errorf("%d of %d after %d", done, total, last)
				}
				last = done
			})
			if err != nil {
				t.Error(err)
			}
			if _, err := e.source.Search(ctx, fmt.Sprint("query ", i%2), 3); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for text, n := range m.asked {
		if n != 1 && !strings.HasPrefix(text, "query") {
			t.Errorf("%q was embedded %d times", text, n)
		}
	}
	if len(m.asked) != 402 {
		t.Errorf("%d texts were embedded", len(m.asked))
	}
	if err := NewEnvironment(c).Prepare(ctx, nil); err != nil {
		t.Errorf("without a model: %v", err)
	}
}

func TestServersSearchByThemselves(t *testing.T) {
	if _, err := NewEnvironment(&MediaWiki{}).WithEmbedder(&concepts{}, false); err == nil || !strings.Contains(err.Error(), "need a corpus") {
		t.Errorf("error %v", err)
	}
}
