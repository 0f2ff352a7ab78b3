package view

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"noema/kernel/lab"
	"noema/kernel/session/builtin"
)

func TestMain(m *testing.M) {
	if builtin.Serve(os.Args[1:]) {
		return
	}
	os.Exit(m.Run())
}

func newLab(t testing.TB) *lab.Lab {
	t.Helper()
	l := lab.Open(lab.Options{Home: t.TempDir(), Catalog: builtin.Catalog{}, Stderr: io.Discard, Context: func() context.Context { return context.WithoutCancel(t.Context()) }})
	t.Cleanup(func() { l.Close() })
	return l
}

// serve serves the page over a lab, as the verb does, and returns its address.
func serve(t testing.TB, l *lab.Lab) (base string, p *Page) {
	t.Helper()
	return serveWith(t, l, func(*Page) {})
}

// serveWith serves the page once prepare has seen it.
func serveWith(t testing.TB, l *lab.Lab, prepare func(*Page)) (base string, p *Page) {
	t.Helper()
	p, err := New(l)
	if err != nil {
		t.Fatal(err)
	}
	prepare(p)
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
		if f := p.figured; f != nil { // what the list began ends before its store is closed
			f.mu.Lock()
			defer f.mu.Unlock()
			for f.wanted = nil; f.busy; {
				f.news.Wait()
			}
		}
	})
	return "http://" + listener.Addr().String(), p
}

// visitor is a browser without a screen.
func visitor(t testing.TB, base string, p *Page) func(path string) (int, string) {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: jar}
	get := func(path string) (int, string) {
		resp, err := client.Get(base + path)
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
	if code, body := get("/?token=" + p.Token()); code != http.StatusOK {
		t.Fatalf("with the token the page says %d: %s", code, body)
	}
	return get
}

// evil is what a model or a plugin might write.
const evil = "<script>document.title='owned'</script><img src=x onerror=alert(1)>\u202eright to left\x00null\x1b[31m"

// hostileRun is a run whose texts are all evil.
func hostileRun(t testing.TB, l *lab.Lab) *lab.Result {
	t.Helper()
	tk, err := lab.NewTask("evil", lab.Question(evil, "x"), lab.Question("huge "+strings.Repeat("<b>", 200_000), "y"))
	if err != nil {
		t.Fatal(err)
	}
	if err := l.AddTask(tk); err != nil {
		t.Fatal(err)
	}
	solve := func(ctx context.Context, p lab.Problem, h lab.Host) (lab.Answer, error) {
		if _, err := lab.Reply(ctx, h, "ask/"+evil, p.Query); err != nil {
			return lab.Answer{}, err
		}
		h.Emit(lab.Event{Path: evil, Phase: evil, Kind: evil, Text: evil, Data: []byte(`"` + "</pre><script>" + `"`)})
		return lab.TextAnswer(evil), nil
	}
	if err := l.AddMethod("bad", solve, lab.Text); err != nil {
		t.Fatal(err)
	}
	result, err := l.Run(lab.Experiment{Task: "evil", Methods: []string{"bad"}, Question: evil})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func cafesRun(t testing.TB, l *lab.Lab) *lab.Result {
	t.Helper()
	result, err := l.Run(lab.Experiment{Task: "cafes", Methods: []string{"direct", "anot"}, Limit: "12"})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func TestNobodyWithoutTheTokenIsAnswered(t *testing.T) {
	base, p := serve(t, newLab(t))
	for name, change := range map[string]func(*http.Request){
		"no token":        func(*http.Request) {},
		"a wrong token":   func(r *http.Request) { r.URL.RawQuery = "token=0000" },
		"a wrong cookie":  func(r *http.Request) { r.AddCookie(&http.Cookie{Name: cookieName(r.Host), Value: "0000"}) },
		"a foreign host":  func(r *http.Request) { r.Host = "evil.example"; r.URL.RawQuery = "token=" + p.Token() },
		"a foreign page":  func(r *http.Request) { r.Header.Set("Origin", "http://evil.example"); cookie(r, p) },
		"a foreign fetch": func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site"); cookie(r, p) },
		"a post":          func(r *http.Request) { r.Method = http.MethodPost; cookie(r, p) },
	} {
		for _, path := range []string{"/", "/style.css", "/run/x", "/run/x/news", "/run/x/map", "/run/x/rows", "/run/x/drawer", "/compare?run=x", "/state", "/study/x", "/study/x/state", "/start", "/tag/x"} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			change(r)
			resp, err := http.DefaultTransport.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if err != nil || resp.StatusCode < 400 || strings.Contains(string(body), "<html") {
				t.Errorf("%s: %s says %d %.60q", name, path, resp.StatusCode, body)
			}
		}
	}
}

func cookie(r *http.Request, p *Page) {
	r.AddCookie(&http.Cookie{Name: cookieName(r.Host), Value: p.Token()})
}

func TestOnlyLoopbackIsServed(t *testing.T) {
	p, err := New(newLab(t))
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := p.Serve(t.Context(), l); err == nil || !strings.Contains(err.Error(), "loopback") {
		t.Errorf("an open port is served: %v", err)
	}
}

// TestEveryViewHasAnAddress walks from the list to a call by the links that the
// pages have.
func TestEveryViewHasAnAddress(t *testing.T) {
	l := newLab(t)
	run := cafesRun(t, l)
	base, p := serve(t, l)
	get := visitor(t, base, p)
	id := run.ID()
	for path, wants := range map[string][]string{
		"/":                                             []string{id, "simulated model", "1 run", "anot 0."},
		"/?q=cafes+nothing":                             []string{"0 of 1 run"},
		"/run/" + id:                                    []string{"hits@1", run.Root(), "simulated model", "Who beats whom", "Merit against cost", `id="hm"`, "wrong by anot", "not decided"},
		"/compare?run=" + id:                            []string{"hits@1", "Who beats whom"},
		"/run/" + id + "/news":                          []string{"Who beats whom", run.Root()},
		"/run/" + id + "/map?order=group":               []string{"<b>group</b>", "direct "},
		"/run/" + id + "/rows":                          []string{"12 samples", "R00"},
		"/run/" + id + "/rows?group=G02":                []string{"2 of 12 samples"},
		"/run/" + id + "/drawer?s=R03&m=anot":           []string{"P3/c1", "target <b>"},
		"/run/" + id + "/sample?s=R03":                  []string{"target <b>", "<b>direct</b>", "<b>anot</b>", "sample?s=R04", "P3/c1"},
		"/run/" + id + "/trial?m=anot&s=R03&e=1":        []string{"<svg", "P3/c1", `class="wf"`, `href="#call-`, "===STRATEGY===", "noema fork ", "compare with", "(places in this trial&#39;s shuffled list)"},
		"/run/" + id + "/call?m=anot&s=R03&e=1&path=P1": []string{"A user wants the items", "===STRATEGY==="},
		"/diff?a=" + id + "&b=" + id:                    []string{"24 trials same; none differs"},
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
	for _, wrong := range []string{"/run/none", "/run/" + id + "/sample?s=R99", "/run/" + id + "/trial?m=x&s=R03", "/run/" + id + "/call?m=anot&s=R03&path=P9", "/compare", "/diff?a=1&b=2", "/plot/cost", "/nowhere", "/run/" + id + "/drawer?s=R99", "/run/none/rows", "/run/none/news", "/run/none/map"} {
		if code, _ := get(wrong); code != http.StatusNotFound {
			t.Errorf("%s says %d", wrong, code)
		}
	}
}

// TestRawTrialIsNoPage: the record of a trial is sent as JSON, which no browser takes for a
// page, and its texts hold no tag.
func TestRawTrialIsNoPage(t *testing.T) {
	l := newLab(t)
	run := hostileRun(t, l)
	p, err := New(l)
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodGet, "http://localhost/run/"+run.ID()+"/trial.json?m=bad&s=1", nil)
	r.AddCookie(&http.Cookie{Name: cookieName(r.Host), Value: p.Token()})
	w := httptest.NewRecorder()
	p.ServeHTTP(w, r)
	if h := w.Header(); w.Code != http.StatusOK || !strings.HasPrefix(h.Get("Content-Type"), "application/json") || h.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("%d %v", w.Code, h)
	}
	if strings.Contains(w.Body.String(), "<script") || !strings.Contains(w.Body.String(), "script") {
		t.Errorf("%.500s", w.Body)
	}
}

func TestHostileTextIsText(t *testing.T) {
	l := newLab(t)
	run := hostileRun(t, l)
	base, p := serve(t, l)
	get := visitor(t, base, p)
	id := run.ID()
	call := "/run/" + id + "/call?" + url.Values{"m": {"bad"}, "s": {"1"}, "path": {run.Result.Trials[0].Calls[0].Path}}.Encode()
	huge := "/run/" + id + "/call?" + url.Values{"m": {"bad"}, "s": {"2"}, "path": {run.Result.Trials[1].Calls[0].Path}}.Encode()
	for _, path := range []string{"/", "/run/" + id, "/run/" + id + "?q=x", "/run/" + id + "/sample?s=1", "/run/" + id + "/trial?m=bad&s=1", call, huge, "/compare?run=" + id} {
		code, body := get(path)
		if code != http.StatusOK {
			t.Errorf("%s says %d", path, code)
		}
		if n := strings.Count(body, "<script"); n != 1 || strings.Contains(body, "<img src=x") || strings.ContainsAny(body, "\u202e\x00\x1b") {
			t.Errorf("%s lets hostile text through (%d scripts)", path, n)
		}
		if len(body) > 400_000 {
			t.Errorf("%s has %d bytes", path, len(body))
		}
	}
	for _, path := range []string{"/news", "/map", "/rows", "/rows?" + url.Values{"beats": {evil}, "over": {evil}, "q": {evil}, "sort": {evil}}.Encode(), "/drawer?s=1", "/drawer?s=2"} {
		code, body := get("/run/" + id + path)
		if code != http.StatusOK || strings.Contains(body, "<script") || strings.Contains(body, "<img src=x") || strings.ContainsAny(body, "\u202e\x00\x1b") || len(body) > 400_000 {
			t.Errorf("%s (%d, %d bytes) lets hostile text through", path, code, len(body))
		}
	}
	if _, body := get(huge + "&all=yes"); len(body) < 600_000 {
		t.Errorf("all of a huge prompt has %d bytes", len(body))
	}
}

func TestManyTrialsPageByPage(t *testing.T) {
	l := newLab(t)
	run := bigRun(t, l, 300, 6)
	base, p := serve(t, l)
	get := visitor(t, base, p)
	_, first := get("/run/" + run.ID() + "/rows")
	_, last := get("/run/" + run.ID() + "/rows?page=3")
	if !strings.Contains(first, "300 samples") || strings.Count(first, "<tr data-s") != perPage || strings.Count(last, "<tr data-s") != perPage {
		t.Errorf("pages have %d and %d rows", strings.Count(first, "<tr data-s"), strings.Count(last, "<tr data-s"))
	}
	for query, want := range map[string]string{
		"wrong=m1": "150 of 300", "beats=m0&over=m1": "150 of 300", "beats=m1&over=m0": "0 of 300", "beats=m1&over=m2": "0 of 300", "disagree=yes": "150 of 300",
		"from=0&to=10": "10 of 300", "outcome=none": "0 of 300", "q=question+299": "1 of 300", "beats=m0&over=nobody": "0 of 300",
	} {
		if _, body := get("/run/" + run.ID() + "/rows?" + query); !strings.Contains(body, want+" samples") {
			t.Errorf("?%s keeps another number than %s: %.200s", query, want, body)
		}
	}
	_, down := get("/run/" + run.ID() + "/rows?sort=-id")
	if !strings.Contains(down, `aria-sort="descending"`) || strings.Index(down, "question 299") > strings.Index(down, "question 298") {
		t.Error("the table is not sorted by id, downwards")
	}
}

// TestEpochsAreAllThere: cells tell of every epoch of a sample, and a filter finds one that
// went wrong in any.
func TestEpochsAreAllThere(t *testing.T) {
	l := newLab(t)
	tk, err := lab.NewTask("often", lab.Question("1", 1), lab.Question("2", 2))
	if err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int32
	solve := func(_ context.Context, p lab.Problem, _ lab.Host) (lab.Answer, error) {
		if p.ID == "2" && asked.Add(1) > 1 {
			return lab.NumberAnswer(7), nil
		}
		return lab.NumberAnswer(map[string]float64{"1": 1, "2": 2}[p.ID]), nil
	}
	if err := errors.Join(l.AddTask(tk), l.AddMethod("wavers", solve, lab.Number), l.AddMethod("sure", func(_ context.Context, p lab.Problem, _ lab.Host) (lab.Answer, error) {
		return lab.NumberAnswer(map[string]float64{"1": 1, "2": 2}[p.ID]), nil
	}, lab.Number)); err != nil {
		t.Fatal(err)
	}
	run, err := l.Run(lab.Experiment{Task: "often", Methods: []string{"wavers", "sure"}, Epochs: 3})
	if err != nil {
		t.Fatal(err)
	}
	base, p := serve(t, l)
	get := visitor(t, base, p)
	_, page := get("/run/" + run.ID())
	_, failed := get("/run/" + run.ID() + "/rows?wrong=wavers")
	for _, want := range []string{"1/3 ", "3/3 ", "wavers: right in 1 of 3 epochs", "wavers 4 right, 2 wrong", "sure 6 right, 0 wrong", "a cell has all 3 epochs"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	for _, at := range []string{"/drawer", "/sample"} { // each epoch leads to the others, and is what it says
		for epoch := -1; epoch <= 5; epoch++ {
			_, part := get(fmt.Sprintf("/run/%s%s?s=2&m=wavers&e=%d", run.ID(), at, epoch))
			shown := min(max(epoch, 1), 3)
			for e := 1; e <= 3; e++ {
				address := fmt.Sprintf("?e=%d&amp;m=wavers&amp;s=2\">%d</a>", e, e)
				if strings.Contains(part, address) == (e == shown) || strings.Contains(part, fmt.Sprintf("in epoch %d<", e)) != (e == shown) || strings.Contains(part, fmt.Sprintf("e=%d&amp;m=wavers&amp;s=2\">trial</a>", e)) != (e == shown) {
					t.Errorf("%s?e=%d does not show epoch %d with ways to the others:\n%s", at, epoch, shown, part)
				}
			}
		}
	}
	if !strings.Contains(failed, "1 of 2 samples") {
		t.Errorf("a sample that went wrong in two epochs is not found: %s", failed)
	}
}

// bigRun is a run of functions that ask nothing: m0 is always right, the others on
// every second sample.
func bigRun(t testing.TB, l *lab.Lab, samples, methods int) *lab.Result {
	t.Helper()
	var list []lab.Sample
	for i := range samples {
		list = append(list, lab.Question(fmt.Sprintf("question %d", i), i))
	}
	tk, err := lab.NewTask("big", list...)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.AddTask(tk); err != nil {
		t.Fatal(err)
	}
	var names []string
	for m := range methods {
		name := fmt.Sprintf("m%d", m)
		names = append(names, name)
		solve := func(_ context.Context, p lab.Problem, h lab.Host) (lab.Answer, error) {
			n := 0
			if _, err := fmt.Sscanf(p.Query, "question %d", &n); err != nil {
				return lab.Answer{}, err
			}
			h.Emit(lab.Event{Path: "P1", Phase: "P1", Kind: "step_result", Text: p.Query})
			if m > 0 {
				n -= n % 2
			}
			return lab.NumberAnswer(float64(n)), nil
		}
		if err := l.AddMethod(name, solve, lab.Number); err != nil {
			t.Fatal(err)
		}
	}
	result, err := l.Run(lab.Experiment{Task: "big", Methods: names})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func TestRedirectStaysOnItsHost(t *testing.T) {
	for path, want := range map[string]string{
		"/": "/", "/run/a%2Fb": "/run/a%2Fb?x=1", "//evil.example/": "/evil.example/", "///evil.example": "/evil.example",
		"/%2Fevil.example": "/%2Fevil.example", `/\evil.example`: "/%5Cevil.example", "/.//evil.example": "/evil.example",
	} {
		u := &url.URL{}
		u.Path, _ = url.PathUnescape(path)
		u.RawPath = path
		query := url.Values{}
		if strings.HasPrefix(path, "/run") {
			query.Set("x", "1")
		}
		if got := ownPage(u, query); got != want {
			t.Errorf("%s leads to %s, want %s", path, got, want)
		}
	}
}

// TestThePageCountsLooks: reading a page again is no look, and what others looked at
// meanwhile is told.
func TestThePageCountsLooks(t *testing.T) {
	l := newLab(t)
	base, p := serve(t, l)
	get := visitor(t, base, p)
	run := func(limit string) string {
		r, err := l.Run(lab.Experiment{Task: "arithmetic", Methods: []string{"direct", "cot"}, Limit: limit})
		if err != nil {
			t.Fatal(err)
		}
		return "/compare?run=" + r.ID()
	}
	small, large := run("6"), run("8")
	for range 2 {
		if _, body := get(small); strings.Contains(body, "look at this comparison") {
			t.Errorf("a reload is a look:\n%s", body)
		}
	}
	if _, body := get(large); !strings.Contains(body, "second look at this comparison (6, 8 samples)") {
		t.Errorf("the second look is not told:\n%s", body)
	}
	if _, body := get(small); !strings.Contains(body, "the first of 2 looks at this comparison") {
		t.Errorf("the page of the first run does not tell of the second look:\n%s", body)
	}
}

// TestTwoPagesAtOnce: in one browser, a second page on another port of this machine leaves the
// first one open.
func TestTwoPagesAtOnce(t *testing.T) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar}
	var pages []string
	for range 2 {
		p, err := New(newLab(t))
		if err != nil {
			t.Fatal(err)
		}
		server := httptest.NewServer(p)
		t.Cleanup(server.Close)
		if status(t, browser, server.URL+"/?token="+p.Token()) != http.StatusOK {
			t.Fatal("a page did not open")
		}
		pages = append(pages, server.URL)
	}
	for _, page := range pages {
		if got := status(t, browser, page+"/"); got != http.StatusOK {
			t.Errorf("the page at %s answers %d", page, got)
		}
	}
}

func status(t *testing.T, browser *http.Client, address string) int {
	t.Helper()
	r, err := browser.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	_ = r.Body.Close()
	return r.StatusCode
}
