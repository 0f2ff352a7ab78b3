package local

import (
	"crypto/sha256"
	"encoding/json"
	"slices"
	"sync"
	"sync/atomic"

	"noema/kernel/model/provider/local/internal/grammar"
)

// What is kept of grammars: a run asks with few schemas and very often, and a
// grammar that is kept keeps its masks.
const (
	maxGrammars  = 32
	maxMaskBytes = 256 << 20 // of the masks of all of them
)

// grammars keeps the grammars of the schemas that were asked for last. It is
// safe for concurrent use.
type grammars struct {
	room int // bytes of masks
	mu   sync.Mutex
	kept []*compiled // the one asked for last in front
}

// compiled is a schema's grammar, or the error of compiling it. Requests that come with
// a schema at the same time wait for one compilation.
type compiled struct {
	digest  [sha256.Size]byte
	once    sync.Once
	grammar atomic.Pointer[grammar.Grammar] // nil until it is compiled
	err     error
}

// of gives the grammar of a schema.
func (k *grammars) of(schema json.RawMessage) (*grammar.Grammar, error) {
	c := k.entry(sha256.Sum256(schema))
	c.once.Do(func() {
		g, err := grammar.Compile(schema)
		c.grammar.Store(g)
		c.err = err
	})
	return c.grammar.Load(), c.err
}

// entry finds or makes the entry of a schema, and drops those asked for
// longest ago while there are too many or their masks take too much.
func (k *grammars) entry(digest [sha256.Size]byte) *compiled {
	k.mu.Lock()
	defer k.mu.Unlock()
	c := &compiled{digest: digest}
	if i := slices.IndexFunc(k.kept, func(c *compiled) bool { return c.digest == digest }); i >= 0 {
		c = k.kept[i]
		k.kept = slices.Delete(k.kept, i, i+1)
	}
	k.kept = slices.Insert(k.kept, 0, c)
	for n := len(k.kept); n > maxGrammars || n > 1 && k.held() > k.room; n-- {
		k.kept = slices.Delete(k.kept, n-1, n)
	}
	return c
}

// held is how many bytes the masks of all grammars take.
func (k *grammars) held() int {
	sum := 0
	for _, c := range k.kept {
		if g := c.grammar.Load(); g != nil {
			sum += g.Held()
		}
	}
	return sum
}
