package wire

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
)

func call(id uint64) *PluginFrame {
	return &PluginFrame{Frame: &PluginFrame_Call{Call: &Call{Id: id}}}
}

func TestOutboxSendsEachFrameOnce(t *testing.T) {
	const senders, each = 50, 200
	var sending atomic.Int32
	last := map[uint64]uint64{} // by sender
	count := 0
	o := NewOutbox(func(batch []*PluginFrame) error {
		if sending.Add(1) != 1 {
			t.Error("two messages at a time")
		}
		for _, f := range batch {
			id := f.GetCall().GetId()
			if sender := id / each; last[sender] > id {
				t.Errorf("frame %d after %d", id, last[sender])
			} else {
				last[sender] = id
			}
			count++
		}
		sending.Add(-1)
		return nil
	})
	done, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- o.Run(done) }()
	var group sync.WaitGroup
	for s := range senders {
		group.Go(func() {
			for i := range each {
				if ok, err := o.Put(t.Context(), call(uint64(s*each+i))); !ok || err != nil {
					t.Errorf("%t, %v", ok, err)
				}
			}
		})
	}
	group.Wait()
	close(done)
	if err := <-ended; err != nil || count != senders*each {
		t.Errorf("sent %d of %d: %v", count, senders*each, err)
	}
}

// A frame that finds the turn taken must not wait for the next one.
func TestOutboxSendsTheLastFrame(t *testing.T) {
	arrived := make(chan uint64, 2)
	o := NewOutbox(func(batch []*PluginFrame) error {
		for _, f := range batch {
			arrived <- f.GetCall().GetId()
		}
		return nil
	})
	done := make(chan struct{})
	defer close(done)
	go func() { _ = o.Run(done) }()
	for i := range uint64(5000) {
		var group sync.WaitGroup
		for j := range uint64(2) {
			group.Go(func() { _, _ = o.Put(t.Context(), call(2*i+j)) })
		}
		<-arrived
		<-arrived
		group.Wait()
	}
}

func TestOutboxEndsWithTheErrorOfASend(t *testing.T) {
	broken := errors.New("broken")
	o := NewOutbox(func([]*PluginFrame) error { return broken })
	ended := make(chan error, 1)
	go func() { ended <- o.Run(make(chan struct{})) }()
	if ok, err := o.Put(t.Context(), call(1)); !ok || err != nil {
		t.Errorf("Put: %t, %v", ok, err)
	}
	if err := <-ended; !errors.Is(err, broken) {
		t.Errorf("Run: %v", err)
	}
	for range batchFrames {
		if ok, err := o.Put(t.Context(), call(2)); err != nil {
			t.Fatal(err)
		} else if !ok {
			return
		}
	}
	if ok, err := o.Put(t.Context(), call(3)); ok || err != nil {
		t.Errorf("Put after the end: %t, %v", ok, err)
	}
}
