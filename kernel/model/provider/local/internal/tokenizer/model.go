package tokenizer

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"unicode/utf8"
)

type modelFile struct {
	Type         string          `json:"type"`
	Vocab        json.RawMessage `json:"vocab"`
	Merges       []merge         `json:"merges"`
	Unknown      string          `json:"unk_token"`
	Prefix       string          `json:"continuing_subword_prefix"`
	Suffix       string          `json:"end_of_word_suffix"`
	FuseUnknown  bool            `json:"fuse_unk"`
	ByteFallback bool            `json:"byte_fallback"`
	IgnoreMerges bool            `json:"ignore_merges"`
	MaxChars     int             `json:"max_input_chars_per_word"`
}

// merge is a pair of tokens, written as "a b" or as ["a", "b"].
type merge [2]string

func (m *merge) UnmarshalJSON(data []byte) error {
	var pair []string
	if json.Unmarshal(data, &pair) == nil && len(pair) == 2 {
		*m = merge{pair[0], pair[1]}
		return nil
	}
	var s string
	if err := json.Unmarshal(data, &s); err != nil {
		return errors.New("merges: an entry is neither a text nor a pair")
	}
	a, b, ok := strings.Cut(s, " ")
	if !ok {
		return fmt.Errorf("merges: %q is not a pair", s)
	}
	*m = merge{a, b}
	return nil
}

func readModel(raw json.RawMessage) (model, map[string]int, error) {
	if absent(raw) {
		return nil, nil, errors.New("missing")
	}
	var f modelFile
	if err := json.Unmarshal(raw, &f); err != nil {
		return nil, nil, err
	}
	if f.Type == "" && len(f.Merges) > 0 {
		f.Type = "BPE" // as in older files
	}
	if f.Type != "BPE" && f.Type != "WordPiece" {
		return nil, nil, fmt.Errorf("type %q is not supported; supported are BPE and WordPiece", f.Type)
	}
	ids := map[string]int{}
	if err := json.Unmarshal(f.Vocab, &ids); err != nil {
		return nil, nil, fmt.Errorf("vocab: %w", err)
	}
	if len(ids) == 0 {
		return nil, nil, errors.New("vocab is empty")
	}
	unknown, ok := ids[f.Unknown]
	if !ok {
		unknown = -1
	}
	if f.Type == "WordPiece" {
		if unknown < 0 {
			return nil, nil, fmt.Errorf("unk_token %q is not in the vocabulary", f.Unknown)
		}
		return wordPiece{ids: ids, prefix: f.Prefix, unknown: unknown, most: max(f.MaxChars, 1)}, maps.Clone(ids), nil
	}
	if f.Prefix != "" || f.Suffix != "" {
		return nil, nil, errors.New("byte-pair encoding with a prefix or suffix of words is not supported")
	}
	m := bpe{ids: ids, whole: f.IgnoreMerges, unknown: unknown, fuse: f.FuseUnknown, fallback: f.ByteFallback}
	return m, maps.Clone(ids), m.read(f.Merges)
}

// wordPiece takes the longest known beginning of what is left of a word.
type wordPiece struct {
	ids     map[string]int
	prefix  string
	unknown int
	most    int // characters of a word
}

func (m wordPiece) tokens(word string) []int {
	if utf8.RuneCountInString(word) > m.most {
		return []int{m.unknown}
	}
	var ids []int
	for rest := word; rest != ""; {
		id, n := m.longest(rest, len(rest) < len(word))
		if n == 0 {
			return []int{m.unknown}
		}
		ids, rest = append(ids, id), rest[n:]
	}
	return ids
}

func (m wordPiece) longest(s string, inside bool) (id, n int) {
	prefix := ""
	if inside {
		prefix = m.prefix
	}
	for n := len(s); n > 0; {
		if id, ok := m.ids[prefix+s[:n]]; ok {
			return id, n
		}
		_, size := utf8.DecodeLastRuneInString(s[:n])
		n -= size
	}
	return 0, 0
}
