package view

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"noema/kernel/lab"
)

// browser starts a headless Chromium, or skips the test where there is none.
func browser(t *testing.T) context.Context {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Skip("no Chromium is installed: the page is not tested in a browser")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.WindowSize(1280, 900))
	alloc, stopAlloc := chromedp.NewExecAllocator(context.WithoutCancel(t.Context()), options...)
	ctx, stop := chromedp.NewContext(alloc)
	ctx, cancel := context.WithTimeout(ctx, 20*time.Minute)
	t.Cleanup(func() { cancel(); stop(); stopAlloc() })
	return ctx
}

// picture saves what the browser shows, if NOEMA_PICTURES names a folder.
func picture(t *testing.T, ctx context.Context, name string) {
	t.Helper()
	dir := os.Getenv("NOEMA_PICTURES")
	if dir == "" {
		return
	}
	var png []byte
	if err := chromedp.Run(ctx, chromedp.CaptureScreenshot(&png)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644); err != nil {
		t.Fatal(err)
	}
}

func visit(t *testing.T, ctx context.Context, actions ...chromedp.Action) {
	t.Helper()
	if err := chromedp.Run(ctx, actions...); err != nil {
		t.Fatal(err)
	}
}

// TestInABrowser opens the page, compares, drills down to a call, follows a deep
// link and uses the keyboard, while it notes every address that is asked for.
func TestInABrowser(t *testing.T) {
	ctx := browser(t)
	l := newLab(t)
	run := cafesRun(t, l)
	base, p := serve(t, l)
	var foreign []string
	chromedp.ListenTarget(ctx, func(e any) {
		if e, ok := e.(*network.EventRequestWillBeSent); ok && !strings.HasPrefix(e.Request.URL, base) && !strings.HasPrefix(e.Request.URL, "data:") {
			foreign = append(foreign, e.Request.URL)
		}
	})
	var title, text string
	visit(t, ctx, network.Enable(), chromedp.Navigate(base+"/?token="+p.Token()), chromedp.WaitVisible("table.list a"))
	picture(t, ctx, "runs")
	visit(t, ctx, chromedp.Click("table.list tbody a"), chromedp.WaitVisible("#hm"), chromedp.WaitVisible("#drawer table"), chromedp.Text("h1", &text))
	if !strings.Contains(text, "hits@1") {
		t.Errorf("the verdict is %q", text)
	}
	picture(t, ctx, "comparison")
	deep := base + "/run/" + run.ID() + "/trial?m=anot&s=R03&e=1"
	visit(t, ctx, chromedp.Navigate(deep), chromedp.WaitVisible(".gw svg"))
	picture(t, ctx, "trial")
	visit(t, ctx, chromedp.Click(".gw a"), chromedp.WaitVisible(".turn[open] .rp"), chromedp.KeyEvent("r"), chromedp.WaitVisible(".fork[open] textarea"))
	var typed string
	visit(t, ctx, chromedp.SetValue(".fork[open] textarea", "it's [1]"), chromedp.SendKeys(".fork[open] textarea", "!"), chromedp.Text(".fork[open] .cmd", &typed))
	if !strings.Contains(typed, `printf %s 'it'\''s [1]!' | noema fork `) {
		t.Errorf("the command to replace a reply is %q", typed)
	}
	visit(t, ctx, chromedp.Navigate(base+"/run/"+run.ID()+"/call?m=anot&s=R03&e=1&path=P1"), chromedp.WaitVisible(".said.reply"), chromedp.Title(&title))
	if !strings.Contains(title, "call P1") {
		t.Errorf("the first call's title is %q", title)
	}
	picture(t, ctx, "call")
	visit(t, ctx, chromedp.Navigate(base+"/run/"+run.ID()+"?order=id&s=R00"), chromedp.WaitVisible("#drawer table"), chromedp.KeyEvent("j"), drawn("R01"),
		chromedp.KeyEvent("\r"), chromedp.WaitVisible(".drawer.full table"), chromedp.Title(&title))
	if !strings.Contains(title, "sample R01") {
		t.Errorf("j Enter opens %q", title)
	}
	visit(t, ctx, chromedp.KeyEvent("n"), chromedp.WaitVisible(`//h1[contains(.,"R02")]`, chromedp.BySearch))
	picture(t, ctx, "sample")
	visit(t, ctx, emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}))
	picture(t, ctx, "sample-dark")
	if len(foreign) > 0 {
		t.Errorf("the page asked for %v", foreign)
	}
	if dir := os.Getenv("NOEMA_PICTURES"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, madeFrom), []byte(pictured(t, base, p, run)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// sees waits until a part of the page, which the script may replace at any time, says a text.
func sees(selector, text string) chromedp.Action {
	return chromedp.Poll(fmt.Sprintf(`[...document.querySelectorAll(%q)].some(e => e.textContent.includes(%q))`, selector, text), nil)
}

// drawn waits until the drawer shows a sample.
func drawn(sample string) chromedp.Action { return sees("#drawer h2", sample) }

// TestFourQuestions answers what people ask of a run: with at most two clicks, and by keys
// alone.
func TestFourQuestions(t *testing.T) {
	ctx := browser(t)
	l := newLab(t)
	gives := func(answer lab.Answer) lab.Solve {
		return func(_ context.Context, p lab.Problem, _ lab.Host) (lab.Answer, error) {
			if p.ID == "2" {
				return answer, nil
			}
			return lab.NumberAnswer(7), nil
		}
	}
	tk, err := lab.NewTask("four", lab.Question("first", 7), lab.Question("second", 7), lab.Question("third", 7))
	if err := errors.Join(err, l.AddTask(tk), l.AddMethod("good", gives(lab.NumberAnswer(7)), lab.Number), l.AddMethod("bad", gives(lab.NumberAnswer(8)), lab.Number),
		l.AddMethod("mute", gives(lab.Answer{Outcome: "unparsed", Reason: "the reply holds no number"}), lab.Number)); err != nil {
		t.Fatal(err)
	}
	run, err := l.Run(lab.Experiment{Task: "four", Methods: []string{"good", "bad", "mute"}})
	if err != nil {
		t.Fatal(err)
	}
	base, p := serve(t, l)
	kept := func(n int) chromedp.Action {
		return sees("#pages b", fmt.Sprintf("%d of 3 samples", n))
	}
	page := base + "/run/" + run.ID()
	var at, text, none string
	visit(t, ctx, chromedp.Navigate(base+"/?token="+p.Token()), chromedp.Navigate(page), chromedp.WaitVisible("#drawer table"),
		chromedp.Click(`//tr[contains(@class,"pair")][contains(.,"good − bad")]//a`, chromedp.BySearch), kept(1), drawn("2"), chromedp.Location(&at),
		sees(".first", "first difference"), chromedp.Evaluate(`document.querySelector("td.fd").textContent`, &text))
	if !strings.Contains(at, "beats=good") || !strings.Contains(at, "over=bad") || !strings.Contains(text, "8") {
		t.Errorf("a click on the pair leads to %s, where the first difference is %q", at, text)
	}
	visit(t, ctx, chromedp.KeyEvent("c"), chromedp.Poll(`document.querySelector("#pages b").textContent === "3 samples"`, nil), chromedp.Click(".causes a"), kept(1), chromedp.Evaluate(`document.querySelector(".causes").textContent`, &none))
	if !strings.Contains(none, "mute") || !strings.Contains(none, "the reply holds no number") {
		t.Errorf("why there is no answer: %q", none)
	}
	// by keys alone, also after the filter had them
	visit(t, ctx, chromedp.Navigate(page), chromedp.WaitVisible("#drawer table"), chromedp.KeyEvent("/"), chromedp.KeyEvent("\b"), chromedp.KeyEvent("second"), kept(1), drawn("2"),
		chromedp.KeyEvent("\u001b"), chromedp.KeyEvent("c"), chromedp.Poll(`document.querySelector("#pages b").textContent === "3 samples"`, nil), chromedp.KeyEvent("w"), kept(1), drawn("2"),
		chromedp.KeyEvent("d"), chromedp.Evaluate(`document.activeElement.textContent`, &text), chromedp.KeyEvent("b"),
		sees("#drawer thead", "mute"), chromedp.KeyEvent("x"), sees("#pages", "outcome none"), chromedp.Location(&at))
	if text != "first difference" || !strings.Contains(at, "outcome=none") || !strings.Contains(at, "m=mute") {
		t.Errorf("keys lead to %s; d goes to %q", at, text)
	}
	var front string
	if visit(t, ctx, chromedp.Evaluate(`document.querySelector(".board").textContent`, &front)); !strings.Contains(front, "$/1k") {
		t.Errorf("the board is %q", front)
	}
	accessible(t, ctx)
}

// accessible holds the open page to axe-core, where npm has put it.
func accessible(t *testing.T, ctx context.Context) {
	t.Helper()
	script, err := os.ReadFile(os.Getenv("NOEMA_AXE"))
	if err != nil {
		t.Log("axe-core is not there: npm install axe-core, and name its axe.min.js in NOEMA_AXE")
		return
	}
	var found string
	visit(t, ctx, chromedp.Evaluate(string(script)+";0", nil), chromedp.Evaluate(`axe.run().then(r => r.violations.map(v => v.id + ": " + v.nodes.slice(0, 3).map(n => n.html + " " + n.failureSummary).join("; ")).join("\n"))`, &found,
		func(e *runtime.EvaluateParams) *runtime.EvaluateParams { return e.WithAwaitPromise(true) }))
	if found != "" {
		t.Error(found)
	}
}

func TestHostileTextInABrowser(t *testing.T) {
	ctx := browser(t)
	l := newLab(t)
	run := hostileRun(t, l)
	base, p := serve(t, l)
	visit(t, ctx, chromedp.Navigate(base+"/?token="+p.Token()))
	call := base + "/run/" + run.ID() + "/call?" + url.Values{"m": {"bad"}, "s": {"1"}, "path": {run.Result.Trials[0].Calls[0].Path}}.Encode()
	for _, address := range []string{base + "/run/" + run.ID(), base + "/run/" + run.ID() + "/sample?s=1", base + "/run/" + run.ID() + "/trial?m=bad&s=1", call} {
		var title string
		var scripts int
		visit(t, ctx, chromedp.Navigate(address), chromedp.WaitReady("main"), chromedp.Title(&title), chromedp.Evaluate(`document.scripts.length`, &scripts))
		if title == "owned" || scripts != 1 {
			t.Errorf("%s: title %q, %d scripts", address, title, scripts)
		}
	}
	picture(t, ctx, "hostile")
}

// TestARunIsLive opens the page of a run that is under way and sees it end.
func TestARunIsLive(t *testing.T) {
	ctx := browser(t)
	l := newLab(t)
	tk, err := lab.NewTask("slow", lab.Question("1", 1), lab.Question("2", 2), lab.Question("3", 3))
	if err != nil {
		t.Fatal(err)
	}
	if err := l.AddTask(tk); err != nil {
		t.Fatal(err)
	}
	gate := make(chan struct{})
	solve := func(ctx context.Context, p lab.Problem, _ lab.Host) (lab.Answer, error) {
		if p.ID != "1" {
			select {
			case <-gate:
			case <-ctx.Done():
			}
		}
		return lab.NumberAnswer(1), nil
	}
	if err := l.AddMethod("waits", solve, lab.Number); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := l.Run(lab.Experiment{Task: "slow", Methods: []string{"waits"}})
		done <- err
	}()
	base, p := serve(t, l)
	var id string
	for id == "" {
		if runs, err := l.Runs(); err == nil && len(runs) > 0 {
			id = runs[0].ID
		}
	}
	visit(t, ctx, chromedp.Navigate(base+"/?token="+p.Token()), chromedp.Navigate(base+"/run/"+id), chromedp.WaitVisible("#state"))
	close(gate)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	visit(t, ctx, chromedp.WaitNotPresent("#state"), chromedp.WaitVisible(`//p[contains(.,"finished")]`, chromedp.BySearch))
}

// TestSpeedInABrowser measures what a person waits for with 6,000 trials, or with 80,000 where
// NOEMA_BENCH is set. The limits are generous, for slow machines; the figures are in the log.
func TestSpeedInABrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("it makes 6,000 trials")
	}
	ctx := browser(t)
	l := newLab(t)
	samples, methods := 1000, 6
	if os.Getenv("NOEMA_BENCH") != "" {
		samples, methods = 10_000, 8
	}
	run := bigRun(t, l, samples, methods)
	base, p := serve(t, l)
	visit(t, ctx, chromedp.Navigate(base+"/?token="+p.Token()))
	paint := func(path string) time.Duration {
		var ms float64
		visit(t, ctx, chromedp.Navigate(base+path), chromedp.WaitReady("main"),
			chromedp.Evaluate(`new Promise(r => requestAnimationFrame(() => setTimeout(() => { const p = performance.getEntriesByName("first-contentful-paint")[0]; r(p ? p.startTime : performance.now()) }, 50)))`, &ms,
				func(e *runtime.EvaluateParams) *runtime.EvaluateParams { return e.WithAwaitPromise(true) }))
		return time.Duration(ms * float64(time.Millisecond))
	}
	id := run.ID()
	for _, view := range []struct{ name, path string }{
		{"runs", "/"}, {"run, first time", "/run/" + id}, {"run, its numbers under way", "/run/" + id}, {"run", "/run/" + id},
		{"run, filtered", "/run/" + id + "?disagree=yes&page=3"}, {"sample", "/run/" + id + "/sample?s=500"}, {"trial", "/run/" + id + "/trial?m=m3&s=500"},
	} {
		if view.name == "run" {
			visit(t, ctx, chromedp.WaitVisible("#hm"), chromedp.WaitVisible(".forest"))
		}
		took := paint(view.path)
		t.Logf("%-27s first paint after %v", view.name, took.Round(time.Millisecond))
		if took > 5*time.Second {
			t.Errorf("%s: first paint after %v", view.name, took)
		}
	}
	visit(t, ctx, chromedp.Navigate(base+"/run/"+id), chromedp.WaitVisible("#hm"), chromedp.WaitVisible("#drawer table"))
	for _, wish := range []struct{ name, does string }{
		{"a box", `disagree.click()`}, {"a choice", `wrong.value = "m1"; wrong.dispatchEvent(new Event("input", {bubbles: true}))`},
		{"a typed text", `q.value = "9"; q.dispatchEvent(new Event("input", {bubbles: true}))`},
		{"a pair", `q.value; document.querySelector(".pair a").click()`},
	} {
		var ms float64
		visit(t, ctx, chromedp.Poll(`performance.getEntriesByType("resource").every(e => e.responseEnd > 0 && e.responseEnd < performance.now() - 300)`, nil), chromedp.Evaluate(`new Promise(r => {
			const {disagree, wrong, q} = document.querySelector("#filters").elements, begun = performance.now();
			const seen = new MutationObserver(() => { seen.disconnect(); requestAnimationFrame(() => setTimeout(() => r(performance.now() - begun))) });
			seen.observe(document.querySelector("#table").parentNode, {childList: true});
			`+wish.does+`
		})`, &ms, func(e *runtime.EvaluateParams) *runtime.EvaluateParams { return e.WithAwaitPromise(true) }))
		t.Logf("filtered by %-15s in %.0f ms", wish.name, ms)
		if ms > 5000 {
			t.Errorf("a filter by %s takes %v ms", wish.name, ms)
		}
	}
	var ms float64
	visit(t, ctx, chromedp.Navigate(base+"/run/"+id), chromedp.WaitVisible("#hm"), chromedp.Evaluate(
		`(() => { const t = performance.now(); for (let i = 0; i < 20; i++) document.dispatchEvent(new KeyboardEvent("keydown", {key: "j"})); return (performance.now() - t) / 20 })()`, &ms))
	t.Logf("a key takes %.2f ms", ms)
	if ms > 500 {
		t.Errorf("a key takes %v ms", ms)
	}
}

// TestBundleInABrowser filters a bundle, from a file server and from the disk, and opens a
// call and leaves it again.
func TestBundleInABrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	ctx := browser(t)
	l := newLab(t)
	big, cafes := bigRun(t, l, 300, 2), cafesRun(t, l)
	root := t.TempDir()
	write(t, bundleOf(l, big, cafes), filepath.Join(root, "pages", "study"))
	server := httptest.NewServer(http.FileServer(http.Dir(root)))
	defer server.Close()
	for _, base := range []string{server.URL + "/pages/study/", "file://" + root + "/pages/study/"} {
		var count, runs, query, title string
		var rows int
		filtered := func(n int) chromedp.Action {
			return chromedp.WaitVisible(fmt.Sprintf(`//p[@id="pages"][contains(.,"%d of 300 samples")]`, n), chromedp.BySearch)
		}
		visit(t, ctx, chromedp.Navigate(base+"index.html?q=cafes"), chromedp.WaitVisible("table.list a"), chromedp.Text("#count", &runs),
			chromedp.Navigate(base+"run/"+big.ID()+"/index.html?wrong=m1&page=2"), filtered(150), chromedp.Evaluate(`document.querySelectorAll("#rows tr").length`, &rows),
			chromedp.SendKeys("input[name=q]", "question 29\r"), filtered(6), chromedp.Text("#rows td:nth-child(2)", &query), chromedp.Text("#pages", &count))
		if runs != "1 of 2 runs" || rows != 50 || query != "question 29" || count != "6 of 300 samples 1" {
			t.Errorf("%s: %q; %d rows; %q, %q", base, runs, rows, query, count)
		}
		var last, first string
		visit(t, ctx, chromedp.Navigate(base+"run/"+big.ID()+"/index.html?wrong=m1"), filtered(150), chromedp.Click(".samples thead .id a"), chromedp.WaitVisible(".samples thead .id[aria-sort=ascending]"),
			chromedp.Click(".samples thead .id a"), chromedp.WaitVisible(".samples thead .id[aria-sort=descending]"), filtered(150), chromedp.Text("#rows td:nth-child(2)", &last),
			chromedp.Navigate(base+"run/"+big.ID()+"/index.html?sort=-m%3Am1"), filtered(300), chromedp.AttributeValue("#rows td:nth-child(5)", "class", &first, nil))
		if last != "question 299" || !strings.Contains(first, "bad") {
			t.Errorf("%s: downwards by id the first is %q, by how m1 came out it is %q", base, last, first)
		}
		visit(t, ctx, chromedp.Navigate(base+"run/"+cafes.ID()+"/t/00013.html"), chromedp.WaitVisible(".gw svg"), chromedp.Click("#call-1 summary"), chromedp.WaitVisible("#call-1 .rp"), chromedp.Title(&title))
		if !strings.Contains(title, "trial anot/R00/1") {
			t.Errorf("%s: the title is %q", base, title)
		}
	}
}
