package report

import (
	"fmt"
	"html"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"noema/kernel/base/display"
	"noema/kernel/result/compare"
	"noema/kernel/result/record"
	"noema/kernel/run/runner"
	"noema/methods"
)

// Progress shows how a run goes on: one line that is rewritten on a terminal,
// plain lines elsewhere. It also prints the methods' events at a debug level.
type Progress struct {
	w        io.Writer
	terminal bool
	debug    int
	lines    bool                 // JSON, a line each; see Lines
	live     func(display.Bundle) // where it is shown instead of on w; nil if it is not

	mu          sync.Mutex
	run         *record.Run
	started     time.Time
	done, total int
	earlier     int // trials finished in an earlier execution
	provider    int
	usage       methods.Usage
	headlines   map[string]*compare.Tally
	lastLine    time.Time
	nextTenth   int
	workers     func() int // how many take part; nil for a run on one machine
}

var _ runner.Observer = (*Progress)(nil)

// NewProgress returns a Progress that writes to w.
func NewProgress(w io.Writer, debug int) *Progress {
	f, ok := w.(*os.File)
	return &Progress{w: w, terminal: ok && term.IsTerminal(int(f.Fd())), debug: debug, headlines: map[string]*compare.Tally{}}
}

// NewLiveProgress returns a Progress that show gets, again and again, instead of w:
// the line, and for pages a bar as well.
func NewLiveProgress(w io.Writer, debug int, show func(display.Bundle)) *Progress {
	return &Progress{w: w, debug: debug, live: show, headlines: map[string]*compare.Tally{}}
}

// Workers has the line say how many workers take part.
func (p *Progress) Workers(count func() int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.workers = count
}

// Start implements runner.Observer.
func (p *Progress) Start(run *record.Run, done, total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.run, p.done, p.earlier, p.total, p.started = run, done, done, total, time.Now()
	if p.lines {
		p.write(ProgressLine{Event: "start", Resuming: done > 0})
		return
	}
	trials := Plural(total, "trial")
	if run.Config.Design != nil && run.Asked == nil {
		trials = "at most " + trials
	}
	if p.live != nil {
		p.put(fmt.Sprintf("run %s: %d of %d trials, %s", run.ID, done, total, printable(modelsOf(run))))
		return
	}
	if run.Parent != "" && !run.Config.Varied() {
		fmt.Fprintf(p.w, "fork %s of %s: %s copied, %d to run, %s\n", run.ID, run.Parent, Plural(done, "trial"), total-done, printable(modelsOf(run)))
	} else if done > 0 {
		fmt.Fprintf(p.w, "%s goes on: %d of %s are done, %s\n", named(run), done, trials, printable(modelsOf(run)))
	} else {
		fmt.Fprintf(p.w, "%s: %s, %s\n", named(run), trials, printable(modelsOf(run)))
	}
	p.nextTenth = 1
}

// named is a run or a study by its id.
func named(run *record.Run) string {
	if run.Config.Study != nil {
		return fmt.Sprintf("study %s of %s", run.ID, Plural(len(run.Cells), "cell"))
	}
	return "run " + run.ID
}

// Event implements runner.Observer: the line format is that of seed 000.
func (p *Progress) Event(id record.TrialID, e methods.Event) {
	if p.debug == 0 || e.Level > p.debug {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lines {
		p.write(ProgressLine{Event: "note", Sample: id.Sample, Text: e.Text})
		return
	}
	p.clear()
	fmt.Fprintf(p.w, "[%s] [%s:%s] %s\n", time.Now().Format("15:04:05.000"), printable(e.Phase), printable(id.Sample), printable(e.Text))
	if p.debug >= 3 && len(e.Data) > 0 {
		fmt.Fprintf(p.w, "    %s\n", printable(string(e.Data)))
	}
}

// Call implements runner.Observer: full prompts and replies, at the highest
// level.
func (p *Progress) Call(id record.TrialID, r methods.Request, c methods.Completion, err error) {
	if p.debug < 3 || p.lines {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	fmt.Fprintf(p.w, "[%s] [%s:%s] call\n", time.Now().Format("15:04:05.000"), printable(r.Path), printable(id.Sample))
	for _, m := range r.Messages {
		block(p.w, printable(string(m.Role)), m.Content)
	}
	if err != nil {
		block(p.w, "failed", err.Error())
		return
	}
	block(p.w, "reply", c.Text)
}

// Trial implements runner.Observer.
func (p *Progress) Trial(t *record.Trial, _ bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
	p.provider += t.Provider
	p.usage = p.usage.Plus(t.Usage)
	if p.headlines[t.ID.Method] == nil {
		p.headlines[t.ID.Method] = &compare.Tally{}
	}
	p.headlines[t.ID.Method].Add(t)
	now := time.Now()
	if p.terminal || p.live != nil || p.lines {
		if now.Sub(p.lastLine) > 100*time.Millisecond || p.done == p.total {
			p.lastLine = now
			p.put(p.line(now))
		}
		return
	}
	if p.total > 0 && p.done*10 >= p.nextTenth*p.total {
		p.nextTenth = p.done*10/p.total + 1
		fmt.Fprintln(p.w, p.line(now))
	}
}

// put shows the line instead of the last one.
func (p *Progress) put(line string) {
	if p.lines {
		p.writeTrial(time.Now())
		return
	}
	if p.live != nil {
		page := fmt.Sprintf(`<progress value="%d" max="%d" style="vertical-align:middle"></progress> %s`, p.done, max(p.total, 1), html.EscapeString(line))
		p.live(display.HTMLText(page, line))
		return
	}
	p.clear()
	fmt.Fprint(p.w, clip(line, p.width()-1))
}

// width is that of the terminal, which may change.
func (p *Progress) width() int {
	if f, ok := p.w.(*os.File); ok {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 20 {
			return w
		}
	}
	return DefaultWidth
}

// line says how far the run is, with live accuracy, cost and time left.
func (p *Progress) line(now time.Time) string {
	parts := []string{fmt.Sprintf("%d/%d", p.done, p.total)}
	for _, m := range p.run.Config.Methods {
		if h := p.headlines[m.Label]; h != nil && m.Intervention == nil {
			if mean, n := h.Mean(); n > 0 {
				parts = append(parts, fmt.Sprintf("%s %.2f", printable(m.Label), mean))
			}
		}
	}
	parts = append(parts, fmt.Sprintf("%s, %s new", Plural(p.usage.Calls+p.usage.ToolCalls, "call"), count(p.provider)))
	if p.usage.Unpriced == 0 {
		parts = append(parts, fmt.Sprintf("$%.4f", p.usage.Cost.USD()))
	}
	if p.workers != nil {
		parts = append(parts, Plural(p.workers(), "worker"))
	}
	if made := p.done - p.earlier; made > 0 && p.done < p.total {
		left := now.Sub(p.started) / time.Duration(made) * time.Duration(p.total-p.done)
		parts = append(parts, "ETA "+left.Round(time.Second).String())
	}
	return strings.Join(parts, " · ")
}

// clip keeps a line within a width.
func clip(s string, width int) string {
	if r := []rune(s); len(r) > width {
		return string(r[:width-1]) + "…"
	}
	return s
}

// Warn implements runner.Observer.
func (p *Progress) Warn(message string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lines {
		p.write(ProgressLine{Event: "warning", Text: Plain(message)})
		return
	}
	p.clear()
	fmt.Fprintln(p.w, "warning:", Plain(message))
}

// Stop removes the progress line.
func (p *Progress) Stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
}

func (p *Progress) clear() {
	if p.terminal {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
