package cluster

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"noema/kernel/result/record"
	"noema/kernel/run/runner"
	"noema/plugins"
)

// run is a run as the coordinator hands it out. The coordinator guards its maps.
type run struct {
	c      *Coordinator
	number uint64
	ctx    context.Context
	fail   context.CancelCauseFunc
	deal   *runner.Deal
	do     func(context.Context, record.TrialID, runner.Place) error
	groups []group
	names  map[string]string // of methods, by group
	of     map[string]string // groups, by the label of a method
	trials sync.WaitGroup
	able   atomic.Pointer[map[string]bool] // groups that some worker can run

	queued  map[string]*queued // trials that wait for a worker, by name
	batches map[uint64]*sent   // batches that are not acknowledged
	last    uint64             // batch
	claimed time.Time          // when a trial was last begun
	lost    map[record.TrialID]int
}

// queued is a trial in the queue.
type queued struct {
	id    record.TrialID
	name  string
	group string
	batch uint64
}

// sent is a batch that is in the queue or with a worker.
type sent struct {
	left   int     // trials that are not finished
	ack    string  // subject, once a worker has it
	holder *member // who has it; nil for none
}

// Work implements runner.Crew.
func (c *Coordinator) Work(ctx context.Context, all []runner.Method, deal *runner.Deal, do func(context.Context, record.TrialID, runner.Place) error) error {
	r, err := c.begin(ctx, all, deal, do)
	if err != nil {
		return err
	}
	r.feed()
	r.trials.Wait()
	c.mu.Lock()
	c.run = nil
	c.wake()
	c.mu.Unlock()
	cleaning, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	err = context.Cause(r.ctx)
	r.fail(nil)
	if emptied := c.queue.empty(cleaning); err == nil && emptied != nil {
		c.o.Warn("empty the queue: " + emptied.Error()) // the next run does
	}
	return err
}

// begin makes the queue of a run, and offers the run to the workers.
func (c *Coordinator) begin(ctx context.Context, all []runner.Method, deal *runner.Deal, do func(context.Context, record.TrialID, runner.Place) error) (*run, error) {
	r := &run{
		c: c, deal: deal, do: do, names: map[string]string{}, of: map[string]string{}, queued: map[string]*queued{},
		batches: map[uint64]*sent{}, lost: map[record.TrialID]int{}, claimed: time.Now(),
	}
	for _, m := range all {
		if m.Plugin.Digest == "" { // it is a function of this process
			continue
		}
		g := groupOf(m.Plugin)
		r.of[m.Label] = g.ID
		if r.names[g.ID] != "" {
			continue
		}
		if err := c.publishCode(ctx, g, m.Plugin); err != nil {
			return nil, err
		}
		r.groups, r.names[g.ID] = append(r.groups, g), g.Name
	}
	if err := c.queue.begin(ctx, r.groupIDs()); err != nil {
		return nil, err
	}
	r.ctx, r.fail = context.WithCancelCause(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.runs++
	r.number = c.runs
	c.run = r
	r.look()
	for _, m := range c.members {
		m.offer(r)
	}
	return r, nil
}

func (r *run) groupIDs() (ids []string) {
	for _, g := range r.groups {
		ids = append(ids, g.ID)
	}
	return ids
}

// publishCode makes the code of a plugin known to the workers.
func (c *Coordinator) publishCode(ctx context.Context, g group, p record.Plugin) error {
	if g.Builtin {
		return nil
	}
	if _, err := c.codes.GetInfo(ctx, g.Digest); err == nil {
		return nil
	}
	src, err := c.o.Code(p)
	if err != nil {
		return err
	}
	packed, err := packCode(ctx, src)
	if err != nil {
		return err
	}
	_, err = c.codes.PutBytes(ctx, g.Digest, packed)
	return err
}

// carryOut runs one trial at its place.
func (r *run) carryOut(p *place) {
	err := r.do(r.ctx, p.trial.id, p)
	if errors.Is(err, plugins.ErrLost) && r.ctx.Err() == nil {
		if r.blame(p) {
			err = r.do(r.ctx, p.trial.id, nowhere{&plugins.Failure{
				Plugin: p.trial.id.Method, Reason: "took three workers with it, the last one while nothing else ran there"}})
		} else {
			r.deal.Back(p.trial.id)
			r.settle(p, nil, false)
			return
		}
	}
	r.settle(p, err, err == nil)
	if err == nil {
		r.deal.Done()
	}
}

// toAlone is after how many lost workers a trial runs alone.
const toAlone = 2

// blame notes that the worker of a trial was lost, and reports whether that was the
// trial's doing.
func (r *run) blame(p *place) bool {
	if !p.killed() {
		return false
	}
	r.c.mu.Lock()
	defer r.c.mu.Unlock()
	r.lost[p.trial.id]++
	return p.alone && r.lost[p.trial.id] > toAlone
}

// settle ends a trial at a place, and acknowledges its batch if that was the last.
func (r *run) settle(p *place, err error, done bool) {
	_ = p.conn.link.put(item{kind: end, session: p.conn.session}) // the link's end tells as much
	p.conn.done()
	c := r.c
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(p.m.places, p.conn.session)
	if done {
		p.m.done++
		c.done++
	}
	r.finish(p.trial.batch)
	if err != nil {
		r.fail(err)
	}
	c.wake()
}

// finish counts a trial of a batch as ended. The coordinator is locked.
func (r *run) finish(batch uint64) {
	b := r.batches[batch]
	if b == nil {
		return
	}
	if b.left--; b.left > 0 {
		return
	}
	delete(r.batches, batch)
	if b.ack != "" {
		_ = r.c.nc.Publish(b.ack, []byte("+ACK")) // else it comes again, and is acknowledged then
	}
}

// drop takes back what a worker that is gone had taken and not begun, and what nobody is
// known to have, since it may have been on its way to that worker. The coordinator is
// locked.
func (r *run) drop(m *member) {
	nobody := len(r.c.members) == 0
	for name, q := range r.queued {
		b := r.batches[q.batch]
		if nobody || b == nil || b.holder == nil || b.holder == m {
			delete(r.queued, name)
			r.finish(q.batch)
			r.deal.Back(q.id)
		}
	}
}
