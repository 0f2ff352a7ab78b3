package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"noema/kernel/base/files"
	"noema/kernel/model/provider"
	"noema/methods"
)

// served is a model that a worker serves.
type served struct {
	Name string        `json:"name"` // as the worker's user wrote it
	Info provider.Info `json:"info"`
}

// is reports whether a model is meant by a name: that of the worker's user, or its own.
func (s served) is(name string) bool { return s.Name == name || s.Info.ID.String() == name }

// A worker may serve so many models, with names of so many bytes.
const (
	maxServed     = 64
	maxServedName = 1 << 10
)

// faultOf says what is wrong with the models that a worker serves; nothing if they may be.
// Only models in a process have weights: no worker can take the place of a server.
func faultOf(all []served) string {
	if len(all) > maxServed {
		return fmt.Sprintf("it serves %d models: use at most %d", len(all), maxServed)
	}
	for _, s := range all {
		id := s.Info.ID
		if id.Weights == "" || id.Endpoint != "" || s.Info.Simulated || len(s.Name)+len(id.Model)+len(id.Config)+len(id.Weights) > maxServedName {
			return fmt.Sprintf("it serves %q: workers serve local models alone", shown(s.Name))
		}
	}
	return ""
}

// accept keeps of a worker's models those that have the identity by which their name is
// known here. The coordinator is locked.
func (c *Coordinator) accept(m *member) {
	m.serves = slices.DeleteFunc(m.serves, func(s served) bool {
		known, by := c.known(s, m)
		if by == "" || known == s.Info.ID {
			return false
		}
		why := fmt.Sprintf("model %q of worker %s is not used: it has other weights or options (%s) than %s (%s)",
			shown(s.Name), shown(m.hello.Shown), identified(s.Info.ID), by, identified(known))
		c.o.Warn(why)
		_ = m.link.put(item{kind: unserved, data: []byte(why)}) // the link's end tells as much
		return true
	})
}

// known is the identity of a model's name, and who serves it besides m; nobody if it is
// not known.
func (c *Coordinator) known(s served, m *member) (id methods.ModelID, by string) {
	for name, model := range c.models {
		if s.is(name) {
			return model.info.ID, "that of this run"
		}
	}
	for _, other := range c.members {
		for _, theirs := range other.serves {
			if other != m && theirs.Name == s.Name {
				return theirs.Info.ID, "that of worker " + shown(other.hello.Shown)
			}
		}
	}
	return id, ""
}

func identified(id methods.ModelID) string {
	return shown(fmt.Sprintf("%s, weights %.12s", id, id.Weights))
}

// model is a local model whose calls go to the workers that serve it, and to this machine
// if it is here.
type model struct {
	c    *Coordinator
	name string
	info provider.Info
	here provider.Provider // nil if it is not here

	// The coordinator guards these.
	busy int  // calls under way here
	told bool // that nobody serves it
}

// servers is over how many machines the calls of a model are spread, unless the user says
// how many may be under way.
const servers = 8

// Model returns the provider of a local model. Each call goes to the worker with the fewest
// under way of those that serve the model; here, if not nil, takes part like one. Without
// it, Model waits for a worker, which says what the identity of the model is.
func (c *Coordinator) Model(ctx context.Context, name string, here provider.Provider) (provider.Provider, error) {
	m := &model{c: c, name: name, here: here}
	if here != nil {
		m.info = here.Info()
	} else if err := m.await(ctx, func() bool {
		_, s := m.fewest()
		m.info = s.Info
		return s.Name != ""
	}); err != nil {
		return nil, err
	}
	m.info.MaxConnections = servers * min(max(m.info.MaxConnections, 1), 64)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.models[name] = m
	for _, other := range c.members {
		c.accept(other)
	}
	return m, nil
}

// Info implements [provider.Provider].
func (m *model) Info() provider.Info { return m.info }

// fewest is the worker with the fewest calls under way of those that serve the model, and
// what it serves; none if there is none. The coordinator is locked.
func (m *model) fewest() (at *member, s served) {
	for _, other := range m.c.members {
		i := slices.IndexFunc(other.serves, func(s served) bool {
			return s.is(m.name) && (m.info.ID == methods.ModelID{} || m.info.ID == s.Info.ID)
		})
		if i >= 0 && other.link.ctx.Err() == nil && (at == nil || len(other.calls) < len(at.calls)) {
			at, s = other, other.serves[i]
		}
	}
	return at, s
}

// await waits until found, which is called with the coordinator locked, and tells the user
// if that takes a worker.
func (m *model) await(ctx context.Context, found func() bool) error {
	for {
		m.c.mu.Lock()
		ok, changed, told := found(), m.c.changed, m.told
		m.told = !ok
		m.c.mu.Unlock()
		if ok {
			return nil
		}
		if !told {
			m.c.o.Warn(fmt.Sprintf("no worker serves model %q: waiting for one: start it by: noema worker --join %s --serve %s", m.name, files.Word(m.c.Address()), files.Word(m.name)))
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Complete implements [provider.Provider].
func (m *model) Complete(ctx context.Context, r methods.Request) (methods.Completion, error) {
	var (
		at     *member
		s      served
		number uint64
		reply  = make(chan []byte, 1)
	)
	err := m.await(ctx, func() bool {
		at, s = m.fewest()
		switch {
		case m.here != nil && (at == nil || m.busy <= len(at.calls)):
			at = nil
			m.busy++
		case at == nil:
			return false
		default:
			m.c.asked++
			number = m.c.asked
			at.calls[number] = reply
		}
		return true
	})
	if err != nil {
		return methods.Completion{}, err
	}
	defer func() {
		m.c.mu.Lock()
		defer m.c.mu.Unlock()
		if at == nil {
			m.busy--
		} else {
			delete(at.calls, number)
		}
	}()
	if at == nil {
		return m.here.Complete(ctx, r)
	}
	return at.ask(ctx, number, asked{Model: s.Name, Request: r}, reply)
}

// ask has the worker answer a call.
func (m *member) ask(ctx context.Context, number uint64, what asked, reply chan []byte) (methods.Completion, error) {
	raw, err := json.Marshal(what)
	if err != nil {
		return methods.Completion{}, &provider.Error{Kind: provider.Rejected, Err: err}
	}
	if err := m.link.put(item{kind: ask, session: number, data: raw}); err != nil {
		return methods.Completion{}, m.lost(err)
	}
	select {
	case raw := <-reply:
		var a answered
		if err := json.Unmarshal(raw, &a); err != nil {
			return methods.Completion{}, &provider.Error{Kind: provider.Malformed, Err: fmt.Errorf("worker %s: %w", shown(m.hello.Shown), err)}
		}
		return a.Completion, a.fault()
	case <-m.link.ctx.Done():
		return methods.Completion{}, m.lost(context.Cause(m.link.ctx))
	case <-ctx.Done():
		_ = m.link.put(item{kind: ask, session: number}) // nobody waits for it
		return methods.Completion{}, context.Cause(ctx)
	}
}

// lost is the error of a call whose worker is gone. The gateway makes it again.
func (m *member) lost(why error) error {
	return &provider.Error{Kind: provider.Network, Err: fmt.Errorf("worker %s is gone: %w", shown(m.hello.Shown), why)}
}

// told hands the answer to a call to who waits for it, if somebody does.
func (m *member) told(i item) {
	m.c.mu.Lock()
	defer m.c.mu.Unlock()
	if reply := m.calls[i.session]; reply != nil {
		delete(m.calls, i.session)
		reply <- i.data
	}
}

// asked is a call of a model.
type asked struct {
	Model   string          `json:"model"` // as the worker says that it serves it
	Request methods.Request `json:"request"`
}

// answered is the answer to it, or the error of the provider.
type answered struct {
	Completion methods.Completion `json:"completion"`
	Kind       provider.Kind      `json:"kind,omitempty"` // of a [provider.Error]
	Hint       string             `json:"hint,omitempty"`
	Error      string             `json:"error,omitempty"`
}

// fault is the error as the model's provider gave it.
func (a answered) fault() error {
	switch {
	case a.Kind != "":
		return &provider.Error{Kind: a.Kind, Hint: a.Hint, Err: errors.New(a.Error)}
	case a.Error != "":
		return errors.New(a.Error)
	}
	return nil
}

// answer makes a call of a model that this worker serves, or ends one if i has no data.
func (v *visit) answer(i item) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(i.data) == 0 {
		if cancel := v.calls[i.session]; cancel != nil {
			cancel()
		}
		return nil
	}
	return said(i, func(what asked) {
		ctx, cancel := context.WithCancel(v.link.ctx)
		v.calls[i.session] = cancel
		v.working.Go(func() {
			defer func() {
				v.mu.Lock()
				defer v.mu.Unlock()
				cancel()
				delete(v.calls, i.session)
			}()
			a := v.complete(ctx, what)
			if ctx.Err() == nil {
				_ = v.link.say(told, i.session, a) // the link's end tells as much
			}
		})
	})
}

// complete asks the model.
func (v *visit) complete(ctx context.Context, what asked) (a answered) {
	p := v.o.Serves[what.Model]
	if p == nil {
		return answered{Error: fmt.Sprintf("this worker does not serve model %q", what.Model)}
	}
	c, err := p.Complete(ctx, what.Request)
	var fault *provider.Error
	switch {
	case errors.As(err, &fault):
		a.Kind, a.Hint = fault.Kind, fault.Hint
		a.Error = fmt.Sprint(fault.Err)
	case err != nil:
		a.Error = cmp.Or(err.Error(), "the model failed")
	}
	c.Text = strings.ToValidUTF8(c.Text, "\uFFFD") // as the gateway has it
	a.Completion = c
	return a
}
