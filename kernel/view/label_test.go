package view

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"noema/kernel/lab"
	"noema/kernel/result/record"
)

// gradedRun has hostile and endless answers of a method with a name that must not show,
// graded with a rubric.
func gradedRun(t *testing.T, l *lab.Lab) *lab.Result {
	t.Helper()
	file := filepath.Join(t.TempDir(), "grader.yaml")
	if err := os.WriteFile(file, []byte(`default: {reply: "Answer: INCORRECT"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	tk, err := lab.NewTask("asked", lab.Question("What is the capital of France?", "Paris"), lab.Question("Which metal is liquid at room temperature?", "mercury"), lab.Question("What is the opposite of hot?", "cold"))
	if err == nil {
		err = l.AddTask(tk)
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, answer := range map[string]string{"hushhush": evil, "quietly": "endless " + strings.Repeat("<b>", 100_000)} {
		if err := l.AddMethod(name, func(_ context.Context, p lab.Problem, _ lab.Host) (lab.Answer, error) {
			return lab.TextAnswer(answer + p.Query[:7]), nil
		}, lab.Text); err != nil {
			t.Fatal(err)
		}
	}
	r, err := l.Run(lab.Experiment{Task: "asked", Methods: []string{"hushhush", "quietly"}, Scorers: []string{"graded?model=scripted/" + file + "&rubric=Only+the+word+counts"}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// labelPage serves the page over a run, and returns a person with its token.
func labelPage(t *testing.T, r *lab.Result, limit int) (base string, p *Page, person *http.Client) {
	t.Helper()
	l, err := r.Labelling(1)
	if err != nil {
		t.Fatal(err)
	}
	if p, err = Labels(l, limit); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- p.Serve(ctx, listener) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return "http://" + listener.Addr().String(), p, &http.Client{Jar: jar}
}

func read(t *testing.T, resp *http.Response, err error) (int, string) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(raw)
}

var itemField = regexp.MustCompile(`name="item" value="([0-9a-f]*)"`)

// TestLabelPage: a person sees question, reference, rubric and one answer, and neither
// method nor verdict; each label is in the file before the next answer is shown; forms
// of other pages, old forms and other addresses get nothing.
func TestLabelPage(t *testing.T) {
	run := gradedRun(t, newLab(t))
	base, p, person := labelPage(t, run, 5)
	get := func(path string) string {
		resp, err := person.Get(base + path)
		code, body := read(t, resp, err)
		if code != http.StatusOK {
			t.Fatalf("%s: %d %s", path, code, body)
		}
		return body
	}
	page := get("/?token=" + p.Token())
	send := func(token, item, verdict string) (int, string) {
		resp, err := person.PostForm(base+"/", url.Values{"token": {token}, "item": {item}, "verdict": {verdict}})
		return read(t, resp, err)
	}
	lines := func() int {
		raw, err := os.ReadFile(p.labels.of.File)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return strings.Count(string(raw), "\n")
	}
	item := func(page string) string { return itemField.FindStringSubmatch(page)[1] }

	if code, _ := send("another", item(page), "right"); code != http.StatusForbidden {
		t.Errorf("a form without the token is answered with %d", code)
	}
	foreign, _ := http.NewRequest(http.MethodPost, base+"/", strings.NewReader("token="+p.Token()+"&verdict=right&item="+item(page)))
	foreign.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	foreign.Header.Set("Origin", "http://127.0.0.1:1")
	resp, err := person.Do(foreign)
	if code, _ := read(t, resp, err); code != http.StatusForbidden {
		t.Errorf("a form of another page is answered with %d", code)
	}
	first := item(page)
	for n, verdict := range []string{"right", "wrong", "skipped", "right", "back", "wrong", "right"} {
		for _, secret := range []string{"hushhush", "quietly", "INCORRECT", "graded", "<script>", "<img", "<b>", "\x1b", "\u202e"} {
			if strings.Contains(strings.Replace(page, `<script src="/script.js" defer></script>`, "", 1), secret) {
				t.Fatalf("the page shows %q", secret)
			}
		}
		if len(page) > 400<<10 || !strings.Contains(page, "Only the word counts") || !strings.Contains(page, "<h2>reference</h2>") || !strings.Contains(page, "<h2>answer</h2>") {
			t.Fatalf("the page of %d bytes lacks a part: %.2000s", len(page), page)
		}
		if _, page = send(p.Token(), item(page), verdict); lines() != []int{1, 2, 3, 4, 4, 5, 6}[n] {
			t.Fatalf("after %d labels the file has %d", n+1, lines())
		}
	}
	if _, page = send(p.Token(), first, "wrong"); lines() != 6 || !strings.Contains(page, "5 of 6 answers") || !strings.Contains(page, "what you asked for") {
		t.Errorf("after the limit a form is kept: %d lines, %.900s", lines(), page)
	}
	for _, path := range []string{"/run/" + run.ID(), "/compare", "/run/" + run.ID() + "/samples"} {
		resp, err := person.Get(base + path)
		if code, body := read(t, resp, err); code != http.StatusNotFound {
			t.Errorf("%s is answered with %d: %.200s", path, code, body)
		}
	}
	again, err := run.Labelling(1)
	if err != nil || again.Done != 5 || len(again.Items) != 1 {
		t.Errorf("%d labels are kept, %v", again.Done, err)
	}
}

// TestLabelInABrowser labels by keys.
func TestLabelInABrowser(t *testing.T) {
	ctx := browser(t)
	base, p, _ := labelPage(t, gradedRun(t, newLab(t)), 0)
	visit(t, ctx, chromedp.Navigate(base+"/?token="+p.Token()), chromedp.WaitVisible("button[value=right]"))
	picture(t, ctx, "label")
	for _, step := range []struct{ key, then string }{{"y", "1 of 6"}, {"s", "2 of 6"}, {"b", "1 of 6"}, {"n", "2 of 6"}, {"y", "3 of 6"}, {"n", "4 of 6"}, {"y", "5 of 6"}, {"n", "Every answer is labelled"}} {
		if _, err := chromedp.RunResponse(ctx, chromedp.KeyEvent(step.key)); err != nil {
			t.Fatalf("key %s: %v", step.key, err)
		}
		var text string
		if visit(t, ctx, chromedp.Text("main", &text)); !strings.Contains(text, step.then) {
			t.Fatalf("after the key %s: %.300s", step.key, text)
		}
	}
	picture(t, ctx, "labelled")
	want := []record.Judgement{record.JudgedRight, record.JudgedWrong, record.JudgedRight, record.JudgedWrong, record.JudgedRight, record.JudgedWrong}
	raw, err := os.Open(p.labels.of.File)
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	labels, err := record.ReadLabels(raw)
	if err != nil || len(labels) != len(want) {
		t.Fatalf("%d labels, %v", len(labels), err)
	}
	for i, l := range labels {
		if l.Label != want[i] {
			t.Errorf("label %d is %s, want %s", i+1, l.Label, want[i])
		}
	}
}
