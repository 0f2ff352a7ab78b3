package gateway

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"

	"noema/cache"
	"noema/kernel/model/provider/none"
	"noema/kernel/result/record"
	"noema/methods"
)

// damage changes one byte of the stored completion under key, past what the
// store can see, while the store is closed.
func damage(t *testing.T, dir string, key cache.Key) {
	t.Helper()
	db, err := badger.Open(badger.DefaultOptions(filepath.Join(dir, "data")).
		WithLogger(nil).WithCompression(options.None).WithBlockCacheSize(0).WithValueThreshold(256))
	if err != nil {
		t.Fatal(err)
	}
	full := append([]byte{'c'}, key[:]...)
	err = db.Update(func(txn *badger.Txn) error {
		item, err := txn.Get(full)
		if err != nil {
			return err
		}
		value, err := item.ValueCopy(nil)
		if err != nil {
			return err
		}
		bad := bytes.Clone(value)
		bad[len(bad)/2] ^= 1
		return txn.Set(full, bad)
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestDamagedRecord: in auto it is reported once, asked again and whole from
// then on; a replay names it and asks nobody.
func TestDamagedRecord(t *testing.T) {
	dir, m := t.TempDir(), &model{}
	store := openStore(t, dir)
	mustComplete(t, newGateway(t, Options{Store: store, Provider: m}).Host(trialOf("m", "s", 0)), ask("q", "p"))
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	key := cache.CompletionKey(m.Info().ID, 0, ask("q", ""))
	damage(t, dir, key)
	store = openStore(t, dir)

	var warnings []string
	warn := func(s string) { warnings = append(warnings, s) }
	replay := newGateway(t, Options{Store: store, Provider: none.New(m.Info()), Mode: Replay, Warn: warn})
	h := replay.Host(trialOf("m", "s", 0))
	_, err := h.Complete(t.Context(), ask("q", "p"))
	if !errors.Is(err, methods.ErrMiss) {
		t.Errorf("replay: %v", err)
	}
	if c := h.Report().Calls; len(c) != 1 || c[0].Fault != record.MissFault || !strings.Contains(c[0].Missing, key.String()) || replay.Stats().Corrupt != 1 || len(warnings) != 0 {
		t.Errorf("replay: transcript %+v, stats %+v, warnings %q", c, replay.Stats(), warnings)
	}

	auto := newGateway(t, Options{Store: store, Provider: m, Warn: warn})
	for range 2 {
		if c := mustComplete(t, auto.Host(trialOf("m", "s", 0)), ask("q", "p")); c.Text != "answer 2" {
			t.Errorf("auto: %q", c.Text)
		}
	}
	if len(warnings) != 1 || !strings.Contains(warnings[0], "corrupt record completions "+key.String()) || !strings.Contains(warnings[0], "asking again") {
		t.Errorf("warnings %q", warnings)
	}
	if s := auto.Stats(); s.Corrupt != 1 || s.Provider != 1 || s.Cached != 1 {
		t.Errorf("stats %+v", s)
	}
}

// TestStoreFails: when nothing can be kept any more, the run stops rather
// than pay for what is lost.
func TestStoreFails(t *testing.T) {
	store, m := openStore(t, t.TempDir()), &model{}
	m.answer = func(_ context.Context, n int64, _ methods.Request) (methods.Completion, error) {
		return numbered(n), store.Close()
	}
	g := newGateway(t, Options{Store: store, Provider: m})
	h := g.Host(trialOf("m", "s", 0))
	for range 2 {
		if _, err := h.Complete(t.Context(), ask("q", "p")); !errors.Is(err, cache.ErrClosed) || errors.Is(err, methods.ErrProvider) {
			t.Errorf("error %v", err)
		}
	}
	if !errors.Is(g.Fatal(), cache.ErrClosed) || m.calls.Load() != 1 {
		t.Errorf("fatal %v after %d calls", g.Fatal(), m.calls.Load())
	}
}
