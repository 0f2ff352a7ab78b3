// Package pause waits, before something is tried again.
package pause

import (
	"context"
	"time"
)

// For waits for d, or until the context ends, whose error it returns then.
func For(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
