package local

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"noema/kernel/model/provider/local/internal/network"
)

// engine runs all replies of a model, in steps that each add a token to up to
// most of them. A reply that comes in joins at the next step; one that is
// complete leaves. The goroutine that does so ends when there is nothing to
// write, so an engine needs no closing.
type engine struct {
	decoder *network.Decoder
	most    int
	meter   meter    // of the goroutine that runs
	known   prefixes // the same

	mu      sync.Mutex
	waiting []*job
	running bool
}

// job is one reply being written.
type job struct {
	ctx      context.Context
	prompt   []int
	writer   *writer
	sequence network.Sequence
	next     int           // the token that the next step feeds
	spent    time.Duration // see [meter]
	err      error
	done     chan struct{}
}

// write has w write a reply to a prompt, and gives the time that the engine takes
// for it alone. If it fails, w must not be used.
func (e *engine) write(ctx context.Context, prompt []int, w *writer) (time.Duration, error) {
	j := &job{ctx: ctx, prompt: prompt, writer: w, done: make(chan struct{})}
	e.mu.Lock()
	e.waiting = append(e.waiting, j)
	if !e.running {
		e.running = true
		go e.run()
	}
	e.mu.Unlock()
	select {
	case <-j.done:
		return j.spent, j.err
	case <-ctx.Done(): // the engine sees it too, after the step that it is in
		return 0, ctx.Err()
	}
}

func (e *engine) run() {
	var active []*job
	for {
		j, more := e.admit(len(active))
		if !more {
			return
		}
		if j != nil {
			e.begin(j)
			active = append(active, j)
		}
		active = unfinished(active)
		e.step(active)
		active = unfinished(active)
	}
}

// admit takes one waiting job if there is room, so that the others wait for
// one prompt at most. It reports whether there is anything to do.
func (e *engine) admit(active int) (j *job, more bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.waiting) == 0 && active == 0 {
		e.running, e.waiting = false, nil
		return nil, false
	}
	if len(e.waiting) > 0 && active < e.most {
		j, e.waiting = e.waiting[0], e.waiting[1:]
	}
	return j, true
}

// begin reads a prompt and writes the first token.
func (e *engine) begin(j *job) {
	if j.ctx.Err() != nil {
		j.end(j.ctx.Err())
		return
	}
	n := e.known.begin(&j.sequence, j.prompt)
	start := time.Now()
	logits, err := e.decoder.Prefill(&j.sequence, j.prompt[n:], j.ctx.Err)
	j.spent = time.Since(start) * time.Duration(len(j.prompt)) / time.Duration(len(j.prompt)-n)
	if err == nil {
		e.known.add(&j.sequence, j.prompt)
	}
	j.take(logits, err)
}

// step adds a token to each reply.
func (e *engine) step(active []*job) {
	if len(active) == 0 {
		return
	}
	sequences, tokens := make([]*network.Sequence, len(active)), make([]int, len(active))
	for i, j := range active {
		sequences[i], tokens[i] = &j.sequence, j.next
	}
	e.meter.learn(e.decoder, len(active))
	start := time.Now()
	logits, err := e.decoder.Next(sequences, tokens)
	alone := e.meter.alone(len(active), time.Since(start))
	for i, j := range active {
		j.spent += alone
		switch {
		case err != nil:
			j.end(err)
		case j.ctx.Err() != nil:
			j.end(j.ctx.Err())
		default:
			j.take(logits[i], nil)
		}
	}
}

// take lets the writer choose a token.
func (j *job) take(logits []float32, err error) {
	if err != nil {
		j.end(err)
		return
	}
	token, more, err := j.writer.choose(logits)
	if err != nil || !more {
		j.end(err)
		return
	}
	j.next = token
}

func (j *job) end(err error) {
	j.err = err
	close(j.done)
}

func unfinished(jobs []*job) []*job {
	rest := jobs[:0]
	for _, j := range jobs {
		select {
		case <-j.done:
		default:
			rest = append(rest, j)
		}
	}
	return rest
}

// errNoNumbers is the error of a broken model.
var errNoNumbers = errors.New("the model's scores are not numbers: its weights are damaged, or too large for 32-bit floats")

// errNoToken cannot happen with vocabularies that have every byte.
func errNoToken(text string) error {
	return fmt.Errorf("no token of the model can follow %q under the schema", text)
}
