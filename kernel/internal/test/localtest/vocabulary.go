package localtest

import (
	"fmt"
	"strings"
)

// words become tokens of their own, by merges from left to right.
const words = "the and of to in is that for with which are true output condition item answer number step " +
	"hello world one two three final false 0. {\" \": \", json"

// addVocabulary completes an architecture's tokenizer and returns how many
// tokens it has. The ids of the special tokens become values.
func addVocabulary(a *arch, name string, values map[string]any) int {
	v := &vocabulary{ids: map[string]int{}}
	first := 0
	if name == "bert" {
		v.wordPieces(a.Specials)
	} else {
		v.bytePairs(name == "mistral")
		first = len(v.tokens)
	}
	added := []map[string]any{}
	for i, token := range a.Specials {
		values[fmt.Sprintf("special%d", i)] = first + i
		added = append(added, map[string]any{"id": first + i, "content": token, "single_word": false, "lstrip": false,
			"rstrip": false, "normalized": false, "special": true})
	}
	a.Tokenizer["added_tokens"] = added
	model := a.Tokenizer["model"].(map[string]any)
	model["vocab"] = v.ids
	if v.merges != nil {
		model["merges"] = v.merges
	}
	return max(len(v.tokens), first+len(added))
}

// vocabulary is built token by token.
type vocabulary struct {
	tokens []string
	ids    map[string]int
	merges []string
}

func (v *vocabulary) add(token string) {
	if _, ok := v.ids[token]; !ok {
		v.ids[token] = len(v.tokens)
		v.tokens = append(v.tokens, token)
	}
}

// merge adds the tokens that build a word from its characters.
func (v *vocabulary) merge(word string) {
	r := []rune(word)
	for i := 1; i < len(r); i++ {
		left, right := string(r[:i]), string(r[i])
		if _, ok := v.ids[left+right]; !ok {
			v.merges = append(v.merges, left+" "+right)
			v.add(left + right)
		}
	}
}

// bytePairs is the vocabulary of a byte-pair tokenizer, on bytes or as
// converted from SentencePiece.
func (v *vocabulary) bytePairs(sentencePiece bool) {
	space := "Ġ"
	if sentencePiece {
		space = "▁"
		v.add("<unk>")
		for b := range 256 {
			v.add(fmt.Sprintf("<0x%02X>", b))
		}
		for b := '!'; b <= '~'; b++ {
			v.add(string(b))
		}
		v.add(space)
	} else {
		next := rune(256) // GPT-2 writes bytes that are not printable as characters from here on
		for b := range rune(256) {
			if b >= '!' && b <= '~' || b >= 0xa1 && b <= 0xac || b >= 0xae {
				v.add(string(b))
				continue
			}
			v.add(string(next))
			next++
		}
	}
	for word := range strings.FieldsSeq(words) {
		v.merge(word)
		v.merge(space + word)
	}
	if sentencePiece {
		v.complete()
	}
}

// complete adds every other way to join two tokens into one, as converters from
// SentencePiece do, which joins whatever gives a token.
func (v *vocabulary) complete() {
	var all []string
	for _, m := range v.merges {
		token := []rune(strings.Replace(m, " ", "", 1))
		for i := 1; i < len(token); i++ {
			left, right := string(token[:i]), string(token[i:])
			_, first := v.ids[left]
			if _, second := v.ids[right]; first && second {
				all = append(all, left+" "+right)
			}
		}
	}
	v.merges = all
}

// wordPieces is the vocabulary of a WordPiece tokenizer.
func (v *vocabulary) wordPieces(specials []string) {
	for _, token := range specials {
		v.add(token)
	}
	for c := '!'; c <= '~'; c++ {
		if c < 'A' || c > 'Z' {
			v.add(string(c))
			v.add("##" + string(c))
		}
	}
	for word := range strings.FieldsSeq(words) {
		v.add(word)
	}
	for _, part := range []string{"##ing", "##ed", "##er", "##s", "##ly"} {
		v.add(part)
	}
}
