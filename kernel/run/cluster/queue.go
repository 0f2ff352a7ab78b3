package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// queue is the work queue of a cluster: a stream with a subject and a consumer for each
// group of trials that the same workers can run. It can be made again at any time.
type queue struct {
	js      jetstream.JetStream
	prefix  string
	storage jetstream.StorageType
	claim   time.Duration // a batch stays with a worker that says nothing of it
}

// batch is a message of the queue.
type batch struct {
	Run    uint64   `json:"run"`             // which of the coordinator's runs
	Batch  uint64   `json:"batch"`           // of the run
	Trials []string `json:"trials"`          // their names
	Alone  bool     `json:"alone,omitempty"` // the worker runs nothing else meanwhile
}

// begin makes the stream, or empties it, and makes the consumers of the groups.
func (q *queue) begin(ctx context.Context, groups []string) error {
	stream, err := q.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name: q.prefix, Subjects: []string{q.prefix + ".todo.*"}, Retention: jetstream.WorkQueuePolicy, Storage: q.storage,
	})
	if err == nil {
		err = stream.Purge(ctx)
	}
	for _, group := range groups {
		if err == nil {
			_, err = stream.CreateOrUpdateConsumer(ctx, jetstream.ConsumerConfig{
				Durable: group, FilterSubject: q.prefix + ".todo." + group, AckPolicy: jetstream.AckExplicitPolicy,
				AckWait: q.claim, MaxAckPending: 100_000,
			})
		}
	}
	if err != nil {
		return fmt.Errorf("make the queue: %w", err)
	}
	return nil
}

// empty drops what waits in the queue.
func (q *queue) empty(ctx context.Context) error {
	stream, err := q.js.Stream(ctx, q.prefix)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return stream.Purge(ctx)
}

// remove removes the queue with its consumers.
func (q *queue) remove(ctx context.Context) error {
	err := q.js.DeleteStream(ctx, q.prefix)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil
	}
	return err
}

// add adds a batch of a group.
func (q *queue) add(ctx context.Context, group string, b batch) error {
	raw, err := json.Marshal(b)
	if err == nil {
		_, err = q.js.Publish(ctx, q.prefix+".todo."+group, raw)
	}
	return err
}
