package view

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"noema/kernel/base/display"
	"noema/kernel/lab"
	"noema/kernel/show/report"
)

// view is a page that a person may open.
type view struct{ name, address string }

// everyView makes what every kind of page needs, and gives their addresses.
func everyView(t *testing.T) []view {
	l := newLab(t)
	run := func(e lab.Experiment) *lab.Result {
		t.Helper()
		r, err := l.Run(e)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	four := run(lab.Experiment{Task: "cafes", Methods: []string{"direct", "cot", "aot", "anot"}, Limit: "40", Question: "does a plan pay?"})
	other := run(lab.Experiment{Task: "cafes?n=20", Methods: []string{"direct", "aot"}, Limit: "12"})
	epochs := run(lab.Experiment{Task: "arithmetic", Methods: []string{"direct", "cot"}, Limit: "12", Epochs: 3})
	study, err := l.Study(lab.Experiment{Task: "cafes", Tasks: []string{"arithmetic"}, Methods: []string{"direct", "cot", "aot"}, Limit: "10"})
	if err != nil {
		t.Fatal(err)
	}
	hostile, big := hostileRun(t, l), bigRun(t, l, 300, 2)
	base, p := serveStarting(t, l, func(ctx context.Context, _ ...string) *exec.Cmd {
		return exec.CommandContext(ctx, "echo", "what --dry-run says")
	})
	post(t, base, "/start/price", p, url.Values{"token": {p.Token()}, "task": {"cafes?n=20"}, "methods": {"direct,aot"}}, func(*http.Request) {})
	dir := t.TempDir()
	write(t, bundleOf(l, four, big), filepath.Join(dir, "bundle"))
	compared, err := four.Compare(lab.Comparing{By: "group", Curve: "tokens"})
	if err != nil {
		t.Fatal(err)
	}
	for name, parts := range map[string][]display.Displayer{"comparison": {compared, compared.GroupPlot()}, "study": {study}} {
		if err := os.WriteFile(filepath.Join(dir, name+".html"), report.Page(name, parts...), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	at, trial := base+"/run/"+four.ID(), "m=anot&s=R03&e=1"
	return []view{
		{"runs", base + "/?token=" + p.Token()}, {"run", at}, {"run-four", at + "?m=direct&m=cot&m=aot&m=anot&s=R03"}, {"run-filtered", at + "?beats=aot&over=anot"},
		{"epochs", base + "/run/" + epochs.ID()}, {"hostile", base + "/run/" + hostile.ID()}, {"sample", at + "/sample?s=R03"},
		{"trial", at + "/trial?" + trial + "#call-2"}, {"call", at + "/call?" + trial + "&path=P1"}, {"study", base + "/study/" + study.Run.ID},
		{"compare", base + "/compare?force=yes&run=" + four.ID() + "&run=" + other.ID()}, {"choice", base + "/compare?run=" + four.ID() + "&run=" + other.ID()},
		{"diff", base + "/diff?force=yes&a=" + four.ID() + "&b=" + other.ID()}, {"error", base + "/run/nothing"},
		{"start", base + "/start?" + url.Values{"task": {"cafes?n=20"}, "methods": {"direct,aot"}}.Encode()},
		{"live", base + "/run/" + underWay(t, l)},
		{"bundle", "file://" + dir + "/bundle/index.html"}, {"bundle-run", "file://" + dir + "/bundle/run/" + four.ID() + "/index.html?sort=-m%3Aanot"},
		{"html", "file://" + dir + "/comparison.html"}, {"html-study", "file://" + dir + "/study.html"},
	}
}

// underWay is a run that goes on until the test ends.
func underWay(t *testing.T, l *lab.Lab) string {
	t.Helper()
	tk, err := lab.NewTask("slow", lab.Question("1", 1), lab.Question("2", 2), lab.Question("3", 3))
	if err != nil {
		t.Fatal(err)
	}
	gate, waits, done := make(chan struct{}), make(chan struct{}, 3), make(chan error, 1)
	solve := func(ctx context.Context, p lab.Problem, _ lab.Host) (lab.Answer, error) {
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
	if err := errors.Join(l.AddTask(tk), l.AddMethod("waits", solve, lab.Number)); err != nil {
		t.Fatal(err)
	}
	go func() {
		_, err := l.Run(lab.Experiment{Task: "slow", Methods: []string{"waits"}, MaxSamples: 3})
		done <- err
	}()
	t.Cleanup(func() {
		close(gate)
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	<-waits
	<-waits
	runs, err := l.Runs()
	if err != nil {
		t.Fatal(err)
	}
	return runs[0].ID
}

// white is the first large white ground of a page; empty without one.
const white = `[...document.querySelectorAll("body *")].find(e => { const b = e.getBoundingClientRect(), s = getComputedStyle(e); return b.width * b.height > 4000 && [s.backgroundColor, e.matches("svg *") ? s.fill : ""].includes("rgb(255, 255, 255)") })?.outerHTML.slice(0, 200) || ""`

// TestEveryView opens every kind of page on a phone, a small and a large screen, light and
// dark: nothing is wider than the screen or white in the dark, and axe-core finds nothing. With
// NOEMA_PICTURES it keeps what it sees.
func TestEveryView(t *testing.T) {
	if testing.Short() {
		t.Skip("it opens a hundred pages")
	}
	ctx := browser(t)
	for _, v := range everyView(t) {
		visit(t, ctx, chromedp.Navigate(v.address), chromedp.WaitReady("main"),
			chromedp.Poll(`!document.querySelector("[data-part], .work:not([data-static]) .drawer:not(:has(table))")`, nil))
		for _, theme := range []string{"light", "dark"} {
			for _, width := range []int64{400, 1000, 1600} {
				name := fmt.Sprintf("%s-%s-%d", v.name, theme, width)
				var wide float64
				visit(t, ctx, emulation.SetDeviceMetricsOverride(width, 900, 1, false),
					emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}}),
					chromedp.Evaluate(`document.documentElement.scrollWidth - innerWidth`, &wide))
				if wide > 0 {
					t.Errorf("%s is %v px wider than the screen", name, wide)
				}
				if dir := os.Getenv("NOEMA_PICTURES"); dir != "" {
					var png []byte
					visit(t, ctx, chromedp.FullScreenshot(&png, 100))
					if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644); err != nil {
						t.Fatal(err)
					}
				}
				t.Run(name, func(t *testing.T) { accessible(t, ctx) })
				var bright string
				if visit(t, ctx, chromedp.Evaluate(white, &bright)); theme == "dark" && bright != "" {
					t.Errorf("%s: in the dark there is white paper: %s", name, bright)
				}
			}
		}
	}
}
