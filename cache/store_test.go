package cache

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"noema/cache/internal/kv"
	"noema/cache/internal/recordpb"
	"noema/methods"
	"noema/methods/convert"
)

func mustOpen(t testing.TB, dir string) *Store {
	t.Helper()
	s, err := Open(t.Context(), dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

// bothSides runs f on the owner of a store and on a client of it.
func bothSides(t *testing.T, f func(t *testing.T, s *Store)) {
	t.Run("owner", func(t *testing.T) { f(t, mustOpen(t, t.TempDir())) })
	t.Run("client", func(t *testing.T) {
		dir := t.TempDir()
		mustOpen(t, dir)
		f(t, mustOpen(t, dir))
	})
}

func fullCompletion() CompletionRecord {
	return CompletionRecord{
		Completion: methods.Completion{
			Text:      "item 3 \x00\xff\xfe",
			ToolCalls: []methods.ToolCall{{ID: "1", Name: "hours", Arguments: json.RawMessage(`{"a":1}`), Path: "p"}},
			Finish:    methods.FinishTools,
			Model:     "gpt-5-nano-2025-08-07",
			Usage: methods.Usage{
				Calls: 1, ToolCalls: 2, InputTokens: 3, OutputTokens: 4, Cost: 5, Latency: 6, Unpriced: 7, Unmetered: 8,
				CachedTokens: 9, CacheWriteTokens: 10, ReasoningTokens: 11,
			},
			Logprobs: []methods.TokenLogprob{
				{Token: "item", Logprob: -1.0 / 3, Top: []methods.TokenLogprob{{Token: "thing", Logprob: -5e-324}, {Token: "item", Logprob: -1.0 / 3}}},
				{Token: "\uFFFD", Bytes: []byte{0xff, 0xfe}, Logprob: -745.13, Top: []methods.TokenLogprob{{Token: "\uFFFD", Bytes: []byte{0xff}}}},
			},
		},
		Attempts: []Attempt{{Kind: "rate_limited", Status: 429, Message: "slow down \xff", Wait: 2 * time.Second}, {Kind: "network"}},
		At:       time.Date(2026, 11, 5, 12, 0, 0, 123456789, time.UTC),
		Draw:     2,
		Epoch:    1,
	}
}

func textCompletion(text string) CompletionRecord {
	return CompletionRecord{Completion: methods.Completion{Text: text, Finish: methods.FinishStop}}
}

func testKey(i int) Key {
	return CompletionKey(testModel, i, methods.Request{Messages: methods.Ask("q")})
}

func want[T any](t *testing.T, what string, got T, err error, want T) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%s:\n got %+v\nwant %+v", what, got, want)
	}
}

func TestCompletionRoundTrip(t *testing.T) {
	bothSides(t, func(t *testing.T, s *Store) {
		ctx, k := t.Context(), testKey(0)
		if _, err := s.Completion(ctx, k); !errors.Is(err, ErrNotFound) {
			t.Fatalf("completion of an empty store: %v", err)
		}
		if _, _, err := s.Request(ctx, k); !errors.Is(err, ErrNotFound) {
			t.Fatalf("request of an empty store: %v", err)
		}
		r, c := fromProgram(fullRequest(), fullCompletion())
		r.Messages[0].Content = "\xff" + strings.Repeat("a long prompt ", 1000)
		id := methods.ModelID{Provider: "p", Endpoint: "e", Model: "m", Weights: "w", Config: "c"}
		if _, err := s.AddCompletion(ctx, k, r, id, c); err != nil {
			t.Fatal(err)
		}
		got, err := s.Completion(ctx, k)
		want(t, "completion", got, err, c)
		gotR, gotID, err := s.Request(ctx, k)
		want(t, "request", gotR, err, r)
		want(t, "model", gotID, err, id)
		for rec, err := range s.Requests(ctx) {
			want(t, "listed request", rec, err, RequestRecord{Key: k, Model: id, Request: r})
		}
		// Empty records are records, too.
		if _, err := s.AddCompletion(ctx, testKey(1), methods.Request{}, methods.ModelID{}, CompletionRecord{}); err != nil {
			t.Fatal(err)
		}
		got, err = s.Completion(ctx, testKey(1))
		want(t, "empty completion", got, err, CompletionRecord{})
		gotR, _, err = s.Request(ctx, testKey(1))
		want(t, "empty request", gotR, err, methods.Request{})
	})
}

// fromProgram is a request and its completion as a program's are.
func fromProgram(r methods.Request, c CompletionRecord) (methods.Request, CompletionRecord) {
	r.Raw, r.Unordered = &methods.Raw{Wire: "w", Body: json.RawMessage(`{"a":"\xff"}`), Unread: []string{"a"}, Rules: 1, Noise: []string{"n"}}, true
	r.By = "strong"
	c.Completion.Raw = json.RawMessage(`{"b":1}`)
	return r, c
}

// TestEveryFieldIsStored fails when a record grows a field that the tests
// above leave at zero, and so would not miss.
func TestEveryFieldIsStored(t *testing.T) {
	r, c := fromProgram(fullRequest(), fullCompletion())
	for _, v := range []any{c, *r.Raw, c.Completion, c.Completion.Usage, c.Completion.Logprobs[1], c.Attempts[0], r, r.Sampling, *r.Schema, r.Tools[0], c.Completion.ToolCalls[0]} {
		rv := reflect.ValueOf(v)
		for i := range rv.NumField() {
			if rv.Field(i).IsZero() {
				t.Errorf("%T.%s is new: add it to record.proto and fill it in the tests", v, rv.Type().Field(i).Name)
			}
		}
	}
}

// TestStoredFormIsFixed: records that older versions of noema wrote stay
// readable, since the same record is stored as the same bytes.
func TestStoredFormIsFixed(t *testing.T) {
	c := fullCompletion()
	tool := ToolRecord{
		Call: c.Completion.ToolCalls[0], Result: methods.ToolResult{Content: "r", IsError: true},
		At: c.At, Latency: 7, Attempts: c.Attempts,
	}
	for _, stored := range []struct {
		message proto.Message
		sum     string
	}{
		{convert.To[recordpb.Completion](c, nil), "6df2abde75ebc2913979b186026c87756711463bc7db5f0ea2a04547db7bb202"},
		{convert.To[recordpb.Request](storedRequest{testModel, fullRequest()}, nil), "de3bc375c530c4b1fdb2f8540eee563d1cd64b4ccd7468ca2c9fda421fd8a469"},
		{convert.To[recordpb.ToolResult](tool, nil), "2358a7e4cbbaa491904102cc63df5a88fe52b6e1418ceaf4cbd590445092dacf"},
		{convert.To[recordpb.Seed](SeedRecord{Data: []byte("s"), Usage: c.Completion.Usage, At: c.At}, nil), "3833f78943bcdb4970702b75406cc97ff338fd88bee82fe71eb3324a9a6882f8"},
	} {
		raw, err := proto.MarshalOptions{Deterministic: true}.Marshal(stored.message)
		if got := fmt.Sprintf("%x", sha256.Sum256(raw)); err != nil || got != stored.sum {
			t.Errorf("%T: %s, %v", stored.message, got, err)
		}
	}
}

func TestAddCompletionKeepsTheFirst(t *testing.T) {
	dir := t.TempDir()
	stores := []*Store{mustOpen(t, dir), mustOpen(t, dir)}
	var mu sync.Mutex
	texts := map[string]int{}
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			got, err := stores[i%2].AddCompletion(t.Context(), testKey(0), fullRequest(), testModel, textCompletion(fmt.Sprint(i)))
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			texts[got.Completion.Text]++
			mu.Unlock()
		})
	}
	wg.Wait()
	if len(texts) != 1 {
		t.Fatalf("16 callers went on with %d different completions: %v", len(texts), texts)
	}
	stored, err := stores[0].Completion(t.Context(), testKey(0))
	if err != nil || texts[stored.Completion.Text] != 16 {
		t.Fatalf("stored %q, %v; the callers have %v", stored.Completion.Text, err, texts)
	}
}

func TestReplaceCompletion(t *testing.T) {
	bothSides(t, func(t *testing.T, s *Store) {
		ctx, k := t.Context(), testKey(0)
		at := func(i int) CompletionRecord {
			c := textCompletion(fmt.Sprint("answer ", i))
			c.At = time.Unix(int64(i-1), 0).UTC() // one before 1970
			return c
		}
		for i := range 4 {
			for range 2 { // the repetition changes nothing
				if err := s.ReplaceCompletion(ctx, k, fullRequest(), testModel, at(i)); err != nil {
					t.Fatal(err)
				}
			}
		}
		got, err := s.Completion(ctx, k)
		want(t, "present completion", got, err, at(3))
		versions, err := s.CompletionVersions(ctx, k)
		want(t, "versions", versions, err, []CompletionRecord{at(0), at(1), at(2)})
		versions, err = s.CompletionVersions(ctx, testKey(1))
		want(t, "versions of another key", versions, err, nil)
	})
}

func TestReplaceAtOnceLosesNoVersion(t *testing.T) {
	dir := t.TempDir()
	stores := []*Store{mustOpen(t, dir), mustOpen(t, dir)}
	var wg sync.WaitGroup
	for i := range 12 {
		wg.Go(func() {
			if err := stores[i%2].ReplaceCompletion(t.Context(), testKey(0), fullRequest(), testModel, textCompletion(fmt.Sprint(i))); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	all := map[string]bool{}
	versions, err := stores[0].CompletionVersions(t.Context(), testKey(0))
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range versions {
		all[v.Completion.Text] = true
	}
	present, err := stores[0].Completion(t.Context(), testKey(0))
	all[present.Completion.Text] = true
	if err != nil || len(all) != 12 {
		t.Fatalf("%d of 12 answers are left, %v", len(all), err)
	}
}

func TestToolResultsAndSeeds(t *testing.T) {
	bothSides(t, func(t *testing.T, s *Store) {
		ctx, k := t.Context(), testKey(0)
		if _, err := s.ToolResult(ctx, k); !errors.Is(err, ErrNotFound) {
			t.Fatal(err)
		}
		tool := ToolRecord{
			Call:   methods.ToolCall{ID: "i", Name: "n", Arguments: json.RawMessage(`{}`), Path: "p"},
			Result: methods.ToolResult{Content: "c\xff", IsError: true},
			At:     time.Unix(5, 6).UTC(), Latency: 7, Attempts: []Attempt{{Kind: "network", Wait: 1}},
		}
		if err := s.PutToolResult(ctx, k, tool); err != nil {
			t.Fatal(err)
		}
		got, err := s.ToolResult(ctx, k)
		want(t, "tool result", got, err, tool)

		if _, err := s.Seed(ctx, k); !errors.Is(err, ErrNotFound) {
			t.Fatal(err)
		}
		first := SeedRecord{Data: []byte("formula"), Usage: methods.Usage{Calls: 1}, At: time.Unix(1, 0).UTC()}
		stored, err := s.PutSeed(ctx, k, first)
		want(t, "first seed", stored, err, first)
		stored, err = s.PutSeed(ctx, k, SeedRecord{Data: []byte("later")})
		want(t, "second seed", stored, err, first)
		stored, err = s.Seed(ctx, k)
		want(t, "seed", stored, err, first)
	})
}

func TestBlobs(t *testing.T) {
	bothSides(t, func(t *testing.T, s *Store) {
		for _, data := range [][]byte{[]byte("x"), bytes.Repeat([]byte("long "), 1<<20)} {
			k, err := s.PutBlob(t.Context(), data)
			if err != nil {
				t.Fatal(err)
			}
			again, err := s.PutBlob(t.Context(), data)
			want(t, "key", again, err, k)
			got, err := s.Blob(t.Context(), k)
			want(t, "blob", got, err, data)
		}
		if _, err := s.Blob(t.Context(), Key{}); !errors.Is(err, ErrNotFound) {
			t.Fatal(err)
		}
	})
}

func TestStats(t *testing.T) {
	bothSides(t, func(t *testing.T, s *Store) {
		for i := range 3 {
			if _, err := s.AddCompletion(t.Context(), testKey(i), fullRequest(), testModel, fullCompletion()); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.PutRun(t.Context(), "r", []byte("x")); err != nil {
			t.Fatal(err)
		}
		st, err := s.Stats(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		n := map[Space]int{}
		for _, sp := range st.Spaces {
			n[sp.Space] = sp.Entries
			if (sp.Bytes > 0) != (sp.Entries > 0) {
				t.Errorf("%s: %d entries in %d bytes", sp.Space, sp.Entries, sp.Bytes)
			}
		}
		if len(st.Spaces) != len(Spaces()) || n[Completions] != 3 || n[Requests] != 3 || n[Runs] != 1 || n[Seeds] != 0 {
			t.Errorf("stats %+v", st)
		}
		if st.DiskBytes == 0 || st.FreeBytes == 0 || st.Corrupt != 0 || st.Owner != s.kv.Owner() {
			t.Errorf("stats %+v", st)
		}
	})
}

func TestClosedStore(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := s.Completion(t.Context(), Key{})
	if putErr := s.PutRun(t.Context(), "r", nil); !errors.Is(err, ErrClosed) || !errors.Is(putErr, ErrClosed) {
		t.Fatalf("%v, %v", err, putErr)
	}
}

func TestCancelledContext(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.PutSeed(ctx, Key{}, SeedRecord{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	for _, err := range s.Runs(ctx) {
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	if _, err := s.Verify(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := Open(ctx, t.TempDir(), Options{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestDiskFull(t *testing.T) {
	dir := t.TempDir()
	s := mustOpen(t, dir)
	if err := s.PutRun(t.Context(), "r", []byte("x")); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	full, err := Open(t.Context(), dir, Options{MinFree: 1 << 62})
	if err != nil {
		t.Fatal(err)
	}
	data, err := full.Run(t.Context(), "r")
	want(t, "run on a full disk", string(data), err, "x")
	if err := full.PutRun(t.Context(), "r", []byte("y")); !errors.Is(err, ErrDiskFull) || !strings.Contains(err.Error(), dir) {
		t.Errorf("write on a full disk: %v", err)
	}
	if err := full.Close(); err != nil {
		t.Fatal(err)
	}
	data, err = mustOpen(t, dir).Run(t.Context(), "r")
	want(t, "run", string(data), err, "x")
}

// raw overwrites what is stored under a full key.
func raw(t *testing.T, s *Store, key, value []byte) {
	t.Helper()
	if err := s.kv.Apply(t.Context(), kv.Batch{Ops: []kv.Op{{Key: key, Value: value}}}); err != nil {
		t.Fatal(err)
	}
}
