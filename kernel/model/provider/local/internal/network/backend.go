package network

import (
	"fmt"

	"github.com/gomlx/compute"
	_ "github.com/gomlx/compute/gobackend" // the default backend
)

// goBackend is the pure Go backend, with its operations one after the other.
// Run in parallel, as is its default, they can deadlock: each
// holds a worker, and a large multiplication within one waits for another
// worker (compute v0.1.2, workerspool.Saturate).
const goBackend = "go:ops_sequential"

// NewBackend makes a backend.
func NewBackend() (compute.Backend, error) {
	b, err := compute.NewWithConfig(goBackend)
	if err != nil {
		return nil, fmt.Errorf("make backend %q: %w", goBackend, err)
	}
	return b, nil
}
