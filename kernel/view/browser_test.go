package view

import (
	"context"
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
	ctx, cancel := context.WithTimeout(ctx, 90*time.Second)
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
	visit(t, ctx, chromedp.Click("table.list a"), chromedp.WaitVisible("p.links"))
	picture(t, ctx, "run")
	visit(t, ctx, chromedp.Click(`p.links a[href^="/compare"]`), chromedp.WaitVisible(".plots img"), chromedp.Text("p.verdict", &text))
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
	visit(t, ctx, chromedp.Navigate(base+"/run/"+run.ID()+"/samples"), chromedp.WaitVisible("table.list"),
		chromedp.KeyEvent("j"), chromedp.KeyEvent("j"), chromedp.KeyEvent("\r"), chromedp.WaitVisible(".sides"), chromedp.Title(&title))
	if !strings.Contains(title, "sample R01") {
		t.Errorf("j j Enter opens %q", title)
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

// TestSpeedInABrowser measures what a person waits for with 6,000 trials. The
// limits are generous, for slow machines; the figures are in the log.
func TestSpeedInABrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("it makes 6,000 trials")
	}
	ctx := browser(t)
	l := newLab(t)
	run := bigRun(t, l, 1000, 6)
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
		{"runs", "/"}, {"run, first time", "/run/" + id}, {"run", "/run/" + id}, {"comparison, first time", "/compare?run=" + id}, {"comparison", "/compare?run=" + id},
		{"samples", "/run/" + id + "/samples"}, {"samples, filtered", "/run/" + id + "/samples?disagree=yes&page=3"}, {"sample", "/run/" + id + "/sample?s=500"}, {"trial", "/run/" + id + "/trial?m=m3&s=500"},
	} {
		took := paint(view.path)
		t.Logf("%-24s first paint after %v", view.name, took.Round(time.Millisecond))
		if took > 5*time.Second {
			t.Errorf("%s: first paint after %v", view.name, took)
		}
	}
	var ms float64
	visit(t, ctx, chromedp.Navigate(base+"/run/"+id+"/samples"), chromedp.WaitReady("main"), chromedp.Evaluate(
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
			return chromedp.WaitVisible(fmt.Sprintf(`//p[@id="pages"][contains(.,"%d samples")]`, n), chromedp.BySearch)
		}
		visit(t, ctx, chromedp.Navigate(base+"index.html?q=cafes"), chromedp.WaitVisible("table.list a"), chromedp.Text("#count", &runs),
			chromedp.Navigate(base+"run/"+big.ID()+"/samples.html?wrong=m1&page=2"), filtered(150), chromedp.Evaluate(`document.querySelectorAll("table.list tbody tr").length`, &rows),
			chromedp.SendKeys("input[name=q]", "question 29"), chromedp.Click("form.filters button"), filtered(6), chromedp.Text("table.list tbody td:nth-child(2)", &query), chromedp.Text("#pages", &count))
		if runs != "1 of 2 runs" || rows != 50 || query != "question 29" || count != "6 samples 1" {
			t.Errorf("%s: %q; %d rows; %q, %q", base, runs, rows, query, count)
		}
		visit(t, ctx, chromedp.Navigate(base+"run/"+cafes.ID()+"/t/00013.html"), chromedp.WaitVisible(".gw svg"), chromedp.Click("#call-1 summary"), chromedp.WaitVisible("#call-1 .rp"), chromedp.Title(&title))
		if !strings.Contains(title, "trial anot/R00/1") {
			t.Errorf("%s: the title is %q", base, title)
		}
	}
}
