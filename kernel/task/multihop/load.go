package multihop

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"noema/kernel/files"
	"noema/kernel/task"
	"noema/kernel/task/internal/words"
	"noema/kernel/task/wiki"
	"noema/kernel/task/wiki/title"
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

// LoadMuSiQue reads MuSiQue's JSON Lines (Trivedi et al. 2022). Questions that
// its data mark as not answerable are left out, with a note. The tools search the
// paragraphs of all questions.
func LoadMuSiQue(path string) (*task.Task, error) {
	var all []asking
	unanswerable := 0
	err := task.EachLine(path, func(l task.Line) error {
		var in struct {
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
		if err := l.Decode(&in); err != nil {
			return err
		}
		if in.Answerable != nil && !*in.Answerable {
			unanswerable++
			return nil
		}
		a := asking{id: in.ID, question: in.Question, answer: in.Answer, aliases: in.Aliases, group: fmt.Sprintf("%d hops", len(in.Steps))}
		for _, p := range in.Paragraphs {
			a.paragraphs = append(a.paragraphs, paragraph{p.Title, p.Text})
			if p.Supporting && !slices.Contains(a.evidence, p.Title) {
				a.evidence = append(a.evidence, p.Title)
			}
		}
		if fault := a.fault(); fault != "" {
			return l.Errorf("%s", fault)
		}
		all = append(all, a)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("load MuSiQue: %w", err)
	}
	t, err := assemble("musique", path, all)
	if err == nil && unanswerable > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("%d questions that the data mark as not answerable are left out", unanswerable))
	}
	return t, err
}

// LoadHotpotQA reads HotpotQA's JSON (Yang et al. 2018), in the distractor or the
// full-wiki setting. The tools search the paragraphs of all questions.
func LoadHotpotQA(path string) (*task.Task, error) {
	var all []asking
	err := files.EachElement(path, func(number int, raw []byte) error {
		var q hotpot
		if err := json.Unmarshal(raw, &q); err != nil {
			return words.Of(err)
		}
		a := q.asking()
		if fault := a.fault(); fault != "" {
			return errors.New(fault)
		}
		all = append(all, a)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("load HotpotQA: %w", err)
	}
	return assemble("hotpotqa", path, all)
}

// hotpot is a question of HotpotQA.
type hotpot struct {
	ID                            string `json:"_id"`
	Question, Answer, Type, Level string
	Facts                         []pair[string, int]      `json:"supporting_facts"`
	Context                       []pair[string, []string] `json:"context"`
}

func (q hotpot) asking() asking {
	a := asking{id: q.ID, question: q.Question, answer: q.Answer, group: q.Type}
	for _, f := range q.Facts {
		if !slices.Contains(a.evidence, f.First) {
			a.evidence = append(a.evidence, f.First)
		}
	}
	for _, c := range q.Context {
		a.paragraphs = append(a.paragraphs, paragraph{c.First, strings.Join(c.Second, "")})
	}
	return a
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

func (a asking) fault() string {
	switch {
	case a.question == "":
		return "the question is missing"
	case len(a.paragraphs) == 0:
		return "the paragraphs are missing"
	}
	return ""
}

// assemble makes a task of questions with their paragraphs.
func assemble(name, path string, all []asking) (*task.Task, error) {
	if len(all) == 0 {
		return nil, fmt.Errorf("load %s %s: the file has no questions", name, path)
	}
	t := &task.Task{Name: name, Version: version, Summary: "questions of several hops over paragraphs", Source: path, Scorer: "research"}
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
		context, err := json.Marshal(map[string]any{"articles": a.paragraphs})
		if err != nil {
			return nil, err
		}
		var gold json.RawMessage
		if a.answer != "" { // the public test sets have none
			if gold, err = target(a.answer, a.aliases, a.evidence); err != nil {
				return nil, err
			}
		}
		t.Samples = append(t.Samples, task.Sample{
			ID: a.id, Group: a.group, Target: gold,
			Problem:  methods.Problem{Query: a.question, Context: context, Answer: methods.AnswerSpec{Kind: methods.Text}},
			Metadata: map[string]string{"hops": strconv.Itoa(max(1, len(a.evidence)))},
		})
	}
	t.NoteUnscored()
	corpus, err := wiki.NewCorpus(pages, nil)
	if err != nil {
		return nil, err
	}
	t.Environment = wiki.NewEnvironment(corpus, wiki.Options{})
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
