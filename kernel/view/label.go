package view

import (
	"cmp"
	"net/http"
	"sync"

	"noema/kernel/lab"
	"noema/kernel/result/record"
)

// labelling is the page on which a person judges answers. It has no other address, so
// that nothing on it leads to a method or a verdict.
type labelling struct {
	mu    sync.Mutex // one label at a time
	of    *lab.Labelling
	left  int    // answers that may still be asked for; negative is all
	fault string // why the last label was not kept
}

// Labels is a Page that asks for labels, at most limit of them; 0 asks for all.
func Labels(of *lab.Labelling, limit int) (*Page, error) {
	p, err := newPage()
	if err != nil {
		return nil, err
	}
	limit = cmp.Or(limit, -1)
	p.labels = &labelling{of: of, left: limit}
	p.mux.HandleFunc("GET /{$}", p.handle(p.showLabel))
	p.mux.HandleFunc("POST /{$}", p.writes(p.label))
	return p, nil
}

// showLabel asks for one answer.
func (p *Page) showLabel(r *http.Request) (string, content, error) {
	l := p.labels
	l.mu.Lock()
	defer l.mu.Unlock()
	body := map[string]any{"Done": l.of.Done, "All": l.of.Done + len(l.of.Items), "File": l.of.File, "Fault": l.fault}
	if len(l.of.Items) > 0 && l.left != 0 {
		item, all := l.of.Items[0], r.URL.Query().Get("all") != ""
		var parts []said
		for _, part := range []said{
			{Role: "question", Text: item.Question}, {Role: "context", Text: item.Context}, {Role: "reference", Text: item.Reference},
			{Role: "what counts", Text: item.Rubric}, {Role: "answer", Text: item.Given},
		} {
			if part.Text != "" || part.Role == "answer" {
				parts = append(parts, show(part.Role, part.Text, all))
			}
		}
		body["Parts"], body["Item"] = parts, item.Of()
	}
	return "label.html", content{Title: "is the answer right?", Body: body}, nil
}

// label keeps the label of the answer that was shown. Of another one, as from a page
// that was open twice, nothing is kept: the page is shown anew.
func (p *Page) label(r *http.Request) (string, error) {
	l := p.labels
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.judge(r.PostFormValue("item"), r.PostFormValue("verdict")); err != nil {
		l.fault = err.Error()
	}
	return "/", nil
}

func (l *labelling) judge(item, verdict string) error {
	l.fault = ""
	if verdict == "back" {
		if l.of.Back() && l.left >= 0 {
			l.left++
		}
		return nil
	}
	if len(l.of.Items) == 0 || l.left == 0 || l.of.Items[0].Of() != item {
		return nil
	}
	switch j := record.Judgement(verdict); j {
	case record.JudgedRight, record.JudgedWrong, record.Skipped:
		if err := l.of.Judge(j); err != nil {
			return err
		}
		l.left--
	}
	return nil
}
