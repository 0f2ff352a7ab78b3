package tokenizer_test

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"noema/kernel/internal/test/localtest"
	"noema/kernel/model/provider/local/internal/tokenizer"
)

// reference runs texts through Hugging Face's tokenizers library.
const reference = `
import sys, json
from tokenizers import Tokenizer
for line in sys.stdin:
    job = json.loads(line)
    t = Tokenizer.from_file(job["dir"] + "/tokenizer.json")
    plain = [t.encode(x, add_special_tokens=False).ids for x in job["texts"]]
    framed = [t.encode(x).ids for x in job["texts"]]
    print(json.dumps({"plain": plain, "framed": framed, "decoded": [t.decode(ids) for ids in plain],
        "noise": [t.decode(ids) for ids in job["noise"]]}))
`

var texts = []string{
	"", " ", "Hello, world!", "hello world", "  two  spaces ", "The answer is 42.", "1234567890 items",
	"don't we'll I'M it's", "line\nbreak\r\n\r\n  indented\ttab", "naïve café ÀÉÎ", "数学 is 漢字かな", "emoji 🙂👩‍👩‍👧 done",
	"a_b-c/d\\e", "{\"answer\": [1, 2, 3], \"ok\": true}", "   ", "\n\n\n", "x\u00a0y\u2003z", "İstanbul ǅ ß", "e\u0301 combining",
	"<|im_start|>user\nhi<|im_end|>", "<s>[INST] hi [/INST]</s>", "<|begin_of_text|>x", "a <|endoftext|> b", "[CLS] a [MASK] [SEP]",
	strings.Repeat("a long word", 40), strings.Repeat("0", 50), "\x00\x01control", "…—“quotes”", "tokenization unbelievable answers",
}

// random makes a text of letters, digits, spaces, marks and whole words.
func random(rng *rand.Rand) string {
	alphabet := []string{" ", " ", "\n", "\t", "a", "e", "the", "answer", "Hello", "1", "23", ".", ",", "'s", "'", "{\"", "é", "中", "🙂", "_", "-", "\u0301", "Ж", "ß", "٣", "½"}
	var b strings.Builder
	for range rng.IntN(30) {
		b.WriteString(alphabet[rng.IntN(len(alphabet))])
	}
	return b.String()
}

// variants changes a tokenizer.json into other ones that are in use.
var variants = map[string]func(file map[string]any){
	"smollm/prefix space": func(f map[string]any) {
		f["pre_tokenizer"] = object{"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true}
	},
	"mistral/metaspace first": func(f map[string]any) {
		f["normalizer"] = nil
		f["pre_tokenizer"] = object{"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": false}
		f["decoder"] = object{"type": "Sequence", "decoders": []object{{"type": "ByteFallback"}, {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": false}}}
	},
	"mistral/metaspace always": func(f map[string]any) {
		f["normalizer"] = nil
		f["pre_tokenizer"] = object{"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true}
		f["decoder"] = object{"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true}
	},
	"bert/cased": func(f map[string]any) {
		f["normalizer"].(object)["lowercase"] = false
		f["post_processor"] = object{"type": "BertProcessing", "sep": []any{"[SEP]", 3}, "cls": []any{"[CLS]", 2}}
	},
	"bert/whitespace": func(f map[string]any) {
		f["normalizer"] = object{"type": "Sequence", "normalizers": []object{{"type": "Strip", "strip_left": true, "strip_right": true},
			{"type": "NFKD"}, {"type": "StripAccents"}, {"type": "Lowercase"}}}
		f["pre_tokenizer"] = object{"type": "Whitespace"}
	},
	"qwen2/digits": func(f map[string]any) {
		f["normalizer"] = object{"type": "Replace", "pattern": object{"Regex": "[xyz]+"}, "content": "q"}
		f["pre_tokenizer"] = object{"type": "Sequence", "pretokenizers": []object{
			{"type": "Split", "pattern": object{"String": "the"}, "behavior": "MergedWithPrevious", "invert": false},
			{"type": "Split", "pattern": object{"Regex": "[,.]+"}, "behavior": "MergedWithNext", "invert": false},
			{"type": "Split", "pattern": object{"Regex": "\\s"}, "behavior": "Contiguous", "invert": false},
			{"type": "Digits", "individual_digits": false}, {"type": "Punctuation", "behavior": "Isolated"},
			{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false}}}
	},
	"llama/added": func(f map[string]any) {
		known := f["added_tokens"].([]any)
		next := len(f["model"].(object)["vocab"].(object)) + len(known)
		f["added_tokens"] = append(known,
			object{"id": next + 1, "content": "answer", "single_word": true, "lstrip": false, "rstrip": false, "normalized": false, "special": false},
			object{"id": next, "content": "<think>", "single_word": false, "lstrip": true, "rstrip": true, "normalized": false, "special": false})
	},
}

type object = map[string]any

// vary writes a variant of an architecture's tokenizer.
func vary(t *testing.T, dir, name string) {
	t.Helper()
	path := dir + "/tokenizer.json"
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var f object
	if err := json.Unmarshal(raw, &f); err != nil {
		t.Fatal(err)
	}
	variants[name](f)
	if raw, err = json.Marshal(f); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
}

// answer is what the library makes of the texts.
type answer struct {
	Plain, Framed  [][]int
	Decoded, Noise []string
}

// TestParity holds all kinds of tokenizers to Hugging Face's library.
func TestParity(t *testing.T) {
	names := localtest.Archs()
	for name := range variants {
		names = append(names, name)
	}
	slices.Sort(names)
	rng := rand.New(rand.NewPCG(1, 1))
	all := slices.Clone(texts)
	for range 300 {
		all = append(all, random(rng))
	}
	made, noise := make([]*tokenizer.Tokenizer, len(names)), make([][][]int, len(names))
	jobs, answers := make([]any, len(names)), make([]any, len(names))
	for i, name := range names {
		dir := t.TempDir()
		arch, _, _ := strings.Cut(name, "/")
		if err := localtest.WriteCheckpoint(dir, arch, 1); err != nil {
			t.Fatal(err)
		}
		if variants[name] != nil {
			vary(t, dir, name)
		}
		var err error
		if made[i], err = tokenizer.Read(dir); err != nil {
			t.Fatal(err)
		}
		noise[i] = anyTokens(rng, made[i].Size())
		jobs[i], answers[i] = object{"dir": dir, "texts": all, "noise": noise[i]}, &answer{}
	}
	localtest.Python(t, reference, jobs, answers, "tokenizers")
	for i, name := range names {
		t.Run(name, func(t *testing.T) {
			hold(t, answers[i].(*answer), made[i], all, !strings.HasPrefix(name, "bert"))
			if !strings.HasPrefix(name, "bert") {
				holdNoise(t, answers[i].(*answer).Noise, made[i], noise[i])
			}
		})
	}
}

// hold compares answers. WordPiece texts are not decoded the same: the library
// makes up their spaces by rules for English.
func hold(t *testing.T, want *answer, tok *tokenizer.Tokenizer, texts []string, decode bool) {
	t.Helper()
	bad := 0
	wrong := func(text, format string, got, want any) {
		t.Helper()
		if t.Errorf("%q: "+format, text, got, want); bad > 5 {
			t.Fatal("and more")
		}
		bad++
	}
	for i, text := range texts {
		got := tok.Encode(tokenizer.Part{Text: text, Trusted: true})
		if !slices.Equal(got, want.Plain[i]) {
			wrong(text, "tokens %v, want %v", got, want.Plain[i])
		}
		if framed := tok.Framed(want.Plain[i]); !slices.Equal(framed, want.Framed[i]) {
			wrong(text, "framed %v, want %v", framed, want.Framed[i])
		}
		if back := tok.Decode(want.Plain[i]); decode && back != want.Decoded[i] {
			wrong(text, "decoded %q, want %q", back, want.Decoded[i])
		}
	}
}

// anyTokens are rows of tokens as no text is split, which is what a model of
// noise writes.
func anyTokens(rng *rand.Rand, size int) [][]int {
	all := make([][]int, 400)
	for i := range all {
		for range 1 + rng.IntN(12) {
			id := rng.IntN(size)
			if i%2 == 0 {
				id = rng.IntN(min(size, 256)) // mostly single bytes
			}
			all[i] = append(all[i], id)
		}
	}
	return all
}

// holdNoise compares decoded noise. Where bytes of a SentencePiece vocabulary
// are no text, the library gives up more of them than Decode does.
func holdNoise(t *testing.T, want []string, tok *tokenizer.Tokenizer, noise [][]int) {
	t.Helper()
	_, fallback := tok.ID("<0x00>")
	bad, compared := 0, 0
	for i, ids := range noise {
		got := tok.Decode(ids)
		if lost := strings.Contains(want[i], "\uFFFD"); fallback && lost {
			if !strings.Contains(got, "\uFFFD") {
				t.Errorf("%v: decoded %q, want %q", ids, got, want[i])
			}
			continue
		}
		if compared++; got != want[i] {
			if t.Errorf("%v: decoded %q, want %q", ids, got, want[i]); bad > 5 {
				t.Fatal("and more")
			}
			bad++
		}
	}
	if compared < 50 {
		t.Errorf("only %d of %d were compared", compared, len(noise))
	}
}
