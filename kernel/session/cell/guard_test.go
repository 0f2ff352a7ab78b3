package cell

import (
	"strings"
	"testing"
)

// TestMistakesThatEndAProgram are what the Go runtime ends a process for. Each is a
// panic of its cell, and the session goes on.
func TestMistakesThatEndAProgram(t *testing.T) {
	s := newSession(t, func(o *Options) { o.Imports = []string{"sync", "runtime", "runtime/debug"} })
	run(t, s, "var mu sync.Mutex\nvar rw sync.RWMutex\ntype locked struct{ sync.Mutex }\nvar own locked\nc := sync.NewCond(&mu)")
	many := func(body string) string {
		return "m := map[int]int{1: 1}\nvar wg sync.WaitGroup\nfor g := range 8 { wg.Add(1); go func() { defer wg.Done(); for i := range 50000 { " + body + " } }() }\nwg.Wait()"
	}
	for text, want := range map[string]string{
		"mu.Unlock()":               "sync: unlock of unlocked mutex",
		"defer mu.Unlock()":         "sync: unlock of unlocked mutex",
		"own.Unlock()":              "sync: unlock of unlocked mutex",
		"sync.Locker(&mu).Unlock()": "sync: unlock of unlocked mutex",
		"f := mu.Unlock; f()":       "sync: unlock of unlocked mutex",
		"c.Wait()":                  "sync: unlock of unlocked mutex",
		"rw.Unlock()":               "sync: Unlock of unlocked RWMutex",
		"rw.RLock(); defer rw.RUnlock(); rw.Unlock()": "sync: Unlock of unlocked RWMutex",
		"rw.RUnlock()": "sync: RUnlock of unlocked RWMutex",
		"rw.Lock(); defer rw.Unlock(); rw.RUnlock()": "sync: RUnlock of unlocked RWMutex",
		"rw.RLocker().Unlock()":                      "sync: RUnlock of unlocked RWMutex",
		"var wg sync.WaitGroup; wg.Done()":           "negative WaitGroup counter",
		"runtime.Breakpoint()":                       "no debugger",
		many("m[i] = g"):                             "concurrent map",
		many("delete(m, i); m[i%7] += g"):            "concurrent map",
		many("if i%2 == 0 { clear(m) } else { for range m { break }; m[i] = g }"): "concurrent map",
	} {
		t.Run("", func(t *testing.T) { fails(t, s, text, "panic", want) })
	}
	run(t, s, "debug.SetMaxStack(1)")
	// Locks are as they were, and what is guarded works.
	run(t, s, "mu.Lock(); mu.Unlock(); rw.Lock(); rw.Unlock(); rw.RLock(); rw.RUnlock(); rw.RLocker().Lock(); rw.RLocker().Unlock()")
	guarded := many("mu.Lock(); m[i] += g; mu.Unlock(); rw.RLock(); _ = i; rw.RUnlock()") + "\nlen(m)"
	if got := value(t, s, guarded); got != "50000" {
		t.Errorf("a map with a mutex has %s keys", got)
	}
}

// TestMemoryLimitOfGrowth asks for much at once by other ways than make.
func TestMemoryLimitOfGrowth(t *testing.T) {
	s, limit := limited(t)
	run(t, s, "import \"strings\"\nimport \"bytes\"")
	for _, text := range []string{
		"t := \"abcd\"\nfor { t += t }", "b := []byte{1}\nfor { b = append(b, b...) }", "make(chan [1024]byte, 1<<40)",
		"strings.Repeat(\"ab\", 1<<44)", "bytes.Repeat([]byte(\"ab\"), 1<<44)",
	} {
		_, err := s.Run(t.Context(), text, &recorder{})
		if err == nil || !strings.Contains(err.Error(), "the limit is "+size(limit)) {
			t.Errorf("%s fails with %v", text, err)
		}
		run(t, s, "t := \"\"; b := []byte{}")
	}
}
