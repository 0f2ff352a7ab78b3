package view

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"noema/kernel/base/files"
	"noema/kernel/show/report"
)

// Starter composes experiments, asks for their price and starts them.
type Starter struct {
	Verb    []string // such as noema compare
	Options []StartOption
	// Command is noema itself with arguments; what it does ends with ctx.
	Command func(ctx context.Context, args ...string) *exec.Cmd
}

// StartOption is a flag of the verb, as the command line declares it.
type StartOption struct {
	Name, Doc, Default string
	Values             []string // what is offered
	Only               bool     // nothing but Values may be started from here
}

// starting is a Starter with what it was asked for.
type starting struct {
	Starter
	mu     sync.Mutex
	ctx    context.Context   // that of the server
	priced map[string]string // what --dry-run says, by command
	jobs   []*job            // newest first
	alive  sync.WaitGroup    // of the jobs
}

// job is a process that was started from the page.
type job struct {
	ID       int
	Command  string
	Run      string // its run, once it said so
	Line     string // the last that it told
	Err      string
	Done     bool
	stop     context.CancelFunc
	Stopping bool
}

const (
	maxJobs   = 4
	maxPriced = 50
	priceTime = 2 * time.Minute
)

// Starts lets the page start experiments, on which its reader decides.
func (p *Page) Starts(s Starter) {
	p.starter = &starting{Starter: s, ctx: context.Background(), priced: map[string]string{}}
	p.mux.HandleFunc("GET /start", p.handle(p.showStart))
	p.mux.HandleFunc("GET /start/state", p.startState)
	p.mux.HandleFunc("POST /start/{do}", p.writes(p.doStart))
}

// arguments are those of a form in the order of the options, without what is left open.
func (s *starting) arguments(q url.Values) (args []string, err error) {
	for _, o := range s.Options {
		value := strings.TrimSpace(q.Get(o.Name))
		if value == "" {
			continue
		}
		if o.Only {
			for one := range strings.SplitSeq(value, ",") {
				name, _, _ := strings.Cut(strings.TrimSpace(one), "?")
				if !slices.Contains(o.Values, name) {
					return nil, fmt.Errorf("%s %q: from the page only what noema lists is started: %s; for anything else use a terminal", o.Name, name, strings.Join(o.Values, ", "))
				}
			}
		}
		if strings.HasPrefix(value, "-") || strings.ContainsFunc(value, func(r rune) bool { return r < ' ' }) {
			return nil, fmt.Errorf("%s %q: a value begins with no dash and has one line", o.Name, value)
		}
		args = append(args, "--"+o.Name, value)
	}
	return args, nil
}

// words are a command line as a shell reads it.
func words(args []string) string {
	out := make([]string, len(args))
	for i, a := range args {
		out[i] = files.Word(a)
	}
	return strings.Join(out, " ")
}

// showStart composes a command from the address.
func (p *Page) showStart(r *http.Request) (string, content, error) {
	s, q := p.starter, r.URL.Query()
	body := map[string]any{"Options": s.Options, "Query": q}
	if len(q) > 0 {
		args, err := s.arguments(q)
		if err != nil {
			body["Fault"] = err.Error()
		} else {
			command := words(slices.Concat(s.Verb, args))
			s.mu.Lock()
			body["Command"], body["Price"] = command, s.priced[command]
			s.mu.Unlock()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	jobs := make([]job, len(s.jobs))
	for i, j := range s.jobs {
		jobs[i] = *j
	}
	body["Jobs"] = jobs
	return "start.html", content{Title: "start a comparison", Crumb: []link{{"runs", "/"}}, Body: body, Live: "/start/state", Keys: []keys{}}, nil
}

// startState is how the jobs get on, which the page polls.
func (p *Page) startState(w http.ResponseWriter, _ *http.Request) {
	p.starter.mu.Lock()
	defer p.starter.mu.Unlock()
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	for _, j := range p.starter.jobs {
		fmt.Fprintln(w, j.ID, j.Run, j.Line, j.Done, j.Err, j.Stopping)
	}
}

// doStart prices, starts or stops.
func (p *Page) doStart(r *http.Request) (string, error) {
	s := p.starter
	if r.PathValue("do") == "stop" {
		return "/start", s.end(r.PostFormValue("job"))
	}
	q := url.Values{}
	for _, o := range s.Options {
		if v := strings.TrimSpace(r.PostFormValue(o.Name)); v != "" {
			q.Set(o.Name, v)
		}
	}
	to := "/start?" + q.Encode()
	args, err := s.arguments(q)
	if err != nil {
		return to, nil // which its page says
	}
	switch r.PathValue("do") {
	case "price":
		return to, s.price(r.Context(), args)
	case "begin":
		if err := s.begin(args); err != nil {
			return to, err
		}
		return "/start", nil
	}
	return to, errors.New("start: price, begin or stop")
}

// price asks what the store has and what the rest will cost.
func (s *starting) price(ctx context.Context, args []string) error {
	ctx, cancel := context.WithTimeout(ctx, priceTime)
	defer cancel()
	command := slices.Concat(s.Verb[1:], args, []string{"--dry-run"})
	out, err := s.Command(ctx, command...).CombinedOutput()
	text := strings.TrimSpace(string(out))
	if err != nil {
		return fmt.Errorf("%s: %w", text, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.priced) >= maxPriced {
		clear(s.priced)
	}
	s.priced[words(slices.Concat(s.Verb, args))] = text
	return nil
}

// begin starts what was priced before.
func (s *starting) begin(args []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	command := words(slices.Concat(s.Verb, args))
	if _, seen := s.priced[command]; !seen {
		return errors.New("start: nothing is started before its price was shown, and each price is good for one start: ask \"what will it cost?\" first")
	}
	running := 0
	for _, j := range s.jobs {
		if !j.Done {
			running++
		}
		if !j.Done && j.Command == command {
			return errors.New("start: this command is running already")
		}
	}
	if running >= maxJobs {
		return fmt.Errorf("start: %d commands are running from here: wait for one to end, or stop one", running)
	}
	ctx, stop := context.WithCancel(s.ctx)
	cmd := s.Command(ctx, append(slices.Clone(s.Verb[1:]), args...)...)
	told, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		stop()
		return fmt.Errorf("start: %w", err)
	}
	delete(s.priced, command)
	j := &job{ID: len(s.jobs) + 1, Command: command, stop: stop}
	s.jobs = append([]*job{j}, s.jobs...)
	s.alive.Go(func() { s.follow(j, cmd, bufio.NewScanner(told)) })
	return nil
}

// follow reads what a job tells until it ends.
func (s *starting) follow(j *job, cmd *exec.Cmd, lines *bufio.Scanner) {
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var told report.ProgressLine
		progress := json.Unmarshal(lines.Bytes(), &told) == nil
		s.mu.Lock()
		switch {
		case !progress:
			j.Line = lines.Text()
		case told.Run != "":
			j.Run = told.Run
			fallthrough
		default:
			j.Line = told.Text
		}
		s.mu.Unlock()
	}
	err := cmd.Wait()
	j.stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	if j.Done = true; err != nil {
		j.Err = err.Error()
	}
}

// end asks a job to end, as Ctrl-C does.
func (s *starting) end(id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, j := range s.jobs {
		if fmt.Sprint(j.ID) == id {
			j.Stopping = true
			j.stop()
			return nil
		}
	}
	return errors.New("stop: nothing with this number was started from here")
}
