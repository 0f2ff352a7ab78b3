package multihop

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"noema/kernel/base/score"
	"noema/kernel/base/title"
	"noema/kernel/task"
	"noema/kernel/task/table"
	"noema/kernel/task/wiki"
	"noema/methods"
)

// paragraph is one of the paragraphs that a question of a data set comes with.
type paragraph struct {
	Title string `json:"title"`
	Text  string `json:"text"`
}

// asking is a question of a data set.
type asking struct {
	id, question, answer, group string
	aliases, evidence           []string
	paragraphs                  []paragraph
}

// IsMuSiQue reports whether rows have MuSiQue's columns.
func IsMuSiQue(row table.Row) bool {
	return row.Has("question", "paragraphs") || row.Has("question", "question_decomposition")
}

// musique is a question of MuSiQue.
type musique struct {
	ID, Question, Answer string
	Aliases              []string `json:"answer_aliases"`
	Answerable           *bool
	Paragraphs           []struct {
		Title      string
		Text       string `json:"paragraph_text"`
		Supporting bool   `json:"is_supporting"`
	}
	Steps []json.RawMessage `json:"question_decomposition"`
}

// LoadMuSiQue reads MuSiQue (Trivedi et al. 2022): as published, in JSON Lines, or
// repacked in any other table, also with lists as JSON in texts. Questions that its
// data mark as not answerable are left out, with a note. The tools search the
// paragraphs of all questions; if searched is set, those of another corpus, and the
// rows need none.
func LoadMuSiQue(t *table.Table, searched bool) (*task.Task, error) {
	var all []asking
	unanswerable := 0
	err := t.Each(func(row table.Row) error {
		var in musique
		if err := row.Decode(&in, "answer_aliases", "paragraphs", "question_decomposition"); err != nil {
			return err
		}
		if in.Answerable != nil && !*in.Answerable {
			unanswerable++
			return nil
		}
		a := in.asking()
		if fault := a.fault(searched); fault != "" {
			return row.Errorf("%s", fault)
		}
		all = append(all, a)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("load MuSiQue: %w", err)
	}
	made, err := assemble("musique", t.Path, all)
	if err == nil && unanswerable > 0 {
		made.Notes = append(made.Notes, fmt.Sprintf("%d questions that the data mark as not answerable are left out", unanswerable))
	}
	return made, err
}

func (in musique) asking() asking {
	a := asking{id: in.ID, question: in.Question, answer: in.Answer, aliases: in.Aliases, group: fmt.Sprintf("%d hops", len(in.Steps))}
	for _, p := range in.Paragraphs {
		a.paragraphs = append(a.paragraphs, paragraph{p.Title, p.Text})
		if p.Supporting && !slices.Contains(a.evidence, p.Title) {
			a.evidence = append(a.evidence, p.Title)
		}
	}
	return a
}

// IsHotpotQA reports whether rows have HotpotQA's columns, of which its test sets
// lack the supporting facts.
func IsHotpotQA(row table.Row) bool {
	if !row.Has("question", "context") {
		return false
	}
	var q hotpot
	return row.Decode(&q) == nil && len(q.Context) > 0
}

// LoadHotpotQA reads HotpotQA (Yang et al. 2018), in the distractor or the
// full-wiki setting, as published or as the hub has it. The tools search the
// paragraphs of all questions.
func LoadHotpotQA(t *table.Table) (*task.Task, error) {
	var all []asking
	err := t.Each(func(row table.Row) error {
		var q hotpot
		if err := row.Decode(&q); err != nil {
			return err
		}
		a := q.asking()
		if fault := a.fault(false); fault != "" {
			return row.Errorf("%s", fault)
		}
		all = append(all, a)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("load HotpotQA: %w", err)
	}
	return assemble("hotpotqa", t.Path, all)
}

// hotpot is a question of HotpotQA.
type hotpot struct {
	ID                            string `json:"_id"`
	Hub                           string `json:"id"`
	Question, Answer, Type, Level string
	Facts                         facts    `json:"supporting_facts"`
	Context                       articles `json:"context"`
}

func (q hotpot) asking() asking {
	a := asking{id: cmp.Or(q.ID, q.Hub), question: q.Question, answer: q.Answer, group: q.Type, paragraphs: q.Context}
	for _, title := range q.Facts {
		if !slices.Contains(a.evidence, title) {
			a.evidence = append(a.evidence, title)
		}
	}
	return a
}

// facts are the titles of the articles that an answer takes: of pairs of title and
// sentence, or, as the hub has them, of {"title": […], "sent_id": […]}.
type facts []string

// UnmarshalJSON reads either form.
func (f *facts) UnmarshalJSON(raw []byte) error {
	var hub struct{ Title []string }
	if json.Unmarshal(raw, &hub) == nil {
		*f = hub.Title
		return nil
	}
	var pairs []pair[string, int]
	err := json.Unmarshal(raw, &pairs)
	for _, p := range pairs {
		*f = append(*f, p.First)
	}
	return err
}

// articles are pairs of title and sentences, or {"title": […], "sentences": [[…]]}.
type articles []paragraph

// UnmarshalJSON reads either form.
func (a *articles) UnmarshalJSON(raw []byte) error {
	var hub struct {
		Title     []string
		Sentences [][]string
	}
	if json.Unmarshal(raw, &hub) == nil {
		if len(hub.Title) != len(hub.Sentences) {
			return fmt.Errorf("the context has %d titles and %d texts", len(hub.Title), len(hub.Sentences))
		}
		for i, title := range hub.Title {
			*a = append(*a, paragraph{title, strings.Join(hub.Sentences[i], "")})
		}
		return nil
	}
	var pairs []pair[string, []string]
	err := json.Unmarshal(raw, &pairs)
	for _, p := range pairs {
		*a = append(*a, paragraph{p.First, strings.Join(p.Second, "")})
	}
	return err
}

// pair is a JSON list of two.
type pair[A, B any] struct {
	First  A
	Second B
}

// UnmarshalJSON reads the list.
func (p *pair[A, B]) UnmarshalJSON(raw []byte) error {
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return err
	}
	if len(list) != 2 {
		return fmt.Errorf("want a list of two members, not %d", len(list))
	}
	if err := json.Unmarshal(list[0], &p.First); err != nil {
		return err
	}
	return json.Unmarshal(list[1], &p.Second)
}

// fault says what a question lacks; one that is searched for elsewhere needs no
// paragraphs.
func (a asking) fault(searched bool) string {
	switch {
	case a.question == "":
		return "the question is missing"
	case len(a.paragraphs) == 0 && !searched:
		return "the paragraphs are missing: write corpus=FOLDER, or wikipedia=URL, for tools that search elsewhere"
	}
	return ""
}

// assemble makes a task of questions with their paragraphs.
func assemble(name, path string, all []asking) (*task.Task, error) {
	if len(all) == 0 {
		return nil, fmt.Errorf("load %s %s: the file has no questions", name, path)
	}
	t := &task.Task{Name: name, Version: version, Summary: "questions of several hops over paragraphs", Source: path, Scorer: score.Named("research")}
	fewest, most := len(all[0].paragraphs), 0
	pages, byTitle := []*wiki.Page{}, map[string]*wiki.Page{}
	for i, a := range all {
		if a.id == "" {
			a.id = fmt.Sprintf("Q%04d", i+1)
		}
		fewest, most = min(fewest, len(a.paragraphs)), max(most, len(a.paragraphs))
		for _, p := range a.paragraphs {
			pages = addParagraph(pages, byTitle, p)
		}
		var context, gold json.RawMessage
		if a.paragraphs != nil {
			context = methods.Must(json.Marshal(map[string]any{"articles": a.paragraphs}))
		}
		if a.answer != "" { // the public test sets have none
			gold = target(a.answer, a.aliases, a.evidence)
		}
		t.Samples = append(t.Samples, task.Sample{
			ID: a.id, Group: a.group, Target: gold,
			Problem:  methods.Problem{Query: a.question, Context: context, Answer: methods.AnswerSpec{Kind: methods.Text}},
			Metadata: map[string]string{"hops": strconv.Itoa(max(1, len(a.evidence)))},
		})
	}
	t.NoteUnscored()
	if most == 0 { // the tools are those of another corpus
		return t, nil
	}
	corpus, err := wiki.NewCorpus(pages, nil)
	if err != nil {
		return nil, err
	}
	t.Environment = wiki.NewEnvironment(corpus)
	t.Reading = &task.Reading{Key: "articles", What: fmt.Sprintf("%d paragraphs", most)}
	if fewest < most {
		t.Reading.What = fmt.Sprintf("%d to %d paragraphs", fewest, most)
	}
	return t, nil
}

// addParagraph adds a paragraph to the article of its title: another paragraph of
// one title is another section.
func addParagraph(pages []*wiki.Page, byTitle map[string]*wiki.Page, p paragraph) []*wiki.Page {
	key := title.Canonical(p.Title)
	page, ok := byTitle[key]
	if !ok {
		page = wiki.Paragraphs(p.Title, p.Text)
		byTitle[key] = page
		return append(pages, page)
	}
	for _, s := range page.Sections {
		if s.Text == p.Text {
			return pages
		}
	}
	page.Sections = append(page.Sections, wiki.Section{Title: fmt.Sprintf("Text %d", len(page.Sections)+1), Level: 2, Text: p.Text})
	return pages
}
