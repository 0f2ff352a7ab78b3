package network

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gomlx/compute"
	_ "github.com/gomlx/compute/gobackend" // the default backend
)

// goBackend is the pure Go backend, with its operations one after the other.
// Run in parallel, as is its default, they can deadlock: each
// holds a worker, and a large multiplication within one waits for another
// worker (compute v0.1.2, workerspool.Saturate).
const goBackend = "go:ops_sequential"

// NewBackend makes a backend from its GoMLX name and options, such as "xla" in
// a program that links it. Empty means the pure Go backend.
func NewBackend(name string) (compute.Backend, error) {
	if name == "" || name == "go" {
		name = goBackend
	}
	kind, _, _ := strings.Cut(name, ":")
	if known := compute.List(); !slices.Contains(known, kind) { // which GoMLX panics at
		slices.Sort(known)
		return nil, fmt.Errorf("make backend %q: this program has only %s", name, strings.Join(known, ", "))
	}
	b, err := compute.NewWithConfig(name)
	if err != nil {
		return nil, fmt.Errorf("make backend %q: %w", name, err)
	}
	return b, nil
}
