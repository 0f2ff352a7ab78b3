package local

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"noema/kernel/model/provider/local/internal/grammar"
)

// TestGrammars has many ask for few schemas and a few for many: who asks at
// the same time gets the same grammar, and no more are kept than there is room
// for.
func TestGrammars(t *testing.T) {
	kept := grammars{room: maxMaskBytes}
	schema := func(n int) json.RawMessage { return json.RawMessage(fmt.Sprintf(`{"const":%d}`, n)) }
	first, err := kept.of(schema(0))
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	vocab := grammar.NewVocab([][]byte{[]byte("1"), []byte("7"), []byte("17")})
	for range 8 {
		group.Go(func() {
			allowed := make([]bool, 3)
			for n := range 3 * maxGrammars {
				if g, err := kept.of(schema(0)); err != nil || g != first {
					t.Errorf("another grammar for the schema that was asked for a moment ago: %v", err)
					return
				}
				g, err := kept.of(schema(n))
				if err != nil {
					t.Error(err)
					return
				}
				g.Start().Mask(vocab, allowed)
				if n == 17 && (!allowed[0] || allowed[1] || !allowed[2]) {
					t.Errorf("the grammar of 17 allows %v", allowed)
				}
			}
		})
	}
	group.Wait()
	if len(kept.kept) != maxGrammars {
		t.Errorf("%d are kept, want %d", len(kept.kept), maxGrammars)
	}
	if again, err := kept.of(schema(1)); err != nil || again == first {
		t.Errorf("a schema that was dropped is not compiled again: %v", err)
	}
	for range 2 {
		if _, err := kept.of(json.RawMessage(`{"type":`)); err == nil {
			t.Error("a broken schema has a grammar")
		}
	}
}

// TestGrammarBytes: grammars with large masks drop others, but not themselves.
func TestGrammarBytes(t *testing.T) {
	kept := grammars{room: 1 << 19}
	tokens := make([][]byte, 1<<16)
	for i := range tokens {
		tokens[i] = []byte{'"', byte('a' + i%26)}
	}
	vocab, allowed := grammar.NewVocab(tokens), make([]bool, len(tokens))
	for n := 3; n < 40; n++ {
		g, err := kept.of(json.RawMessage(fmt.Sprintf(`{"type":"string","minLength":%d}`, n)))
		if err != nil {
			t.Fatal(err)
		}
		g.Start().Mask(vocab, allowed)
		if !allowed[0] || g.Held() < len(tokens) {
			t.Fatalf("a mask of %d tokens takes %d bytes", len(tokens), g.Held())
		}
	}
	kept.entry([32]byte{}) // looks at what is held now
	if n := len(kept.kept); n < 2 || n > kept.room/len(tokens) || kept.held() > kept.room {
		t.Errorf("%d grammars with %d bytes are kept", n, kept.held())
	}
}
