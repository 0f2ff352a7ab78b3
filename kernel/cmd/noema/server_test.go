package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"noema/cache"
	"noema/kernel/internal/test/providertest"
)

const (
	rightKey = "sk-right-0123456789abcdef"
	wrongKey = "sk-wrong-fedcba9876543210"
)

// yes answers every question in every form.
func yes(providertest.Ask) providertest.Answer { return providertest.Answer{Text: `{"answer": "yes"}`} }

// once gives each question its fault the first time that it is asked.
func once(faults map[string]providertest.Response) func(providertest.Ask) providertest.Response {
	var mu sync.Mutex
	return func(r providertest.Ask) providertest.Response {
		mu.Lock()
		defer mu.Unlock()
		for id, fault := range faults {
			if strings.Contains(r.Prompt, "question "+id+" ") {
				delete(faults, id)
				return fault
			}
		}
		return nil
	}
}

// TestFaultsOfAServer runs through a bad day of a server: the run finishes,
// and the transcripts say what happened.
func TestFaultsOfAServer(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
	server := providertest.New(providertest.Config{Answer: yes, Key: rightKey, Respond: once(map[string]providertest.Response{
		"q1": providertest.Status(429, "Rate limit reached.", "Retry-After", "1"),
		"q2": providertest.Status(500, "The server had an error."),
		"q3": providertest.Fail(providertest.Cut),
		"q4": providertest.Fail(providertest.Malformed),
		"q5": providertest.Raw(200, "application/json", `{"choices":[]}`),
		"q6": providertest.Slow(50 * time.Millisecond),
		"q7": providertest.Raw(502, "text/html", "<html></html>"),
		"q8": providertest.Status(500, "cannot serve key "+rightKey),
	})})
	defer server.Close()
	c := newCLI(t, "OPENAI_BASE_URL="+server.URL(), "OPENAI_API_KEY="+rightKey)
	c.write("quiz.jsonl", quiz(8))
	r := c.run(0, "compare", "--task", "quiz.jsonl", "--model", "openai/tiny", "--methods", "direct")
	want(t, r.stdout, "8 answered", "calls     8 to the provider", "cost", "unknown")
	if server.Requests() != 15 {
		t.Errorf("%d requests, want one for each question and one more for each of seven faults", server.Requests())
	}
	for id, fault := range map[string]string{
		"q1": "attempt 1 failed: rate_limited (HTTP 429), waited 1.0 s", "q2": "attempt 1 failed: unavailable (HTTP 500)",
		"q3": "attempt 1 failed: network", "q4": "attempt 1 failed: malformed", "q5": "attempt 1 failed: malformed",
		"q7": "(HTTP 502)", "q8": "cannot serve key [key]",
	} {
		want(t, c.run(0, "runs", "show", "last", "--trial", "direct/"+id).stdout, fault, "answer  answered \"yes\"")
	}
	want(t, c.run(0, "runs", "show", "last").stdout, "retries     7 calls needed more than one attempt")

	// The replay needs neither the server nor the key.
	server.Close()
	c.env = nil
	want(t, c.run(0, "replay", "last").stdout, "replayed: the root hash is that of run")
	secret(t, c, rightKey)
}

// TestWrongKey holds that a denied key is told once, whether or not there are enough
// requests to stop the run before its end.
func TestWrongKey(t *testing.T) {
	t.Parallel()
	server := providertest.New(providertest.Config{Answer: yes, Key: rightKey})
	defer server.Close()
	c := newCLI(t, "OPENAI_BASE_URL="+server.URL(), "OPENAI_API_KEY="+wrongKey)
	c.write("quiz.jsonl", quiz(30))
	args := []string{"compare", "--task", "quiz.jsonl", "--model", "openai/tiny", "--methods", "direct", "--max-samples"}
	r := c.run(exitError, append(args, "1", "--limit", "2")...)
	if server.Requests() != 2 {
		t.Errorf("%d requests with a denied key, want 2", server.Requests())
	}
	want(t, r.stderr, "noema: ", "OPENAI_API_KEY", "HTTP 401")
	if n := strings.Count(r.stderr, "OPENAI_API_KEY"); n != 1 || strings.Count(r.stderr, "\n") != 2 {
		t.Errorf("want the line of the run and one line of error, have:\n%s", r.stderr)
	}
	if r.stdout != "" {
		t.Errorf("a run without a trial printed:\n%s", r.stdout)
	}
	parallel := c.run(exitError, append(args, "5")...)
	if server.Requests() > 2+10+4 {
		t.Errorf("%d requests, want no more than ten and what was under way at once", server.Requests())
	}
	if n := strings.Count(parallel.stderr, "OPENAI_API_KEY"); n != 1 {
		t.Errorf("told %d times:\n%s", n, parallel.stderr)
	}
	if text := r.stdout + r.stderr + parallel.stdout + parallel.stderr; strings.Contains(text, wrongKey) {
		t.Errorf("the key is printed:\n%s", text)
	}
	secret(t, c, wrongKey)

	// With the right one the run goes on.
	c.env[1] = "OPENAI_API_KEY=" + rightKey
	want(t, c.run(0, append(args, "5")...).stdout, "30 answered")
	want(t, c.run(0, "runs", "list").stdout, "finished")
	secret(t, c, rightKey)
}

// TestUnknownModelOfAServer holds the same of a model that a server lacks.
func TestUnknownModelOfAServer(t *testing.T) {
	t.Parallel()
	server := providertest.New(providertest.Config{Models: []string{"big"}})
	defer server.Close()
	c := newCLI(t, "OPENAI_BASE_URL="+server.URL())
	c.write("quiz.jsonl", quiz(3))
	r := c.run(exitError, "compare", "--task", "quiz.jsonl", "--model", "openai/tiny", "--methods", "direct", "--max-samples", "1")
	want(t, r.stderr, "The model 'tiny' does not exist", "check the model's name and OPENAI_BASE_URL")
	if server.Requests() != 3 || r.stdout != "" { // one denied request says nothing of the others, all of three do
		t.Errorf("%d requests, stdout:\n%s", server.Requests(), r.stdout)
	}
}

// TestProviderThatFailsForGood holds that one question's failure is one
// trial's, that the run ends with its own exit code, and that running it
// again asks only what was not answered.
func TestProviderThatFailsForGood(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	sick := true
	server := providertest.New(providertest.Config{Answer: yes, Respond: func(r providertest.Ask) providertest.Response {
		mu.Lock()
		defer mu.Unlock()
		if sick && strings.Contains(r.Prompt, "question q2 ") {
			return providertest.Status(500, "a \x1b[31mred\x07 day")
		}
		return nil
	}})
	defer server.Close()
	c := newCLI(t, "OPENAI_BASE_URL="+server.URL())
	c.write("quiz.jsonl", quiz(3))
	args := []string{"compare", "--task", "quiz.jsonl", "--model", "openai/tiny", "--methods", "direct", "--retries", "1"}
	r := c.run(exitFailed, args...)
	want(t, r.stderr, "1 of 3 trials failed; the first, direct/q2/1: ", "after 2 attempts", "HTTP 500", "red")
	if strings.ContainsAny(r.stderr+r.stdout, "\x1b\x07") {
		t.Errorf("a server steers the terminal: %q", r.stderr)
	}
	want(t, r.stdout, "2 answered, 1 error")
	replay := c.run(0, "replay", "last")
	want(t, replay.stdout, "1 trial had failed for other reasons than the method: not repeated")
	mu.Lock()
	sick = false
	mu.Unlock()
	want(t, c.run(0, args...).stdout, "3 answered", "calls     1 to the provider, 2 from the store")
}

// secret demands that a key is nowhere below the home: not in the files as
// they are, and not in the records, which are compressed in the files.
func secret(t *testing.T, c *cli, key string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(c.home), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		raw, err := os.ReadFile(filepath.Join(c.home, path))
		if bytes.Contains(raw, []byte(key)) {
			t.Errorf("%s holds the key", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	c.store(func(ctx context.Context, s *cache.Store) {
		records := 0
		look := func(what string, v any, err error) {
			records++
			if err != nil {
				t.Fatal(err)
			}
			if text := fmt.Sprintf("%s %+v", v, v); strings.Contains(text, key) {
				t.Errorf("a %s holds the key: %.300s", what, text)
			}
		}
		for r, err := range s.Requests(ctx) {
			look("request", r, err)
			rec, err := s.Completion(ctx, r.Key)
			look("completion", rec, err)
		}
		for run, err := range s.Runs(ctx) {
			look("run", string(run.Data), err)
			for trial, err := range s.Trials(ctx, run.ID) {
				look("trial", string(trial.Data), err)
			}
		}
		if records == 0 {
			t.Error("the store holds no records to look at")
		}
	})
}

// TestRequestHeaders holds what a server gets of a run: the key, and once
// each question.
func TestRequestHeaders(t *testing.T) {
	t.Parallel()
	server := providertest.New(providertest.Config{Answer: yes})
	defer server.Close()
	c := newCLI(t, "OPENAI_BASE_URL="+server.URL(), "OPENAI_API_KEY="+rightKey)
	c.write("quiz.jsonl", quiz(2))
	c.run(0, "compare", "--task", "quiz.jsonl", "--model", "openai/tiny", "--methods", "direct", "--temperature", "0.5", "-S", "max_tokens=77")
	recorded := server.Asks()
	if len(recorded) != 2 {
		t.Fatalf("%d requests, want 2", len(recorded))
	}
	for _, r := range recorded {
		if got := r.Header.Get("Authorization"); got != "Bearer "+rightKey {
			t.Errorf("authorization %q", got)
		}
		if got := r.Body["temperature"]; got != 0.5 {
			t.Errorf("temperature %v", got)
		}
		if got := r.Body["max_tokens"]; got != 77.0 {
			t.Errorf("output limit %v", got)
		}
	}
}
