//go:build race && !nocheckptr

package local_test

import (
	"fmt"
	"os"
	"testing"
)

// TestMain skips the tests: with the race detector comes a check of pointers,
// and the pure Go backend of GoMLX steps through matrices by integers, which
// that check takes for an error.
func TestMain(*testing.M) {
	fmt.Println("skipped: with -race add -gcflags=all=-d=checkptr=0 -tags nocheckptr")
	os.Exit(0)
}
