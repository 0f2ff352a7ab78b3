package plugins

import "runtime"

// deepen makes room on the stack of a goroutine that has just begun, while there is little
// on it to move. A trial takes several goroutines and each call one more, all of which go
// deep: growing step by step on the way down took a twentieth of a run from the store.
//
//go:noinline
func deepen() {
	var room [12 << 10]byte
	runtime.KeepAlive(&room)
}
