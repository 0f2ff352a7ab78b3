//go:build !linux

package isolate

import "runtime"

// Enforce does nothing: this operating system offers no isolation.
func Enforce(Rules) State {
	return State{Why: runtime.GOOS + " offers nothing that noema can use"}
}
