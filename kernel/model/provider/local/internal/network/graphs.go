package network

import (
	"fmt"
	"sync"

	"github.com/gomlx/compute"
	. "github.com/gomlx/gomlx/core/graph" // see parts.go
	"github.com/gomlx/gomlx/core/tensors"
)

// release gives buffers back to the backend at once, for the next step.
func release(ts []*tensors.Tensor) {
	for _, t := range ts {
		_ = t.FinalizeAll() // fails only where there is nothing to release
	}
}

// graphs are the compiled graphs of one kind, each built at its first use.
type graphs[K comparable] struct {
	mu    sync.Mutex
	known map[K]*Exec
}

func (g *graphs[K]) of(b compute.Backend, key K, build func(in []*Node) []*Node) (*Exec, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if e := g.known[key]; e != nil {
		return e, nil
	}
	e, err := NewExec(b, build)
	if err != nil {
		return nil, fmt.Errorf("build graph: %w", err)
	}
	if g.known == nil {
		g.known = map[K]*Exec{}
	}
	g.known[key] = e
	return e, nil
}

// minPiece is the least number of tokens that a graph is built for.
const minPiece = 8

// piece is the number of tokens, padded to a power of two.
func piece(n int) int {
	size := minPiece
	for size < n {
		size *= 2
	}
	return size
}
