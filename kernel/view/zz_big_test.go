package view

import (
	"context"
	"fmt"
	"io"
	"os"
	"testing"
	"time"

	"noema/kernel/lab"
	"noema/kernel/session/builtin"
)

func TestZZMakeBig(t *testing.T) {
	dir := os.Getenv("BIG_HOME")
	if dir == "" {
		t.Skip()
	}
	l := lab.Open(lab.Options{Home: dir, Catalog: builtin.Catalog{}, Stderr: io.Discard, Context: func() context.Context { return context.WithoutCancel(t.Context()) }})
	defer l.Close()
	var n int
	fmt.Sscan(os.Getenv("BIG_N"), &n)
	start := time.Now()
	r := bigRun(t, l, n, 8)
	t.Log(r.ID(), time.Since(start))
}
