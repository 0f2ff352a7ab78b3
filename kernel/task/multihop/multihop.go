// Package multihop is the task of answering questions whose answer takes several
// articles: "What is the capital of the country of the birthplace of the director
// of Silent Harbor?". It exists because research methods are said to win by
// reading little: [New] makes a closed wiki from a seed, with long articles of
// sections, tables, lists, redirects and disambiguation pages, and questions of
// two to four hops with gold answers and gold evidence; [LoadMuSiQue] and
// [LoadHotpotQA] read public data.
//
// A problem's context has the full articles on the way to the answer among
// distractors, for methods that read everything at once; its tools search the
// wiki, inspect articles and read sections. Methods that search get the question
// without the articles, see [task.Reading].
package multihop

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"noema/kernel/base/score"
	"noema/kernel/task"
	"noema/kernel/task/wiki"
	"noema/methods"
)

// Name is the task's name.
const Name = "multihop"

// version changes whenever the same options give other samples.
const version = "1"

// Options choose a generated task. The zero value is the default task.
type Options struct {
	Questions int    `json:"questions" default:"40" min:"1" max:"2000" doc:"how many"`
	Hops      int    `json:"hops" default:"0" choices:"0,2,3,4" doc:"articles on the way to an answer: 2 to 4, or 0 for all in turn"`
	Articles  int    `json:"articles" default:"12" min:"4" max:"100" doc:"full articles in each problem's context, for methods that read everything"`
	Words     int    `json:"words" default:"4000" min:"100" max:"20000" doc:"words of filler in an article"`
	Seed      uint64 `json:"seed" default:"0" doc:"seed of the wiki and the questions"`
	Wikipedia string `json:"wikipedia" doc:"base URL of a MediaWiki server for the tools, instead of the wiki in memory"`
}

// New generates the task. The same options always give the same wiki and
// questions; where the tools get articles from makes no other task.
func New(o Options) (*task.Task, error) {
	if err := methods.ParseOptions(nil, &o); err != nil {
		return nil, fmt.Errorf("generate multihop: %w", err)
	}
	w := newWorld(o.Seed, o.Words)
	corpus, pages, err := w.corpus()
	if err != nil {
		return nil, err
	}
	t := &task.Task{
		Name: Name, Version: version, Summary: "questions of two to four hops over a closed wiki (generated)", Source: "generated",
		Config:      fmt.Sprintf("articles=%d&hops=%d&questions=%d&seed=%d&words=%d", o.Articles, o.Hops, o.Questions, o.Seed, o.Words),
		Notes:       []string{fmt.Sprintf("fictional wiki of %d articles; a problem's data are %d of them in full", len(pages), o.Articles)},
		Scorer:      score.Named("research"),
		Reading:     &task.Reading{Key: "articles", What: fmt.Sprintf("%d articles", o.Articles)},
		Environment: wiki.NewEnvironment(corpus),
	}
	if o.Wikipedia != "" {
		t.Environment = wiki.NewEnvironment(&wiki.MediaWiki{Base: o.Wikipedia})
	}
	a := &asker{world: w, pages: pages, rng: rand.New(rand.NewPCG(o.Seed, 11)), asked: map[string]bool{}}
	for i := range o.Questions {
		hops := o.Hops
		if hops == 0 {
			hops = 2 + i%3
		}
		q, ok := Question{Start: "Inception", Chain: []string{"director", "birthplace", "capital"}}, i == 0 && (o.Hops == 0 || o.Hops == 3)
		if !ok {
			if q, ok = a.question(hops); !ok {
				break // the wiki has no more
			}
		}
		s, err := a.sample(i, q, o.Articles)
		if err != nil {
			return nil, fmt.Errorf("generate multihop: %w", err)
		}
		t.Samples = append(t.Samples, s)
	}
	return t, nil
}

// Wiki is the wiki of a generated task.
type Wiki struct {
	Pages     map[string]string // HTML by title, as MediaWiki makes it: articles and disambiguation pages
	Redirects map[string]string // from title to title
	Corpus    *wiki.Corpus      // the same pages, read
}

// WikiOf returns what the tools of the task search, for tests that serve it.
func WikiOf(o Options) (Wiki, error) {
	if err := methods.ParseOptions(nil, &o); err != nil {
		return Wiki{}, fmt.Errorf("generate multihop: %w", err)
	}
	w := newWorld(o.Seed, o.Words)
	corpus, _, err := w.corpus()
	pages := map[string]string{}
	for _, t := range w.things {
		pages[t.title] = w.page(t)
	}
	for name, titles := range w.ambiguous {
		if pages[name] == "" {
			pages[name] = listPage(name, titles)
		}
	}
	return Wiki{pages, w.redirects, corpus}, err
}

// corpus parses the world's pages, the same way as a fetched article.
func (w *world) corpus() (*wiki.Corpus, map[string]*wiki.Page, error) {
	var list []*wiki.Page
	pages := map[string]*wiki.Page{}
	for _, t := range w.things {
		p, err := wiki.Parse(strings.NewReader(w.page(t)), t.title, "")
		if err != nil {
			return nil, nil, err
		}
		pages[t.title] = p
		list = append(list, p)
	}
	for _, name := range slices.Sorted(maps.Keys(w.ambiguous)) {
		p, err := wiki.Parse(strings.NewReader(listPage(name, w.ambiguous[name])), name, "")
		if err != nil {
			return nil, nil, err
		}
		list = append(list, p)
	}
	c, err := wiki.NewCorpus(list, w.redirects)
	return c, pages, err
}

// asker makes questions.
type asker struct {
	*world
	pages map[string]*wiki.Page
	rng   *rand.Rand
	asked map[string]bool
}

// question draws a chain that exists and was not asked yet.
func (a *asker) question(hops int) (Question, bool) {
	for range 2000 {
		t := a.things[a.rng.IntN(len(a.things))]
		q := Question{Start: t.title}
		at := t
		for range hops {
			names := slices.Sorted(maps.Keys(at.facts))
			if len(names) == 0 {
				break
			}
			name := names[a.rng.IntN(len(names))]
			q.Chain = append(q.Chain, name)
			next, ok := a.byTitle[at.facts[name]]
			if !ok { // a river has no article
				next = &thing{facts: map[string]string{}}
			}
			at = next
		}
		if key := q.String(); len(q.Chain) == hops && !a.asked[key] && !loops(q.Chain) {
			a.asked[key] = true
			return q, true
		}
	}
	return Question{}, false
}

// loops reports whether a chain goes back and forth between spouses.
func loops(chain []string) bool {
	for i := 1; i < len(chain); i++ {
		if chain[i] == "spouse" && chain[i-1] == "spouse" {
			return true
		}
	}
	return false
}

// sample makes the problem of a question, with its gold answer and evidence.
func (a *asker) sample(i int, q Question, articles int) (task.Sample, error) {
	at, path := q.Start, []string{}
	for _, name := range q.Chain {
		t := a.byTitle[at]
		if t == nil || t.facts[name] == "" {
			return task.Sample{}, fmt.Errorf("%q: nothing is known of the %s of %s", q, name, at)
		}
		path = append(path, at)
		at = t.facts[name]
	}
	chosen := slices.Clone(path)
	for len(chosen) < min(articles, len(a.things)) {
		if t := a.things[a.rng.IntN(len(a.things))]; !slices.Contains(chosen, t.title) {
			chosen = append(chosen, t.title)
		}
	}
	slices.Sort(chosen) // so that their order tells nothing
	type article struct {
		Title string `json:"title"`
		Text  string `json:"text"`
	}
	var list []article
	for _, title := range chosen {
		list = append(list, article{title, a.pages[title].Text()})
	}
	context := methods.Must(json.Marshal(map[string]any{"articles": list}))
	return task.Sample{
		ID: fmt.Sprintf("M%03d", i+1), Group: fmt.Sprintf("%d hops", len(q.Chain)), Target: target(at, nil, path),
		Problem:  methods.Problem{Query: q.String(), Context: context, Answer: methods.AnswerSpec{Kind: methods.Text}},
		Metadata: map[string]string{"path": strings.Join(path, " → "), "hops": strconv.Itoa(len(q.Chain))},
	}, nil
}

// target is the gold answer with the titles of the articles that it takes.
func target(answer string, aliases, evidence []string) json.RawMessage {
	return methods.Must(json.Marshal(struct {
		Answer   string   `json:"answer"`
		Aliases  []string `json:"aliases,omitempty"`
		Evidence []string `json:"evidence"`
	}{answer, aliases, evidence}))
}
