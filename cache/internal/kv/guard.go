package kv

import (
	"bytes"
	"errors"
	"sync"
)

// keyLocks serialise guarded batches on the same key: Badger's own conflict
// detection is off, as it costs memory on every write. A lock is held until the
// batch is synced, so no two keys may share one.
type keyLocks struct {
	mu   sync.Mutex
	held map[string]chan struct{} // closed when the key is free again
}

// lock waits until key is free and takes it.
func (k *keyLocks) lock(key []byte) (unlock func()) {
	name, mine := string(key), make(chan struct{})
	for {
		k.mu.Lock()
		other := k.held[name]
		if other == nil {
			if k.held == nil {
				k.held = map[string]chan struct{}{}
			}
			k.held[name] = mine
		}
		k.mu.Unlock()
		if other == nil {
			return func() {
				k.mu.Lock()
				delete(k.held, name)
				k.mu.Unlock()
				close(mine)
			}
		}
		<-other
	}
}

func (l *local) holds(g Guard) error {
	have, err := l.read(g.Key)
	switch {
	case errors.Is(err, ErrNotFound):
		if g.Absent {
			return nil
		}
	case errors.Is(err, ErrDamaged):
		have, err = nil, nil
		fallthrough
	case err == nil:
		if !g.Absent && bytes.Equal(have, g.Value) {
			return nil
		}
	default:
		return err
	}
	return ErrChanged
}
