package tokenizer

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Vocabulary is a tokenizer as GGUF files have it: the tokens, but only the
// name of how texts are cut.
type Vocabulary struct {
	Model       string    // "gpt2", byte-pair encoding on bytes, or "llama", SentencePiece
	Cut         string    // of gpt2: how texts are cut into words
	Tokens      []string  // by id
	Types       []float64 // by id, see below
	Scores      []float64 // of llama, by id
	Merges      []string  // of gpt2, the first one first
	BOS         int       // begins a whole text; negative if none does
	SpacePrefix bool      // of llama: a text, also one after a special token, begins with a space of its own
}

// The types of tokens in GGUF. Others are not used.
const (
	normalToken  = 1
	unknownToken = 2
	controlToken = 3
	userToken    = 4
	byteToken    = 6
)

const (
	byteLevelCut = `{"type":"ByteLevel","add_prefix_space":false,"use_regex":false}`
	gpt2Cut      = `{"type":"ByteLevel","add_prefix_space":false}`
	llama3Words  = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	qwen2Words   = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
)

// cuts are the ways of cutting texts by the names that llama.cpp has for them,
// as tokenizer.json of the models writes them.
var cuts = map[string]string{
	"gpt-2":     gpt2Cut,
	"smollm":    `{"type":"Sequence","pretokenizers":[{"type":"Digits","individual_digits":true},` + gpt2Cut + `]}`,
	"llama-bpe": sequence(llama3Words),
	"qwen2":     sequence(qwen2Words),
}

func sequence(words string) string {
	pattern, _ := json.Marshal(words) // a text always can be
	return `{"type":"Sequence","pretokenizers":[{"type":"Split","behavior":"Isolated","pattern":{"Regex":` + string(pattern) + `}},` + byteLevelCut + `]}`
}

// New makes the tokenizer of a vocabulary.
func New(v Vocabulary) (*Tokenizer, error) {
	if len(v.Tokens) == 0 || len(v.Types) != len(v.Tokens) {
		return nil, fmt.Errorf("read tokenizer: %d tokens and %d types of them", len(v.Tokens), len(v.Types))
	}
	t := &Tokenizer{special: map[int]bool{}, ids: map[string]int{}}
	var err error
	switch v.Model {
	case "gpt2":
		err = t.bytePairs(v)
	case "llama":
		err = t.sentencePiece(v)
	default:
		err = fmt.Errorf("model %q is not supported; supported are gpt2 and llama", v.Model)
	}
	if err == nil && v.BOS >= len(v.Tokens) {
		err = fmt.Errorf("the token %d that begins texts is not among %d", v.BOS, len(v.Tokens))
	}
	if err != nil {
		return nil, fmt.Errorf("read tokenizer: %w", err)
	}
	if v.BOS >= 0 {
		t.frame = []item{{id: v.BOS}, {text: true}}
	}
	var added []addedToken
	for id, token := range v.Tokens {
		if kind := v.Types[id]; (kind == controlToken || kind == userToken || kind == unknownToken) && token != "" {
			added = append(added, addedToken{ID: id, Content: token, Special: kind != userToken})
		}
	}
	if err := t.index(added); err != nil {
		return nil, fmt.Errorf("read tokenizer: %w", err)
	}
	return t, nil
}

// list notes the tokens that texts are made of.
func (t *Tokenizer) list(v Vocabulary) {
	for id, token := range v.Tokens {
		if kind := v.Types[id]; kind == normalToken || kind == byteToken {
			t.ids[token] = id
		}
	}
}

func (t *Tokenizer) bytePairs(v Vocabulary) error {
	cut, ok := cuts[v.Cut]
	if !ok {
		return fmt.Errorf("pre-tokenizer %q is not supported; supported are %s", v.Cut, strings.Join(slices.Sorted(maps.Keys(cuts)), ", "))
	}
	t.list(v)
	t.normal, t.decoder.byteLevel = func(s string) string { return s }, true
	if v.Cut == "qwen2" {
		t.normal, _ = readNormalizer([]byte(`{"type":"NFC"}`)) // known
	}
	merges := make([]merge, len(v.Merges))
	for i, m := range v.Merges {
		if merges[i][0], merges[i][1], ok = strings.Cut(m, " "); !ok {
			return fmt.Errorf("merge %d, %.80q, is not a pair", i, m)
		}
	}
	m := bpe{ids: maps.Clone(t.ids), whole: v.Cut == "llama-bpe", unknown: -1}
	if err := m.read(merges); err != nil {
		return err
	}
	t.model = m
	var err error
	t.cut, err = readPretokenizer([]byte(cut))
	return err
}

// scored is how a SentencePiece model joins neighbours: the pair whose joined
// text has the best score comes first.
type scored struct {
	texts []string // by id
	ranks []int    // by id
}

func (t *Tokenizer) sentencePiece(v Vocabulary) error {
	if len(v.Scores) != len(v.Tokens) {
		return errors.New("a score for each token is missing")
	}
	t.list(v)
	t.cut, t.normal = chain(), func(s string) string { return strings.ReplaceAll(s, " ", "▁") }
	t.decoder = decoder{fallback: true, replace: [][2]string{{"▁", " "}}}
	if v.SpacePrefix {
		t.decoder.lead = 1
		t.cut = func(texts []string, _ bool) []string {
			if len(texts) > 0 { // also after a special token, as llama.cpp does
				texts[0] = "▁" + texts[0]
			}
			return texts
		}
	}
	byScore := make([]int, len(v.Tokens))
	for id := range byScore {
		byScore[id] = id
	}
	slices.SortStableFunc(byScore, func(a, b int) int { return cmp.Compare(v.Scores[b], v.Scores[a]) })
	ranks := make([]int, len(v.Tokens))
	for i, id := range byScore {
		ranks[id] = i
		if i > 0 && v.Scores[byScore[i-1]] == v.Scores[id] {
			ranks[id] = ranks[byScore[i-1]]
		}
	}
	unknown := slices.Index(v.Types, unknownToken)
	t.model = bpe{ids: maps.Clone(t.ids), scored: &scored{v.Tokens, ranks}, unknown: unknown, fallback: true}
	return nil
}
