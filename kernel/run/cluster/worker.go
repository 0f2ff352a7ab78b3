package cluster

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/semaphore"

	"noema/kernel/base/pause"
	"noema/kernel/model/provider"
	"noema/methods"
)

// WorkerOptions say how a worker works.
type WorkerOptions struct {
	Join  string // URL of the NATS server
	Token Token
	Slots int  // trials at once; 0 if it only serves models
	Stay  bool // when a coordinator has no more work, wait for the next one
	// Wait is how long to wait at most while no coordinator is there; 0 is until ctx ends.
	Wait time.Duration
	// Open opens a method's plugin: a built-in one by its name, any other from its code,
	// which write puts into an empty folder.
	Open func(ctx context.Context, c Code, write func(dir string) error) (methods.Method, error)
	// Serves are the local models that other machines ask this one for, by name.
	Serves map[string]provider.Provider
	Tell   func(string) // told what a user should know
	pace   pace
}

// ErrRefused is a worker that may not join.
var ErrRefused = errors.New("this worker cannot take part")

// ErrAlone is a worker that waited for a coordinator as long as it should.
var ErrAlone = errors.New("no coordinator came")

// errOver is the end of the coordinator's work.
var errOver = errors.New("the coordinator has no more work")

// errAgain has a worker join again.
var errAgain = errors.New("the connection to the coordinator is lost")

// Work takes part in the runs of a coordinator until ctx ends, or the coordinator has no
// more work. While none is there it waits for one, at most for o.Wait: then the error is
// [ErrAlone]. A worker that may not join is [ErrRefused].
func Work(ctx context.Context, o WorkerOptions) error {
	if err := o.Token.Check(); err != nil {
		return err
	}
	if o.pace == (pace{}) {
		o.pace = usual()
	}
	o.Wait = cmp.Or(o.Wait, math.MaxInt64)
	w := &worker{o: o, name: rand.Text(), slots: semaphore.NewWeighted(int64(o.Slots)), opened: map[string]opened{}}
	var err error
	if w.build, err = ThisBuild(); err != nil {
		return err
	}
	host, _ := os.Hostname() // shown only
	w.shown = fmt.Sprintf("%s-%d", host, os.Getpid())
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	w.patience = time.AfterFunc(o.Wait, func() { giveUp(fmt.Errorf("%w for %v", ErrAlone, o.Wait)) })
	defer w.patience.Stop()
	nc, err := w.connect(ctx)
	if err != nil || nc == nil {
		return err
	}
	defer nc.Close()
	if w.js, err = jetstream.New(nc); err != nil {
		return err
	}
	w.nc = nc
	waiting := false
	for attempt := 0; ; attempt++ {
		err := w.takePart(ctx)
		switch {
		case ctx.Err() != nil:
			return inVain(ctx)
		case errors.Is(err, ErrRefused), errors.Is(err, errOver) && !o.Stay:
			return ignore(err, errOver)
		case errors.Is(err, nats.ErrConnectionClosed):
			return err
		case errors.Is(err, errAgain):
			o.Tell("joining again")
			attempt = 0
		case !waiting:
			o.Tell("waiting for a coordinator: " + err.Error())
		}
		waiting = !errors.Is(err, errAgain)
		pause.For(ctx, o.pace.again(attempt))
	}
}

func ignore(err, what error) error {
	if errors.Is(err, what) {
		return nil
	}
	return err
}

// inVain is the error of a worker whose context has ended.
func inVain(ctx context.Context) error {
	if err := context.Cause(ctx); errors.Is(err, ErrAlone) {
		return err
	}
	return nil
}

// connect opens the connection to the server. An address with tls is that of an embedded
// server, which the token tells from others. There is no connection when ctx ends.
func (w *worker) connect(ctx context.Context) (*nats.Conn, error) {
	u, err := url.Parse(w.o.Join)
	if err != nil || u.Hostname() == "" || u.Port() == "" || u.Scheme != "nats" && u.Scheme != "tls" {
		return nil, fmt.Errorf("join %q: write nats://HOST:PORT or tls://HOST:PORT, as the coordinator prints it", w.o.Join)
	}
	options := []nats.Option{
		nats.Name("noema worker"), nats.MaxReconnects(-1), nats.CustomReconnectDelay(w.o.pace.again), nats.CustomInboxPrefix(inbox(w.name)),
		nats.IgnoreAuthErrorAbort(), nats.PingInterval(2 * time.Second), nats.MaxPingsOutstanding(3),
	}
	if u.User == nil {
		options = append(options, nats.UserInfo(w.name, w.o.Token.password()))
		if u.Scheme == "tls" {
			options = append(options, nats.Secure(w.o.Token.clientTLS()))
		}
	}
	for attempt := 0; ; attempt++ {
		nc, err := nats.Connect(w.o.Join, options...)
		if err == nil {
			return nc, nil
		}
		if errors.Is(err, nats.ErrAuthorization) || strings.Contains(err.Error(), "join token") {
			return nil, fmt.Errorf("%w: the join token is another one: set NOEMA_JOIN_TOKEN as the coordinator prints it", ErrRefused)
		}
		if u.User == nil && (errors.Is(err, nats.ErrTLS) || errors.Is(err, nats.ErrSecureConnWanted)) {
			return nil, fmt.Errorf("join %q: begin it with nats:// or tls:// as the coordinator prints it: %w", w.o.Join, err)
		}
		if attempt == 0 {
			w.o.Tell(fmt.Sprintf("waiting for a server at %s: %v", withoutUser(w.o.Join), err))
		}
		if pause.For(ctx, w.o.pace.again(attempt)); ctx.Err() != nil {
			return nil, inVain(ctx)
		}
	}
}

// join asks to be let in, and returns the link's id.
func (w *worker) join(ctx context.Context) (string, error) {
	h := hello{Worker: w.name, Nonce: rand.Text(), Shown: w.shown, Slots: w.o.Slots, Build: w.build}
	for name, p := range w.o.Serves {
		h.Serves = append(h.Serves, served{name, p.Info()})
	}
	raw, err := json.Marshal(h)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	m, err := w.nc.RequestWithContext(ctx, w.o.Token.prefix()+".join", seal(w.o.Token.key("join"), raw))
	if errors.Is(err, nats.ErrNoResponders) {
		return "", errors.New("no run is under way at this server, or it has another join token")
	}
	if err != nil {
		return "", err
	}
	var answer welcome
	if raw, err = open(w.o.Token.key("welcome "+h.Nonce), m.Data); err != nil {
		return "", err
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		return "", err
	}
	if answer.Refused != "" {
		return "", fmt.Errorf("%w: %s", ErrRefused, answer.Refused)
	}
	return answer.Link, nil
}

// takePart joins and works until the link ends.
func (w *worker) takePart(ctx context.Context) error {
	id, err := w.join(ctx)
	if err != nil {
		return err
	}
	t := w.o.Token
	objects, err := w.js.ObjectStore(ctx, t.prefix()+"-"+w.name)
	if err != nil {
		return err
	}
	v := &visit{worker: w, groups: map[string]context.CancelFunc{}, calls: map[uint64]context.CancelFunc{}}
	v.link = &link{
		nc: w.nc, subject: t.up(w.name, id), key: t.key("up " + id), theirs: t.key("down " + id), objects: objects,
		handle: v.handle, foreign: func() {}, pace: w.o.pace,
	}
	if err := v.link.connect(t.down(w.name, id)); err != nil {
		return err
	}
	if err := errors.Join(w.nc.Flush(), v.link.put(item{kind: beat})); err != nil {
		return err
	}
	w.patience.Stop()
	defer w.patience.Reset(w.o.Wait)
	w.o.Tell(strings.TrimSuffix(fmt.Sprintf("joined: %d trials at once, serves %s", w.o.Slots, strings.Join(slices.Sorted(maps.Keys(w.o.Serves)), ", ")), ", serves "))
	select {
	case <-ctx.Done():
		_ = v.link.put(item{kind: leave}) // the link's end tells as much
		v.link.close()
	case <-v.link.ctx.Done():
	}
	v.working.Wait()
	w.o.Tell(fmt.Sprintf("%v: %d trials began here", context.Cause(v.link.ctx), v.sessions.Load()))
	if changed := v.changed.Load(); changed != nil {
		return fmt.Errorf("%w: %w", ErrRefused, *changed)
	}
	if err := context.Cause(v.link.ctx); !errors.Is(err, errOver) && !errors.Is(err, errClosed) {
		return fmt.Errorf("%w: %w", errAgain, err)
	}
	return context.Cause(v.link.ctx)
}
