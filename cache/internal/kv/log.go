package kv

import (
	"fmt"
	"strings"
	"sync"
)

// logger catches the one failure that Badger only reports: a value log that could
// not be synced. A write may then be lost though it was acknowledged, and trying
// again proves nothing, so the store takes no further writes until it is opened
// anew.
type logger struct {
	mu      sync.Mutex
	syncErr error
}

func (l *logger) Errorf(format string, args ...any) {
	if strings.HasPrefix(format, "Error while curlf sync") {
		l.mu.Lock()
		l.syncErr = fmt.Errorf("sync store to disk: %s: the disk may be failing: check it and start again", strings.TrimSpace(fmt.Sprintf(format, args...)))
		l.mu.Unlock()
	}
}

func (l *logger) Warningf(string, ...any) {}
func (l *logger) Infof(string, ...any)    {}
func (l *logger) Debugf(string, ...any)   {}

func (l *logger) syncError() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.syncErr
}
