// Package cluster lets other machines take part in a run, with the root hash that it has
// on one machine.
//
// The command that starts a run is its [Coordinator]. It keeps the plan, the store and the
// gateway, with the cache, the limits and the keys. A worker (see [Work]) takes batches of
// trial ids from a queue, runs the methods' plugins, and asks the coordinator for every
// call. It has no keys, no store and no targets. What a trial does is decided by what the
// gateway answers, so it does not matter where it runs.
//
// NATS carries the messages: a server inside of the coordinator (package embedded), or an
// existing one. Of JetStream the queue is a work queue, and the object store carries code
// and large messages. The queue is disposable. The store says which trials are finished,
// and the queue is rebuilt from the others when it is gone or stuck. A batch is
// acknowledged when the store has its trials. A trial that comes twice is run once.
//
// A worker that is silent for a few seconds is lost: its trials go back to the queue, and
// what was answered to them comes from the store when they run again. A trial whose
// workers were lost twice runs alone on the next one; if that is lost too, it fails.
//
// A worker may serve local models (see [Coordinator.Model]): the gateway's calls of such a
// model go to the workers that have its weights, and are repeated when one is lost.
//
// All messages are authenticated with a key that is derived from the join token, so that
// another client of the same server can neither send nor change any.
package cluster

import (
	"errors"
	"time"
)

// pace is how often things are looked at, and how long they may last.
type pace struct {
	beat    time.Duration // between two signs of life
	silence time.Duration // without a sign: the other side is lost
	watch   time.Duration // between two looks at the queue
	stuck   time.Duration // without a trial begun, though workers are idle: the queue is rebuilt
	claim   time.Duration // a batch stays with a worker that says nothing of it
	retry   time.Duration // between two attempts to join, at most
}

// usual is the pace of all but tests.
func usual() pace {
	return pace{beat: time.Second, silence: 6 * time.Second, watch: 2 * time.Second, stuck: 12 * time.Second, claim: 30 * time.Second, retry: time.Second}
}

// again is the time to wait after so many attempts: the first follow each other fast, since
// workers are often started a moment before what they join.
func (p pace) again(attempts int) time.Duration {
	if attempts < 20 {
		return p.retry / 20
	}
	return p.retry
}

// ErrForeign is a message that does not come from the other side.
var ErrForeign = errors.New("a message is not of this cluster")
