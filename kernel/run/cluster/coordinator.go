package cluster

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"noema/kernel/result/record"
	"noema/plugins"
)

// Options say how a coordinator works.
type Options struct {
	Token  Token
	Listen string      // HOST:PORT of a NATS server of its own,
	Server StartServer // which this starts; or
	URL    string      // the NATS server to use, with credentials where it wants any
	Here   int         // trials at once on this machine; below 0 as many as without workers
	Code   func(record.Plugin) (plugins.Source, error)
	Warn   func(string) // told what a user should know
	Status string       // file to keep the [State] in; empty for none
	pace   pace
}

// Coordinator hands the trials of runs to the workers that joined. It is a runner.Crew.
type Coordinator struct {
	o       Options
	build   Build
	server  Server // nil with a URL
	nc      *nats.Conn
	js      jetstream.JetStream
	queue   *queue
	codes   jetstream.ObjectStore
	stop    context.CancelFunc
	closed  sync.WaitGroup
	started time.Time

	mu      sync.Mutex
	members map[string]*member // by secret name
	run     *run               // under way, or nil
	runs    uint64
	models  map[string]*model // by the name by which a run wants it
	asked   uint64            // calls of models by workers
	foreign int               // messages that were refused
	gone    int               // workers that were lost
	done    int               // trials that workers finished
	changed chan struct{}
}

// bucket is the name of an object store: the one for code, or that of a worker.
func (c *Coordinator) bucket(of string) string { return c.o.Token.prefix() + "-" + of }

// codeBucket is the store of code.
const codeBucket = "code"

// Start starts a coordinator. Close ends it.
func Start(ctx context.Context, o Options) (*Coordinator, error) {
	if err := o.Token.Check(); err != nil {
		return nil, err
	}
	if o.pace == (pace{}) {
		o.pace = usual()
	}
	build, err := ThisBuild()
	if err != nil {
		return nil, fmt.Errorf("start the coordinator: %w", err)
	}
	c := &Coordinator{o: o, build: build, members: map[string]*member{}, models: map[string]*model{}, changed: make(chan struct{}), started: time.Now()}
	if err := c.open(ctx); err != nil {
		return nil, errors.Join(err, c.shut())
	}
	ctx, c.stop = context.WithCancel(context.WithoutCancel(ctx))
	c.closed.Go(func() { c.watch(ctx) })
	return c, nil
}

// open connects to the server and makes what is needed there.
func (c *Coordinator) open(ctx context.Context) error {
	if err := c.connect(); err != nil {
		return err
	}
	var err error
	if c.js, err = jetstream.New(c.nc); err != nil {
		return err
	}
	prefix := c.o.Token.prefix()
	if _, err := c.nc.Request(prefix+".alone", nil, time.Second); err == nil {
		return errors.New("start the coordinator: another one uses this NATS server with this join token: end it, or use another token")
	}
	if _, err := c.nc.Subscribe(prefix+".alone", func(m *nats.Msg) { _ = m.Respond(nil) }); err != nil {
		return err
	}
	c.queue = &queue{js: c.js, prefix: prefix, storage: jetstream.FileStorage, claim: c.o.pace.claim}
	if c.server != nil {
		c.queue.storage = jetstream.MemoryStorage
	}
	if c.codes, err = c.store(ctx, codeBucket, c.queue.storage); err != nil {
		return err
	}
	_, err = c.nc.Subscribe(prefix+".join", c.join)
	return errors.Join(err, c.nc.Flush())
}

func (c *Coordinator) store(ctx context.Context, name string, storage jetstream.StorageType) (jetstream.ObjectStore, error) {
	s, err := c.js.CreateOrUpdateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: c.bucket(name), Storage: storage})
	if err != nil {
		return nil, fmt.Errorf("make an object store: %w", err)
	}
	return s, nil
}

// connect opens the connection, to a server of its own unless there is another.
func (c *Coordinator) connect() (err error) {
	options := []nats.Option{nats.Name("noema coordinator"), nats.MaxReconnects(-1), nats.ReconnectWait(200 * time.Millisecond)}
	if c.o.URL != "" {
		if c.nc, err = nats.Connect(c.o.URL, options...); err != nil {
			return fmt.Errorf("connect to NATS at %s: %w", withoutUser(c.o.URL), err)
		}
		return nil
	}
	e := ServerOptions{Listen: c.o.Listen, Password: c.o.Token.password(), Name: plain, Publish: c.o.Token.mayPublish, Subscribe: c.o.Token.mayRead}
	if !loopback(c.o.Listen) {
		if e.TLS, err = c.o.Token.serverTLS(); err != nil {
			return err
		}
	}
	if c.server, err = c.o.Server(e, rand.Text()); err != nil {
		return err
	}
	c.nc, err = c.server.Connect(options...)
	return err
}

// withoutUser is a URL without what lets one in.
func withoutUser(address string) string {
	if u, err := url.Parse(address); err == nil {
		u.User = nil
		return u.String()
	}
	return "the URL that was given"
}

// loopback reports whether an address is of this machine alone.
func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Address is the URL by which workers join.
func (c *Coordinator) Address() string {
	if c.server == nil {
		return withoutUser(c.o.URL)
	}
	_, port, _ := net.SplitHostPort(c.server.Addr().String())
	host, _, _ := net.SplitHostPort(c.o.Listen)
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		if name, err := os.Hostname(); err == nil {
			host = name
		}
	}
	scheme := "tls"
	if loopback(c.o.Listen) {
		scheme = "nats"
	}
	return scheme + "://" + net.JoinHostPort(host, port)
}

// join lets a worker in, or tells it why not.
func (c *Coordinator) join(m *nats.Msg) {
	raw, err := open(c.o.Token.key("join"), m.Data)
	var h hello
	if err != nil || json.Unmarshal(raw, &h) != nil || !plain(h.Worker) || h.Nonce == "" {
		c.refuseForeign()
		return
	}
	w := welcome{Refused: c.build.differs(h.Build)}
	if h.Slots < 0 || h.Slots > maxSlots || h.Slots == 0 && len(h.Serves) == 0 {
		w.Refused = fmt.Sprintf("it offers %d trials at once: use 1 to %d", h.Slots, maxSlots)
	}
	w.Refused = cmp.Or(w.Refused, faultOf(h.Serves))
	if w.Refused == "" {
		w.Link = rand.Text()
		if err := c.admit(h, w.Link); err != nil {
			w = welcome{Refused: err.Error()}
		}
	} else {
		c.o.Warn(fmt.Sprintf("worker %s cannot join: %s", shown(h.Shown), w.Refused))
	}
	if raw, err = json.Marshal(w); err == nil {
		_ = m.Respond(seal(c.o.Token.key("welcome "+h.Nonce), raw)) // it asks again
	}
}

// maxSlots is how many trials at once a worker may offer.
const maxSlots = 10_000

// plain reports whether a worker's name can be part of a subject.
func plain(name string) bool {
	return len(name) >= minToken && len(name) <= 64 && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}

// shown is a worker's name for people, without what could steer a terminal.
func shown(name string) string {
	clean := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, name)
	return clean[:min(80, len(clean))]
}

func (c *Coordinator) refuseForeign() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.foreign++
}

// admit makes a worker a member once it uses its link.
func (c *Coordinator) admit(h hello, id string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	objects, err := c.store(ctx, h.Worker, jetstream.MemoryStorage)
	if err != nil {
		return err
	}
	m := &member{c: c, hello: h, serves: h.Serves, ready: map[string]string{}, places: map[uint64]*place{}, calls: map[uint64]chan []byte{}, since: time.Now()}
	m.link = &link{
		nc: c.nc, subject: c.o.Token.down(h.Worker, id), key: c.o.Token.key("down " + id), theirs: c.o.Token.key("up " + id),
		objects: objects, handle: m.handle, foreign: c.refuseForeign, first: make(chan struct{}), pace: c.o.pace,
	}
	if err := m.link.connect(c.o.Token.up(h.Worker, id)); err != nil {
		return err
	}
	c.closed.Go(m.stay)
	return nil
}

// wake has all who wait for a change look again. The coordinator is locked.
func (c *Coordinator) wake() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// Here implements runner.Crew.
func (c *Coordinator) Here(without int) int {
	if c.o.Here < 0 {
		return without
	}
	return c.o.Here
}

// Close tells the workers that there is no more work, and ends the server.
func (c *Coordinator) Close() error {
	c.mu.Lock()
	var all []*member
	for _, m := range c.members {
		all = append(all, m)
	}
	c.mu.Unlock()
	for _, m := range all {
		_ = m.link.put(item{kind: leave})
		m.link.close()
	}
	c.stop()
	err := c.clear(all)
	c.closed.Wait()
	return errors.Join(err, c.shut())
}

// clear removes what the coordinator made on a server that stays.
func (c *Coordinator) clear(all []*member) error {
	if c.server != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	errs := []error{c.queue.remove(ctx), c.js.DeleteObjectStore(ctx, c.bucket(codeBucket))}
	for _, m := range all {
		errs = append(errs, c.js.DeleteObjectStore(ctx, c.bucket(m.hello.Worker)))
	}
	return errors.Join(slices.DeleteFunc(errs, func(err error) bool {
		return errors.Is(err, jetstream.ErrBucketNotFound) || errors.Is(err, jetstream.ErrStreamNotFound)
	})...)
}

func (c *Coordinator) shut() error {
	if c.nc != nil {
		c.nc.Close()
	}
	if c.server != nil {
		return c.server.Close()
	}
	return nil
}
