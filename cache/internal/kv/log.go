package kv

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"
)

// logger passes on what Badger reports, and catches the one failure that
// Badger only reports: a value log that could not be synced. A write may then
// be lost though it was acknowledged, and trying again proves nothing, so the
// store takes no further writes until it is opened anew.
type logger struct {
	log *slog.Logger

	mu      sync.Mutex
	syncErr error
}

func (l *logger) Errorf(format string, args ...any) {
	text := message(format, args)
	if strings.HasPrefix(format, "Error while curlf sync") {
		l.mu.Lock()
		l.syncErr = fmt.Errorf("sync store to disk: %s: the disk may be failing: check it and start again", text)
		l.mu.Unlock()
	}
	l.log.Error(text, "from", "badger")
}

func (l *logger) Warningf(format string, args ...any) {
	l.log.Warn(message(format, args), "from", "badger")
}

func (l *logger) Infof(format string, args ...any) {
	l.log.Debug(message(format, args), "from", "badger")
}

func (l *logger) Debugf(string, ...any) {}

func (l *logger) syncError() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.syncErr
}

func message(format string, args []any) string {
	return strings.TrimSpace(fmt.Sprintf(format, args...))
}
