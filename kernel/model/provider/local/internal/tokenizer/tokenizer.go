// Package tokenizer turns texts into the tokens of a model and back, as its
// tokenizer.json says: byte-pair encoding, on bytes or as converted from
// SentencePiece, and WordPiece. It gives the tokens that Hugging Face's
// tokenizers library gives, since a model answers worse on any others; what it
// cannot do the same, it refuses when the file is read.
//
// It is the project's own because the tokenizer of go-huggingface v0.4.0 cuts
// byte-level texts at spaces only, and leaves out the byte fallback and the
// patterns with look-ahead that Llama 3 and Qwen use.
package tokenizer

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/text/encoding/unicode"

	"noema/kernel/base/files"
)

// Tokenizer is safe for concurrent use.
type Tokenizer struct {
	normal  normalizer
	cut     pretokenizer
	model   model
	frame   []item // of a whole text; empty adds nothing
	decoder decoder

	raw, normalized matcher // added tokens, found before and after normalising
	special         map[int]bool
	ids             map[string]int
	tokens          []string // by id; empty where there is none
	bytes           [][]byte // by id, as in the middle of a text; nil for special tokens
}

// model splits a word into tokens.
type model interface{ tokens(word string) []int }

// Read reads dir/tokenizer.json.
func Read(dir string) (*Tokenizer, error) {
	file := filepath.Join(dir, "tokenizer.json")
	data, err := files.Read(file, files.MaxJSON)
	if err != nil {
		return nil, fmt.Errorf("read tokenizer: %w%s", err, otherFormat(dir))
	}
	if strings.HasPrefix(string(data), "version https://git-lfs") {
		return nil, fmt.Errorf("read tokenizer %s: a Git LFS pointer and not the file: fetch it with git lfs pull", file)
	}
	t, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("read tokenizer %s: %w", file, err)
	}
	return t, nil
}

// otherFormat is what to do about a tokenizer in an older format, which lacks
// how to cut texts.
func otherFormat(dir string) string {
	for _, name := range []string{"tokenizer.model", "vocab.json", "vocab.txt"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return fmt.Sprintf("; from %s it is made by AutoTokenizer.from_pretrained(DIR).save_pretrained(DIR) of transformers", name)
		}
	}
	return ""
}

type file struct {
	Added     []addedToken    `json:"added_tokens"`
	Normal    json.RawMessage `json:"normalizer"`
	Cut       json.RawMessage `json:"pre_tokenizer"`
	Post      json.RawMessage `json:"post_processor"`
	Decoder   json.RawMessage `json:"decoder"`
	ModelFile json.RawMessage `json:"model"`
}

// maxTokens bounds ids, so that a corrupt file cannot ask for much memory.
const maxTokens = 1 << 22

// Parse reads the content of a tokenizer.json.
func Parse(data []byte) (*Tokenizer, error) {
	var f file
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, err
	}
	t := &Tokenizer{special: map[int]bool{}}
	var err error
	if t.normal, err = readNormalizer(f.Normal); err != nil {
		return nil, fmt.Errorf("normalizer: %w", err)
	}
	if t.cut, err = readPretokenizer(f.Cut); err != nil {
		return nil, fmt.Errorf("pre_tokenizer: %w", err)
	}
	if t.frame, err = readFrame(f.Post); err != nil {
		return nil, fmt.Errorf("post_processor: %w", err)
	}
	if t.decoder, err = readDecoder(f.Decoder); err != nil {
		return nil, fmt.Errorf("decoder: %w", err)
	}
	if t.model, t.ids, err = readModel(f.ModelFile); err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	if err := t.index(f.Added); err != nil {
		return nil, err
	}
	return t, nil
}

// index adds the added tokens.
func (t *Tokenizer) index(added []addedToken) error {
	for i := range added {
		a := &added[i]
		if a.Content == "" {
			return fmt.Errorf("added token %d is empty", a.ID)
		}
		if id, ok := t.ids[a.Content]; ok { // the library takes the model's id
			a.ID = id
		}
		t.ids[a.Content] = a.ID
		t.special[a.ID] = a.Special
		if a.Normalized {
			t.normalized.add(*a, t.normal(a.Content))
		} else {
			t.raw.add(*a, a.Content)
		}
	}
	return t.tables(added)
}

// tables builds what is looked up by id.
func (t *Tokenizer) tables(added []addedToken) error {
	size := 0
	for token, id := range t.ids {
		if id < 0 || id >= maxTokens {
			return fmt.Errorf("token %q has id %d", token, id)
		}
		size = max(size, id+1)
	}
	t.tokens, t.bytes = make([]string, size), make([][]byte, size)
	for token, id := range t.ids {
		t.tokens[id] = token
	}
	isAdded := map[int]bool{}
	for _, a := range added { // where two tokens share an id, the added one counts
		t.tokens[a.ID], isAdded[a.ID] = a.Content, true
	}
	for id, token := range t.tokens {
		switch {
		case token == "" || t.special[id]:
		case isAdded[id]:
			t.bytes[id] = []byte(token)
		default:
			t.bytes[id] = t.decoder.bytes(token)
		}
	}
	for _, i := range t.frame {
		if !i.text && (i.id < 0 || i.id >= size) {
			return fmt.Errorf("post_processor: token %d is not in the vocabulary", i.id)
		}
	}
	return nil
}

// Size is the number of ids, used or not.
func (t *Tokenizer) Size() int { return len(t.tokens) }

// ID finds a token by its text in tokenizer.json.
func (t *Tokenizer) ID(token string) (int, bool) {
	id, ok := t.ids[token]
	return id, ok
}

// Token is the text of an id in tokenizer.json; empty if there is none.
func (t *Tokenizer) Token(id int) string {
	if id < 0 || id >= len(t.tokens) {
		return ""
	}
	return t.tokens[id]
}

// Bytes is what a token adds to the middle of a text. It is nil for special
// tokens and for ids without a token. The caller must not change it.
func (t *Tokenizer) Bytes(id int) []byte {
	if id < 0 || id >= len(t.bytes) {
		return nil
	}
	return t.bytes[id]
}

// Part is a stretch of a text. In a trusted one, texts of special tokens
// become those tokens; in another they are texts like any other, which is what
// a text from elsewhere should be.
type Part struct {
	Text    string
	Trusted bool
}

// Encode gives the tokens of the text that the parts make together.
func (t *Tokenizer) Encode(parts ...Part) []int {
	var all strings.Builder
	var trusted []bool // by byte
	for _, p := range parts {
		text := strings.ToValidUTF8(p.Text, "\uFFFD")
		all.WriteString(text)
		for range len(text) {
			trusted = append(trusted, p.Trusted)
		}
	}
	found := t.raw.split(all.String(), func(id, from, to int) bool {
		return !t.special[id] || !slices.Contains(trusted[from:to], false)
	})
	var ids []int
	for i, s := range found {
		if s.id >= 0 {
			ids = append(ids, s.id)
			continue
		}
		ids = t.plain(ids, s.text, i == 0)
	}
	return ids
}

// plain appends the tokens of a text without special tokens. Those that are
// looked for after normalising, which is rare, are not found at all: by
// then it is not known which part they came from.
func (t *Tokenizer) plain(ids []int, text string, first bool) []int {
	found := t.normalized.split(t.normal(text), func(id, _, _ int) bool { return !t.special[id] })
	for i, s := range found {
		if s.id >= 0 {
			ids = append(ids, s.id)
			continue
		}
		for _, word := range t.cut([]string{s.text}, first && i == 0) {
			ids = append(ids, t.model.tokens(word)...)
		}
	}
	return ids
}

// Framed puts the special tokens of a whole text around its tokens, such as
// [CLS] and [SEP].
func (t *Tokenizer) Framed(ids []int) []int {
	if len(t.frame) == 0 {
		return ids
	}
	var all []int
	for _, i := range t.frame {
		if i.text {
			all = append(all, ids...)
		} else {
			all = append(all, i.id)
		}
	}
	return all
}

// Decode gives the text of tokens, without special ones. Bytes that are not
// UTF-8 become U+FFFD, as in the library, with one difference: if byte tokens of
// a SentencePiece vocabulary in a row are not UTF-8 together, the library
// replaces all of them, and this keeps the characters among them.
func (t *Tokenizer) Decode(ids []int) string {
	var text []byte
	for _, id := range ids {
		text = append(text, t.Bytes(id)...)
	}
	return t.Text(text)
}

// Text makes a text of joined Bytes: without the space that some tokenizers
// put before every text, and as UTF-8.
func (t *Tokenizer) Text(joined []byte) string {
	s := string(joined)
	for range t.decoder.lead {
		s = strings.TrimPrefix(s, " ")
	}
	// One U+FFFD for each longest beginning of a character, as Unicode
	// recommends; Go's own functions write one for each byte, or one for several.
	s, _ = unicode.UTF8.NewDecoder().String(s) // replaces what is invalid, so it never fails
	return s
}
