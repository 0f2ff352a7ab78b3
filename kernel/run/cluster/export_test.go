package cluster

import "time"

// Embedded is embedded.Start, which the tests inside of the package cannot import.
var Embedded StartServer

// quick is a pace for tests.
func quick() pace {
	return pace{
		beat: 50 * time.Millisecond, silence: 1500 * time.Millisecond, watch: 50 * time.Millisecond, stuck: 300 * time.Millisecond,
		claim: 600 * time.Millisecond, retry: 20 * time.Millisecond,
	}
}

// Quickly has tests notice losses soon.
func (o Options) Quickly() Options { o.pace = quick(); return o }

// Quickly has tests notice losses soon.
func (o WorkerOptions) Quickly() WorkerOptions { o.pace = quick(); return o }

// Await waits until ok after a change.
func (c *Coordinator) Await(ok func() bool) {
	for {
		c.mu.Lock()
		changed := c.changed
		c.mu.Unlock()
		if ok() {
			return
		}
		<-changed
	}
}

// Prefix begins the subjects of a token.
func (t Token) Prefix() string { return t.prefix() }
