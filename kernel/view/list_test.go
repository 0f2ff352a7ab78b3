package view

import (
	"context"
	"html"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"noema/kernel/base/display"
	"noema/kernel/lab"
	"noema/kernel/result/record"
)

// post sends a form to a page as a browser with its cookie does.
func post(t *testing.T, base, path string, p *Page, form url.Values, change func(*http.Request)) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+path, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	cookie(r, p)
	change(r)
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode
}

// TestOnlyThePageItselfWrites: no form is answered without the token in it, from another
// site, or through another name of this machine.
func TestOnlyThePageItselfWrites(t *testing.T) {
	l := newLab(t)
	run := cafesRun(t, l)
	base, p := serveStarting(t, l, func(context.Context, ...string) *exec.Cmd {
		t.Error("a process is started")
		return exec.Command("false")
	})
	token := url.Values{"token": {p.Token()}, "tags": {"mine"}, "task": {"cafes"}, "methods": {"direct"}, "job": {"1"}}
	for name, c := range map[string]struct {
		form   url.Values
		change func(*http.Request)
	}{
		"no token in the form":  {url.Values{"tags": {"mine"}}, func(*http.Request) {}},
		"a wrong token":         {url.Values{"token": {"00"}, "tags": {"mine"}}, func(*http.Request) {}},
		"a foreign page":        {token, func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") }},
		"a page without origin": {token, func(r *http.Request) { r.Header.Set("Origin", "null"); r.Header.Set("Sec-Fetch-Site", "cross-site") }},
		"a foreign navigation": {token, func(r *http.Request) {
			r.Header.Set("Sec-Fetch-Site", "cross-site")
			r.Header.Set("Sec-Fetch-Mode", "navigate")
		}},
		"a rebound name":  {token, func(r *http.Request) { r.Host = "evil.example" }},
		"no cookie":       {token, func(r *http.Request) { r.Header.Del("Cookie") }},
		"a huge form":     {url.Values{"note": {strings.Repeat("x", maxForm)}, "token": {p.Token()}}, func(*http.Request) {}},
		"the token in it": {url.Values{"tags": {"mine"}}, func(r *http.Request) { r.URL.RawQuery = "x=" + p.Token() }},
	} {
		for _, path := range []string{"/tag/" + run.ID(), "/start/price", "/start/begin", "/start/stop"} {
			if code := post(t, base, path, p, c.form, c.change); code < 400 {
				t.Errorf("%s: %s says %d", name, path, code)
			}
		}
	}
	get := visitor(t, base, p)
	if _, body := get("/"); strings.Contains(body, "mine") {
		t.Error("a tag of another site was kept")
	}
	if code := post(t, base, "/tag/"+run.ID(), p, token, func(*http.Request) {}); code != http.StatusSeeOther {
		t.Errorf("the page's own form says %d", code)
	}
	if _, body := get("/?q=mine"); !strings.Contains(body, `<span class="tag">mine</span>`) || !strings.Contains(body, "1 run") {
		t.Errorf("the tag is not shown or not found:\n%s", body)
	}
}

// serveStarting serves a page from which commands are started by command.
func serveStarting(t *testing.T, l *lab.Lab, command func(context.Context, ...string) *exec.Cmd) (string, *Page) {
	t.Helper()
	return serveWith(t, l, func(p *Page) {
		p.Starts(Starter{Verb: []string{"noema", "compare"}, Command: command, Options: []StartOption{
			{Name: "task", Doc: "task", Default: "cafes", Values: []string{"cafes"}}, {Name: "methods", Doc: "methods", Values: []string{"direct", "aot"}, Only: true}, {Name: "limit", Doc: "samples"},
		}})
	})
}

// TestStartFromThePage: a command is composed as a shell reads it, started only once its
// price was shown, without a shell, and not with programs that noema does not list.
func TestStartFromThePage(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no sh here")
	}
	var asked [][]string
	l := newLab(t)
	base, p := serveStarting(t, l, func(ctx context.Context, args ...string) *exec.Cmd {
		asked = append(asked, args)
		c := exec.CommandContext(ctx, sh, "-c", `echo "{\"event\":\"start\",\"run\":\"RUN\",\"schema\":1}" >&2; echo about $# words`, "sh")
		c.Args = append(c.Args, args...)
		return c
	})
	get := visitor(t, base, p)
	for query, want := range map[string]string{
		"task=cafes%3Fn%3D20%26requests%3D5&methods=direct,aot": "noema compare --task &#39;cafes?n=20&amp;requests=5&#39; --methods direct,aot",
		"task=$(touch+x)":            "noema compare --task &#39;$(touch x)&#39;",
		"methods=exec:sh":            "only what noema lists is started",
		"methods=./plugin,direct":    "only what noema lists is started",
		"task=--home":                "begins with no dash",
		"task=a%0Ab":                 "has one line",
		"task=<script>&limit=<img>'": "&lt;script&gt;",
	} {
		if code, body := get("/start?" + query); code != http.StatusOK || !strings.Contains(body, want) || strings.Contains(body, "<script>&") || strings.Contains(body, "<img>") {
			t.Errorf("%s: %d, without %q:\n%s", query, code, want, body)
		}
	}
	form := url.Values{"token": {p.Token()}, "task": {"cafes"}, "methods": {"direct"}}
	none := func(*http.Request) {}
	if code := post(t, base, "/start/begin", p, form, none); code != http.StatusBadRequest || len(asked) != 0 {
		t.Errorf("without its price it says %d and starts %v", code, asked)
	}
	if code := post(t, base, "/start/price", p, form, none); code != http.StatusSeeOther || strings.Join(asked[0], " ") != "compare --task cafes --methods direct --dry-run" {
		t.Errorf("the price says %d and asks %v", code, asked)
	}
	if _, body := get("/start?task=cafes&methods=direct"); !strings.Contains(body, "about 6 words") || !strings.Contains(body, "start it on this machine") {
		t.Errorf("the price is not shown:\n%s", body)
	}
	if code := post(t, base, "/start/begin", p, form, none); code != http.StatusSeeOther || strings.Join(asked[1], " ") != "compare --task cafes --methods direct" {
		t.Errorf("the start says %d and starts %v", code, asked)
	}
	for end := time.Now().Add(time.Minute); ; {
		_, body := get("/start")
		if strings.Contains(body, `href="/run/RUN"`) && strings.Contains(body, ">done<") {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("the job does not end:\n%s", body)
		}
	}
	if code := post(t, base, "/start/begin", p, form, none); code != http.StatusBadRequest {
		t.Errorf("it starts a second time without its price: %d", code)
	}
}

// TestTheList: reruns of one root are one row, filters and orders hold, and runs that cannot
// be compared are explained.
func TestTheList(t *testing.T) {
	l := newLab(t)
	first, again := cafesRun(t, l), fresh(t, l)
	other, err := l.Run(lab.Experiment{Task: "cafes?n=20", Methods: []string{"direct", "aot"}, Limit: "12"})
	if err != nil {
		t.Fatal(err)
	}
	base, p := serve(t, l)
	get := visitor(t, base, p)
	for path, wants := range map[string][]string{
		"/":                    {"2 runs, 1 rerun folded", first.ID(), again.ID(), other.ID(), "1 rerun, same root"},
		"/?fold=no":            {"3 runs"},
		"/?q=" + first.ID():    {"1 of 2 runs", again.ID()},
		"/?q=aot+cafes":        {"1 of 2 runs"},
		"/?q=" + other.Root():  {"1 of 2 runs"},
		"/?sort=score&q=cafes": {"2 runs"},
		"/compare?run=" + first.ID() + "&run=" + other.ID(): {"the data differ", "pair them by id", "force=yes"},
		"/diff?run=" + first.ID() + "&run=" + again.ID():    {"24 trials same; none differs"},
		"/diff?run=" + first.ID() + "&run=" + other.ID():    {"pair them by id"},
	} {
		code, body := get(path)
		if code != http.StatusOK {
			t.Errorf("%s says %d: %.300s", path, code, body)
		}
		for _, want := range wants {
			if !strings.Contains(body, want) {
				t.Errorf("%s does not say %q", path, want)
			}
		}
	}
	for _, wrong := range []string{"/diff?run=" + first.ID(), "/diff?run=a&run=b&run=c"} {
		if code, _ := get(wrong); code != http.StatusNotFound {
			t.Errorf("%s says %d", wrong, code)
		}
	}
	get("/state") // has all figures made
	_, a := get("/state")
	if _, b := get("/state"); a != b || a == "" {
		t.Errorf("the list changes by itself: %q, %q", a, b)
	}
}

// fresh is the run of cafesRun once more.
func fresh(t *testing.T, l *lab.Lab) *lab.Result {
	t.Helper()
	again, err := l.Run(lab.Experiment{Task: "cafes", Methods: []string{"direct", "anot"}, Limit: "12", Fresh: true})
	if err != nil {
		t.Fatal(err)
	}
	return again
}

// TestAStudyHasAPage: its heat map leads to the runs of its cells, and its forest is of the
// pair that is asked for.
func TestAStudyHasAPage(t *testing.T) {
	l := newLab(t)
	s, err := l.Study(lab.Experiment{Task: "cafes", Tasks: []string{"arithmetic"}, Methods: []string{"direct", "cot", "aot"}, Limit: "10"})
	if err != nil {
		t.Fatal(err)
	}
	base, p := serve(t, l)
	get := visitor(t, base, p)
	if _, body := get("/"); !strings.Contains(body, `href="/study/`+s.Run.ID) || !strings.Contains(body, `data-trials="60"`) || strings.Contains(body, s.Results()[0].ID()) {
		t.Errorf("the list lacks the study or has its cells:\n%s", body)
	}
	code, body := get("/study/" + s.Run.ID + "?pair=" + url.QueryEscape("cot − direct"))
	for _, want := range []string{`class="dia`, `href="/run/` + s.Results()[0].ID() + `"`, "rank 1 to", "the whole", s.Run.Root, "mean of all"} {
		if code != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("the study says %d and not %q", code, want)
		}
	}
	for query, want := range map[string]string{"": "score within a budget of", "?curve=calls": "<b>calls</b>", "?baseline=cot&curve=cost": "<b>cost</b>"} {
		if code, body := get("/study/" + s.Run.ID + query); code != http.StatusOK || !strings.Contains(body, want) || strings.Count(body, `<div class="wide plot"`) < 3 {
			t.Errorf("%s says %d and not %q, or has no curves", query, code, want)
		}
	}
	if code, _ := get("/study/nothing"); code != http.StatusNotFound {
		t.Errorf("no study says %d", code)
	}
}

// TestARunUnderWayIsNeverToldToResume: while a process works on a run, its page says what
// that does, and counts the calls of the trials that are there.
func TestARunUnderWayIsNeverToldToResume(t *testing.T) {
	l := newLab(t)
	tk, err := lab.NewTask("slow", lab.Question("1", 1), lab.Question("2", 2), lab.Question("3", 3))
	if err != nil {
		t.Fatal(err)
	}
	if err := l.AddTask(tk); err != nil {
		t.Fatal(err)
	}
	gate, waits := make(chan struct{}), make(chan struct{}, 3)
	solve := func(ctx context.Context, p lab.Problem, h lab.Host) (lab.Answer, error) {
		if _, err := lab.Reply(ctx, h, "ask", p.Query); err != nil {
			return lab.Answer{}, err
		}
		if p.ID == "1" {
			return lab.Answer{}, os.ErrDeadlineExceeded
		}
		waits <- struct{}{}
		select {
		case <-gate:
		case <-ctx.Done():
		}
		return lab.NumberAnswer(1), nil
	}
	if err := l.AddMethod("waits", solve, lab.Number); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := l.Run(lab.Experiment{Task: "slow", Methods: []string{"waits"}, MaxSamples: 3})
		done <- err
	}()
	<-waits
	<-waits
	runs, err := l.Runs()
	if err != nil || len(runs) != 1 || runs[0].Status == record.Finished {
		t.Fatalf("%d runs, %v", len(runs), err)
	}
	base, p := serve(t, l)
	get := visitor(t, base, p)
	for end, body := time.Now().Add(time.Minute), ""; !strings.Contains(body, "waits/2/1") || !strings.Contains(body, "1 of 3 trials"); {
		if _, body = get("/run/" + runs[0].ID); time.Now().After(end) {
			t.Fatalf("the page does not say what it does:\n%s", body)
		}
		if strings.Contains(body, "resume the run") || strings.Contains(body, "goes on where") || !strings.Contains(body, ">running<") {
			t.Fatalf("a run under way is told to resume:\n%s", body)
		}
		if strings.Contains(body, "1 of 3") && !strings.Contains(body, "1 calls so far") {
			t.Fatalf("the calls are not counted:\n%s", body)
		}
	}
	close(gate)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if _, body := get("/"); strings.Contains(body, ">running<") || strings.Contains(body, ">stopped<") {
		t.Error("a finished run is under way")
	}
}

// TestHostileTags: what a person or a program says of a run is text.
func TestHostileTags(t *testing.T) {
	l := newLab(t)
	run := cafesRun(t, l)
	base, p := serve(t, l)
	form := url.Values{"token": {p.Token()}, "tags": {`"><script>alert(1)</script>`}, "note": {evil}}
	if code := post(t, base, "/tag/"+run.ID(), p, form, func(*http.Request) {}); code != http.StatusSeeOther {
		t.Fatalf("it says %d", code)
	}
	_, body := visitor(t, base, p)("/")
	if strings.Count(body, "<script") != 1 || strings.Contains(body, "<img src=x") || strings.ContainsAny(body, "\u202e\x00\x1b") {
		t.Errorf("hostile tags get through:\n%s", body)
	}
}

// TestTickedRunsInABrowser: with the keyboard alone two runs are ticked and compared in
// place, and a choice is offered where their data differ.
func TestTickedRunsInABrowser(t *testing.T) {
	ctx := browser(t)
	l := newLab(t)
	cafesRun(t, l)
	fresh(t, l)
	if _, err := l.Run(lab.Experiment{Task: "cafes?n=20", Methods: []string{"direct", "aot"}, Limit: "12"}); err != nil {
		t.Fatal(err)
	}
	base, p := serve(t, l)
	var text, ticked string
	visit(t, ctx, chromedp.Navigate(base+"/?token="+p.Token()), chromedp.Navigate(base+"/?fold=no"), chromedp.WaitVisible("table.list .noema-plot"),
		chromedp.KeyEvent("j"), chromedp.KeyEvent("x"), chromedp.KeyEvent("j"), chromedp.KeyEvent("x"), chromedp.Text("#ticked", &ticked), chromedp.KeyEvent("c"),
		chromedp.WaitVisible(`#place a[href*="force=yes"]`), chromedp.Text("#place", &text))
	if ticked != "2 runs" || !strings.Contains(text, "pair them by id") {
		t.Errorf("ticked %q, in place: %s", ticked, text)
	}
	picture(t, ctx, "choice")
	visit(t, ctx, chromedp.KeyEvent("x"), chromedp.KeyEvent("k"), chromedp.KeyEvent("x"), chromedp.KeyEvent("j"), chromedp.KeyEvent("x"), chromedp.KeyEvent("j"), chromedp.KeyEvent("x"), chromedp.KeyEvent("d"),
		chromedp.WaitVisible(`//section[@id="place"][contains(.,"24 trials same")]`, chromedp.BySearch))
	picture(t, ctx, "runs-diff")
}

// TestDiffIsMarked: the page's diff is the terminal's, with what is gone and new as elements.
func TestDiffIsMarked(t *testing.T) {
	l := newLab(t)
	var runs []*lab.Result
	for _, n := range []string{"10", "20"} {
		r, err := l.Run(lab.Experiment{Task: "cafes?n=" + n, Methods: []string{"direct", "anot"}, Limit: "6"})
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, r)
	}
	d, err := runs[0].Diff(runs[1], true)
	if err != nil {
		t.Fatal(err)
	}
	base, p := serve(t, l)
	_, body := visitor(t, base, p)("/diff?force=yes&a=" + runs[0].ID() + "&b=" + runs[1].ID())
	_, body, _ = strings.Cut(body, `<pre class="diff">`)
	body, _, _ = strings.Cut(body, "</pre>")
	got := html.UnescapeString(strings.NewReplacer("<del>", "[-", "</del>", "-]", "<ins>", "{+", "</ins>", "+}").Replace(body))
	if want := string(d.Display()[display.PlainText]); got != want || strings.Count(body, "<del>") < 10 || strings.Count(body, "<ins>") < 10 {
		t.Errorf("the page says\n%.2000s\nwant\n%.2000s", got, want)
	}
}
