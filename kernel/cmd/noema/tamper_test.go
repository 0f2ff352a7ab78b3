package main

import (
	"bytes"
	"context"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"noema/cache"
	"noema/kernel/result/record"
)

// chatty is a scripted model whose answers are long and do not compress, so
// that the store keeps them in its value log.
func chatty() string {
	rng := rand.New(rand.NewPCG(3, 14))
	noise := make([]byte, 900)
	for i := range noise {
		noise[i] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"[rng.IntN(62)]
	}
	return "model: chatty\ndefault:\n  reply: |\n    " + string(noise) + "\n    Answer: yes\n"
}

// recordedQuiz is a finished run of three questions and the call that the
// tests change: the one of the second question.
func recordedQuiz(t *testing.T) (*cli, record.Call) {
	t.Helper()
	c := newCLI(t)
	c.write("quiz.jsonl", quiz(3))
	c.write("model.yaml", chatty())
	c.run(0, "compare", "--task", "quiz.jsonl", "--model", "scripted/model.yaml", "--methods", "cot")
	tr := c.trials()[1]
	if tr.ID.Sample != "q2" || len(tr.Calls) != 1 {
		t.Fatalf("trial %s has calls %v", tr.ID, tr.Calls)
	}
	return c, tr.Calls[0]
}

// TestReplayTellsAChangedAnswer changes an answer in a valid record.
func TestReplayTellsAChangedAnswer(t *testing.T) {
	t.Parallel()
	c, call := recordedQuiz(t)
	c.store(func(ctx context.Context, s *cache.Store) {
		key, err := cache.ParseKey(call.Key)
		if err != nil {
			t.Fatal(err)
		}
		rec, err := s.Completion(ctx, key)
		if err != nil {
			t.Fatal(err)
		}
		request, id, err := s.Request(ctx, key)
		if err != nil {
			t.Fatal(err)
		}
		rec.Completion.Text = strings.Replace(rec.Completion.Text, "yes", "yet", 1)
		if err := s.ReplaceCompletion(ctx, key, request, id, rec); err != nil {
			t.Fatal(err)
		}
	})
	for _, workers := range []string{"1", "64"} {
		r := c.run(exitDiverged, "replay", "last", "--max-samples", workers)
		want(t, r.stderr, "replay diverged from run", "trial cot/q2/1, call "+call.Path+": same request, different reply")
		want(t, r.stdout, "DIVERGED: run ", "first at: trial cot/q2/1, call "+call.Path)
	}
	r := c.run(exitDiverged, "replay", "last", "--json")
	want(t, r.stdout, `"same":false`, `"first_divergence":{"trial":{"method":"cot","sample":"q2","epoch":0},"path":"`+call.Path+`"`)
}

// TestReplayTellsAFlippedByte flips single bytes of the answer's record in
// the files below the store: each is told, or meant nothing.
func TestReplayTellsAFlippedByte(t *testing.T) {
	t.Parallel()
	c, call := recordedQuiz(t)
	root := c.run(0, "replay", "last").stdout
	key, err := cache.ParseKey(call.Key)
	if err != nil {
		t.Fatal(err)
	}
	file, at := findRecord(t, c.home, append([]byte{'c'}, key[:]...))
	told := 0
	for _, offset := range []int{2, 40, 300, 600} {
		copied := c.at(filepath.Join(t.TempDir(), "home"))
		if err := os.CopyFS(copied.home, os.DirFS(c.home)); err != nil {
			t.Fatal(err)
		}
		flip(t, filepath.Join(copied.home, file), at+offset)
		r := copied.start(copied.command("replay", "last"))()
		switch r.code {
		case exitDiverged:
			told++
			want(t, r.stderr, "trial cot/q2/1, call "+call.Path)
			if told == 1 { // what is asked again is whole
				copied.run(0, "compare", "--task", "quiz.jsonl", "--model", "scripted/model.yaml", "--methods", "cot")
				copied.run(0, "replay", "last")
			}
		case 0:
			if r.stdout != root {
				t.Errorf("flipped byte %d: another replay:\n%s", offset, r.stdout)
			}
		default:
			t.Errorf("flipped byte %d: exit code %d:\n%s", offset, r.code, r.stderr)
		}
	}
	if told == 0 {
		t.Error("no flipped byte was told: were they in the record at all?")
	}
}

// findRecord is the value-log file below home that holds key, and where the
// value begins in it.
func findRecord(t *testing.T, home string, key []byte) (file string, at int) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(home), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".vlog" || at > 0 {
			return err
		}
		raw, err := os.ReadFile(filepath.Join(home, path))
		if i := bytes.Index(raw, key); i >= 0 {
			file, at = path, i+len(key)+8 // the key ends with its version
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if at == 0 {
		t.Fatal("no value-log file holds the record")
	}
	return file, at
}

func flip(t *testing.T, file string, at int) {
	t.Helper()
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b := make([]byte, 1)
	if _, err := f.ReadAt(b, int64(at)); err != nil {
		t.Fatal(err)
	}
	b[0] ^= 0x10
	if _, err := f.WriteAt(b, int64(at)); err != nil {
		t.Fatal(err)
	}
}
