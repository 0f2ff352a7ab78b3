package cache

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"noema/cache/internal/kv"
	"noema/methods"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv("CACHE_TEST_CHILD"); dir != "" {
		writeForEver(dir)
		return
	}
	os.Exit(m.Run())
}

// writeForEver is the test binary as another process. It prints the number of
// each record that was acknowledged.
func writeForEver(dir string) {
	s, err := Open(context.Background(), dir, Options{})
	for i := 0; err == nil; i++ {
		r, c := numbered(i)
		_, err = s.AddCompletion(context.Background(), testKey(i), r, testModel, c)
		if err == nil {
			err = s.PutTrial(context.Background(), "run", fmt.Sprintf("%06d", i), []byte(c.Completion.Text))
		}
		if err == nil {
			fmt.Println(i)
		}
	}
	fmt.Println("error:", err)
	os.Exit(1)
}

func numbered(i int) (methods.Request, CompletionRecord) {
	text := strings.Repeat(fmt.Sprintf("answer %d; ", i), 1+i%100)
	return methods.Request{Messages: methods.Ask(text + "?")}, textCompletion(text)
}

func TestKillLosesNothing(t *testing.T) {
	dir := t.TempDir()
	for round := range 2 {
		last := killWriter(t, dir, 40+20*round)
		s, err := Open(t.Context(), dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range last + 1 {
			r, c := numbered(i)
			got, err := s.Completion(t.Context(), testKey(i))
			want(t, "completion", got, err, c)
			gotR, _, err := s.Request(t.Context(), testKey(i))
			want(t, "request", gotR, err, r)
			data, err := s.Trial(t.Context(), "run", fmt.Sprintf("%06d", i))
			want(t, "trial", string(data), err, c.Completion.Text)
		}
		if report, err := s.Verify(t.Context()); err != nil || !report.OK() || report.Checked < 3*last {
			t.Fatalf("verify: %+v, %v", report, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// killWriter lets a process write n records to dir, kills it and returns the
// last record that it had an acknowledgement for.
func killWriter(t *testing.T, dir string, n int) int {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "CACHE_TEST_CHILD="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	last := -1
	for s := bufio.NewScanner(out); s.Scan(); {
		if _, err := fmt.Sscan(s.Text(), &last); err != nil {
			t.Errorf("child: %s", s.Text())
		}
		if last == n {
			_ = cmd.Process.Kill()
		}
	}
	_ = cmd.Wait()
	if last < n {
		t.Fatalf("the child ended at record %d", last)
	}
	return last
}

func TestCorruptRecords(t *testing.T) {
	bothSides(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		for i := range 2 {
			if _, err := s.AddCompletion(ctx, testKey(i), fullRequest(), testModel, fullCompletion()); err != nil {
				t.Fatal(err)
			}
		}
		k, other := testKey(0), testKey(1)
		key := Completions.key(k[:])
		intact, err := s.kv.Get(ctx, key)
		if err != nil {
			t.Fatal(err)
		}
		ofOther, err := s.kv.Get(ctx, Completions.key(other[:]))
		if err != nil {
			t.Fatal(err)
		}
		flip := func(at int) []byte {
			b := bytes.Clone(intact)
			b[at] ^= 4
			return b
		}
		noProto, err := s.codec.seal(key, []byte("\xff\xff\xff"))
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string][]byte{
			"empty": {}, "short": intact[:5], "cut": intact[:len(intact)-1], "longer": append(bytes.Clone(intact), 0),
			"format": flip(0), "space": flip(1), "flags": flip(2), "reserved": flip(3), "checksum": flip(4),
			"payload": flip(len(intact) / 2), "another's": ofOther, "not a completion": noProto,
		} {
			raw(t, s, key, value)
			_, err := s.Completion(ctx, k)
			var c *CorruptError
			if !errors.Is(err, ErrCorrupt) || !errors.As(err, &c) || c.Space != Completions || c.Key != k.String() {
				t.Errorf("%s: %v", name, err)
			}
			report, err := s.Verify(ctx)
			if err != nil || len(report.Corrupt) != 1 || report.Corrupt[0].Key != k.String() || report.Checked != 4 {
				t.Errorf("%s: verify: %+v, %v", name, report, err)
			}
		}
		if st, err := s.Stats(ctx); err != nil || st.Corrupt < 24 {
			t.Errorf("stats count %d corrupt records, %v", st.Corrupt, err)
		}
	})
}

// TestCorruptRecordsHeal: a corrupt record is no obstacle to an intact one.
func TestCorruptRecordsHeal(t *testing.T) {
	bothSides(t, func(t *testing.T, s *Store) {
		ctx, k := t.Context(), testKey(0)
		key := Completions.key(k[:])
		raw(t, s, key, []byte("damaged"))
		got, err := s.AddCompletion(ctx, k, fullRequest(), testModel, textCompletion("new"))
		want(t, "added", got, err, textCompletion("new"))
		raw(t, s, key, []byte("damaged"))
		if err := s.ReplaceCompletion(ctx, k, fullRequest(), testModel, textCompletion("newer")); err != nil {
			t.Fatal(err)
		}
		got, err = s.Completion(ctx, k)
		want(t, "replaced", got, err, textCompletion("newer"))
		versions, err := s.CompletionVersions(ctx, k)
		want(t, "versions", versions, err, nil)
	})
}

func TestCorruptEntriesAreSkipped(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	for _, id := range []string{"1", "2", "3"} {
		if err := errors.Join(s.PutRun(t.Context(), id, []byte(id)), s.PutTrial(t.Context(), "r", id, []byte(id))); err != nil {
			t.Fatal(err)
		}
	}
	raw(t, s, Runs.key([]byte("2")), []byte("x"))
	raw(t, s, trialKey("r", "2"), []byte("x"))
	for name, seq := range map[string]func(func(Entry, error) bool){
		"2": s.Runs(t.Context()), "r/2": s.Trials(t.Context(), "r"),
	} {
		var ids []string
		for e, err := range seq {
			ids = append(ids, e.ID)
			var c *CorruptError
			if errors.As(err, &c) != (e.ID == "2") || c != nil && c.Key != name {
				t.Errorf("%s: %v", e.ID, err)
			}
		}
		if len(ids) != 3 {
			t.Errorf("entries %q", ids)
		}
	}
}

func TestNewerRecord(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	k := testKey(0)
	key := Completions.key(k[:])
	env := []byte{envelopeFormat + 1, 'c', 0, 0, 0, 0, 0, 0, 'x'}
	sum := checksum(key, env)
	env[4], env[5], env[6], env[7] = byte(sum), byte(sum>>8), byte(sum>>16), byte(sum>>24)
	raw(t, s, key, env)
	_, err := s.Completion(t.Context(), k)
	if !errors.Is(err, ErrNewerFormat) || errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), "update noema") {
		t.Fatal(err)
	}
	if _, err := s.AddCompletion(t.Context(), k, fullRequest(), testModel, fullCompletion()); !errors.Is(err, ErrNewerFormat) {
		t.Fatalf("a newer record was overwritten: %v", err)
	}
}

func TestBlobWithOtherContent(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	k, err := s.PutBlob(t.Context(), []byte("right"))
	if err != nil {
		t.Fatal(err)
	}
	key := Blobs.key(k[:])
	env, err := s.codec.seal(key, []byte("wrong"))
	if err != nil {
		t.Fatal(err)
	}
	raw(t, s, key, env)
	if _, err := s.Blob(t.Context(), k); !errors.Is(err, ErrCorrupt) {
		t.Fatal(err)
	}
	if _, err := s.PutBlob(t.Context(), []byte("right")); err != nil {
		t.Fatal(err)
	}
	data, err := s.Blob(t.Context(), k)
	want(t, "mended blob", string(data), err, "right")
}

// TestFlippedBytes flips bytes all over the files of a closed store. Each
// read then gives the right data, ErrNotFound or a CorruptError, and damage
// in a value log never keeps the store from opening.
func TestFlippedBytes(t *testing.T) {
	const n = 30
	dir := t.TempDir()
	s := mustOpen(t, dir)
	for i := range n {
		r, c := numbered(i)
		if _, err := s.AddCompletion(t.Context(), testKey(i), r, testModel, c); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, pattern := range []string{"*.vlog", "*.sst"} {
		found, _ := filepath.Glob(filepath.Join(dir, "data", pattern))
		files = append(files, found...)
	}
	if len(files) < 2 {
		t.Fatalf("files: %v", files)
	}
	rng := rand.New(rand.NewPCG(7, 8))
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for range 25 {
			at, bit := rng.IntN(len(content)), byte(1)<<rng.IntN(8)
			to := filepath.Join(t.TempDir(), "copy")
			if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
			bad := bytes.Clone(content)
			bad[at] ^= bit
			if err := os.WriteFile(filepath.Join(to, "data", filepath.Base(file)), bad, 0o600); err != nil {
				t.Fatal(err)
			}
			name := fmt.Sprintf("%s byte %d bit %08b", filepath.Base(file), at, bit)
			checkDamaged(t, name, to, n)
		}
	}
}

func checkDamaged(t *testing.T, name, dir string, n int) {
	t.Helper()
	s, err := Open(t.Context(), dir, Options{})
	if err != nil {
		if strings.Contains(name, ".vlog") || !errors.Is(err, kv.ErrDamaged) {
			t.Fatalf("%s: %v", name, err)
		}
		return
	}
	defer s.Close()
	bad := 0
	for i := range n {
		r, c := numbered(i)
		got, err := s.Completion(t.Context(), testKey(i))
		if err == nil {
			want(t, name, got, nil, c)
		} else if bad++; !errors.Is(err, ErrNotFound) && !errors.Is(err, ErrCorrupt) {
			t.Fatalf("%s: %v", name, err)
		}
		gotR, _, err := s.Request(t.Context(), testKey(i))
		if err == nil {
			want(t, name, gotR, nil, r)
		} else if bad++; !errors.Is(err, ErrNotFound) && !errors.Is(err, ErrCorrupt) {
			t.Fatalf("%s: %v", name, err)
		}
	}
	if bad > 1 {
		t.Errorf("%s: %d records are gone", name, bad)
	}
	if report, err := s.Verify(t.Context()); err != nil || len(report.Corrupt) != bad {
		t.Errorf("%s: verify finds %v, %v; want %d", name, report.Corrupt, err, bad)
	}
}

func FuzzUnseal(f *testing.F) {
	c, err := newCodec()
	if err != nil {
		f.Fatal(err)
	}
	key := Runs.key([]byte("id"))
	for _, payload := range []string{"", "short", strings.Repeat("long", 1000)} {
		env, err := c.seal(key, []byte(payload))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(env)
	}
	f.Fuzz(func(t *testing.T, env []byte) {
		if _, err := c.unseal(key, env); err == nil {
			return
		}
		// Past the checksum, whatever comes must be an error at worst.
		if len(env) >= envelopeSize {
			sum := checksum(key, env)
			env[4], env[5], env[6], env[7] = byte(sum), byte(sum>>8), byte(sum>>16), byte(sum>>24)
			_, _ = c.unseal(key, env)
		}
	})
}
