package runner

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"noema/kernel/result/record"
)

// Doing is what a run under way does for one trial.
type Doing struct {
	Trial string    `json:"trial"`
	Since time.Time `json:"since"`
	Calls int       `json:"calls"`          // model calls that ended
	Last  string    `json:"last,omitempty"` // the path of the last of them
}

// UnderWay reports whether a process works on a run or a study, and the trials that it is
// at, the first begun first. It asks the lock of the run, which ends with the process.
func UnderWay(storeDir, id string) ([]Doing, bool) {
	f, err := os.Open(lockPath(storeDir, id))
	if err != nil {
		return nil, false
	}
	defer f.Close()
	if unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB) == nil {
		return nil, false // nobody holds it: its process was killed
	}
	var list []Doing
	if json.NewDecoder(f).Decode(&list) != nil { // as while it is being written
		return nil, true
	}
	slices.SortFunc(list, func(a, b Doing) int { return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Trial, b.Trial)) })
	return list, true
}

// boardEvery is how long what a run does may be older than what is told.
const boardEvery = 500 * time.Millisecond

// board tells other processes what a run is doing, in the file of its lock. A nil one tells
// nobody.
type board struct {
	path string

	mu      sync.Mutex
	doing   map[record.TrialID]*Doing
	pending *time.Timer // writes what changed; nil if nothing did
	closed  bool
}

func newBoard(storeDir, id string) *board {
	return &board{path: lockPath(storeDir, id), doing: map[record.TrialID]*Doing{}}
}

// begin notes a trial until done is called.
func (b *board) begin(id record.TrialID) (done func()) {
	b.change(func() { b.doing[id] = &Doing{Trial: id.String(), Since: time.Now().UTC()} })
	return func() { b.change(func() { delete(b.doing, id) }) }
}

// call notes a model call of a trial that ended.
func (b *board) call(id record.TrialID, path string) {
	b.change(func() {
		if d := b.doing[id]; d != nil {
			d.Calls, d.Last = d.Calls+1, path
		}
	})
}

func (b *board) change(do func()) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	do()
	if b.pending == nil && !b.closed {
		b.pending = time.AfterFunc(boardEvery, b.write)
	}
}

// write writes what is done now. It keeps the file that is locked.
func (b *board) write() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pending = nil
	if b.closed {
		return
	}
	list := make([]*Doing, 0, len(b.doing))
	for _, d := range b.doing {
		list = append(list, d)
	}
	if raw, err := json.Marshal(list); err == nil {
		_ = os.WriteFile(b.path, raw, 0o600) // who looks on sees less; the run goes on
	}
}

// close ends the writing, before the lock is given back.
func (b *board) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	if b.pending != nil {
		b.pending.Stop()
	}
}

func lockPath(storeDir, id string) string { return filepath.Join(storeDir, "locks", id) }
