package cache

import (
	"errors"
	"math"
	"strings"
	"testing"
)

func TestEmbeddings(t *testing.T) {
	bothSides(t, func(t *testing.T, s *Store) {
		ctx, k, other := t.Context(), EmbeddingKey("m", "a"), EmbeddingKey("m", "b")
		if _, err := s.Embedding(ctx, k); !errors.Is(err, ErrNotFound) {
			t.Fatalf("before: %v", err)
		}
		vector := []float32{1, -0.1, math.SmallestNonzeroFloat32, float32(math.Copysign(0, -1)), math.MaxFloat32}
		if err := s.PutEmbeddings(ctx, nil); err != nil {
			t.Fatal(err)
		}
		if err := s.PutEmbeddings(ctx, []EmbeddingRecord{{k, []float32{9}}, {other, []float32{2}}}); err != nil {
			t.Fatal(err)
		}
		if err := s.PutEmbeddings(ctx, []EmbeddingRecord{{k, vector}}); err != nil {
			t.Fatal(err)
		}
		got, err := s.Embedding(ctx, k)
		want(t, "vector", got, err, vector)
		if !math.Signbit(float64(got[3])) {
			t.Error("the sign of zero is lost")
		}
		got, err = s.Embedding(ctx, other)
		want(t, "the other", got, err, []float32{2})
		if err := s.PutEmbeddings(ctx, []EmbeddingRecord{{other, []float32{3}}, {Key: k}}); err == nil || !strings.Contains(err.Error(), k.String()) {
			t.Errorf("an embedding without numbers: %v", err)
		}
		got, err = s.Embedding(ctx, other)
		want(t, "after a refused write", got, err, []float32{2})
	})
}

func TestCorruptEmbeddings(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	ctx, k := t.Context(), EmbeddingKey("m", "a")
	for name, payload := range map[string]string{"none": "", "a number cut": "12345"} {
		value, err := s.codec.seal(Embeddings.key(k[:]), []byte(payload))
		if err != nil {
			t.Fatal(err)
		}
		raw(t, s, Embeddings.key(k[:]), value)
		var c *CorruptError
		if _, err := s.Embedding(ctx, k); !errors.As(err, &c) || c.Space != Embeddings || c.Key != k.String() {
			t.Errorf("%s: %v", name, err)
		}
		if report, err := s.Verify(ctx); err != nil || len(report.Corrupt) != 1 || report.Corrupt[0].Key != k.String() {
			t.Errorf("%s: verify: %+v, %v", name, report, err)
		}
	}
	if err := s.PutEmbeddings(ctx, []EmbeddingRecord{{k, []float32{1}}}); err != nil {
		t.Fatal(err)
	}
	got, err := s.Embedding(ctx, k)
	want(t, "healed", got, err, []float32{1})
	if report, err := s.Verify(ctx); err != nil || !report.OK() {
		t.Errorf("verify: %+v, %v", report, err)
	}
}

func TestEmbeddingKeysDiffer(t *testing.T) {
	seen := map[Key]string{}
	for _, c := range [][2]string{{"m", "a"}, {"m", "b"}, {"ma", ""}, {"", "ma"}, {"n", "a"}, {"m", "a\x00"}} {
		k := EmbeddingKey(c[0], c[1])
		if twin, twice := seen[k]; twice {
			t.Errorf("%q and %s have one key", c, twin)
		}
		seen[k] = c[0] + "/" + c[1]
	}
}
