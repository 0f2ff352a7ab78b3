// Package cluster lets other machines take part in a run, with the root hash that it has
// on one machine.
//
// The command that starts a run is its [Coordinator]. It keeps the plan, the store and the
// gateway, with the cache, the limits and the keys. A worker (see [Work]) takes batches of
// trial ids from a queue, runs the methods' plugins, and asks the coordinator for every
// call. It has no keys, no store and no targets. What a trial does is decided by what the
// gateway answers, so it does not matter where it runs.
//
// NATS carries the messages: a server inside of the coordinator (package embedded), or one
// that is there. Of JetStream the queue is a work queue, and the object store carries code
// and large messages. The queue is disposable. The store says which trials are finished,
// and the queue is made again from the others when it is gone or stuck. A batch is
// acknowledged when the store has its trials. A trial that comes twice is run once.
//
// A worker that is silent for a few seconds is lost: its trials go back to the queue, and
// what was answered to them comes from the store when they run again. A trial whose
// workers were lost twice runs alone on the next one; if that is lost too, it fails.
//
// All messages are authenticated with a key that is derived from the join token, so that
// another client of the same server can neither send nor change any.
package cluster

import (
	"errors"
	"time"
)

// How the two sides notice that the other is gone.
const (
	beatEvery = time.Second
	silence   = 6 * time.Second // without a word: it is lost
)

// ErrForeign is a message that does not come from the other side.
var ErrForeign = errors.New("a message is not of this cluster")
