package task

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// drawnJSON writes a value of JSON, with spaces anywhere, and reports whether a key
// stands twice in an object of it.
func drawnJSON(r *rand.Rand, b *strings.Builder, depth int) (twice bool) {
	space := func() { b.WriteString([]string{"", "", " ", "\t"}[r.IntN(4)]) }
	keys := []string{`"a"`, `"b"`, `"\u0061"`, `"{"`, `"a\""`, `"\\"`, `"é"`, `""`, `","`, `"x:y"`}
	defer space()
	space()
	switch n := r.IntN(4); {
	case r.IntN(3) == 0 || depth == 0:
		b.WriteString([]string{"1", "null", "true", keys[r.IntN(len(keys))], "-0.5e3"}[r.IntN(5)])
	case r.IntN(2) == 0:
		b.WriteByte('[')
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			twice = drawnJSON(r, b, depth-1) || twice
		}
		b.WriteByte(']')
	default:
		seen := map[string]bool{}
		b.WriteByte('{')
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			space()
			key := keys[r.IntN(len(keys))]
			var said string
			if err := json.Unmarshal([]byte(key), &said); err != nil {
				panic(err)
			}
			twice, seen[said] = twice || seen[said], true
			b.WriteString(key)
			space()
			b.WriteByte(':')
			twice = drawnJSON(r, b, depth-1) || twice
		}
		b.WriteByte('}')
	}
	return twice
}

// TestDuplicateKeys reads drawn lines: one is refused, with its place and the key, if and
// only if a key stands twice in an object, however it is written and however deep.
func TestDuplicateKeys(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 13))
	found := 0
	for range 20_000 {
		var b strings.Builder
		twice := drawnJSON(r, &b, 4)
		var into any
		err := Line{File: "f", Number: 7, Raw: []byte(b.String())}.Decode(&into)
		if (err != nil) != twice || twice && (!strings.HasPrefix(err.Error(), "f:7:") || !strings.Contains(err.Error(), "stands twice in one object")) {
			t.Fatalf("%s: twice %t, error %v", b.String(), twice, err)
		}
		if twice {
			found++
			at, key := duplicateKey([]byte(b.String()))
			if rest := b.String()[at:]; rest[0] != '"' || !strings.Contains(err.Error(), fmt.Sprintf("%.60q", key)) {
				t.Fatalf("%s: key %q at %d, error %v", b.String(), key, at, err)
			}
		}
	}
	if found < 1000 {
		t.Errorf("%d lines with a key twice", found)
	}
}
