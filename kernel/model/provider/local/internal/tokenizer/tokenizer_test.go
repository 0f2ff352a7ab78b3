package tokenizer_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"noema/kernel/internal/test/localtest"
	"noema/kernel/model/provider/local/internal/tokenizer"
)

func read(t testing.TB, arch string) *tokenizer.Tokenizer {
	t.Helper()
	dir := t.TempDir()
	if err := localtest.WriteCheckpoint(dir, arch, 1); err != nil {
		t.Fatal(err)
	}
	tok, err := tokenizer.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

func TestWrongFiles(t *testing.T) {
	const vocab = `"vocab":{"a":0,"b":1,"ab":2}`
	tests := map[string]struct{ file, want string }{
		"truncated":          {`{"model":{"type":"BPE",`, "unexpected end"},
		"no model":           {`{}`, "model: missing"},
		"unigram":            {`{"model":{"type":"Unigram","vocab":[["a",0.1]]}}`, `type "Unigram" is not supported`},
		"no vocabulary":      {`{"model":{"type":"BPE"}}`, "model: vocab"},
		"empty vocabulary":   {`{"model":{"type":"BPE","vocab":{}}}`, "vocab is empty"},
		"merge of unknowns":  {`{"model":{"type":"BPE",` + vocab + `,"merges":["a c"]}}`, `merges: "a" and "c"`},
		"merge of one":       {`{"model":{"type":"BPE",` + vocab + `,"merges":["ab"]}}`, `"ab" is not a pair`},
		"merge of three":     {`{"model":{"type":"BPE",` + vocab + `,"merges":[["a","b","c"]]}}`, "neither a text nor a pair"},
		"negative id":        {`{"model":{"type":"BPE","vocab":{"a":-1}}}`, `token "a" has id -1`},
		"huge id":            {`{"model":{"type":"BPE","vocab":{"a":99999999999}}}`, "has id 99999999999"},
		"word piece unknown": {`{"model":{"type":"WordPiece",` + vocab + `,"unk_token":"[UNK]"}}`, `unk_token "[UNK]" is not in the vocabulary`},
		"normalizer":         {`{"normalizer":{"type":"Precompiled"},"model":{"type":"BPE",` + vocab + `}}`, `normalizer: type "Precompiled" is not supported`},
		"pre-tokenizer":      {`{"pre_tokenizer":{"type":"UnicodeScripts"},"model":{"type":"BPE",` + vocab + `}}`, `pre_tokenizer: type "UnicodeScripts"`},
		"pattern":            {`{"pre_tokenizer":{"type":"Split","pattern":{"Regex":"("},"behavior":"Isolated"},"model":{"type":"BPE",` + vocab + `}}`, `pattern "("`},
		"behavior":           {`{"pre_tokenizer":{"type":"Split","pattern":{"Regex":"x"},"behavior":"Odd"},"model":{"type":"BPE",` + vocab + `}}`, `behavior "Odd"`},
		"post-processor":     {`{"post_processor":{"type":"Odd"},"model":{"type":"BPE",` + vocab + `}}`, `post_processor: type "Odd"`},
		"undefined special":  {`{"post_processor":{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"<s>"}}]},"model":{"type":"BPE",` + vocab + `}}`, `special token "<s>" is not defined`},
		"special too large":  {`{"post_processor":{"type":"BertProcessing","cls":["a",77],"sep":["b",1]},"model":{"type":"BPE",` + vocab + `}}`, "token 77 is not in the vocabulary"},
		"decoder":            {`{"decoder":{"type":"CTC"},"model":{"type":"BPE",` + vocab + `}}`, `decoder: type "CTC"`},
		"empty added token":  {`{"added_tokens":[{"id":3,"content":""}],"model":{"type":"BPE",` + vocab + `}}`, "added token 3 is empty"},
		"suffix":             {`{"model":{"type":"BPE","end_of_word_suffix":"</w>",` + vocab + `}}`, "prefix or suffix"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "tokenizer.json"), []byte(tt.file), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := tokenizer.Read(dir)
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "tokenizer.json") || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want one line with the file and %q", err, tt.want)
			}
		})
	}
	if _, err := tokenizer.Read(t.TempDir()); err == nil || !strings.Contains(err.Error(), "tokenizer.json") {
		t.Errorf("a folder without tokenizer.json: %v", err)
	}
}

// TestRoundTrip: byte-level texts come back as they were.
func TestRoundTrip(t *testing.T) {
	for _, arch := range []string{"llama", "smollm", "gpt2", "mistral"} {
		tok := read(t, arch)
		for _, text := range texts {
			if got := tok.Decode(tok.Encode(tokenizer.Part{Text: text})); got != text {
				t.Errorf("%s: %q came back as %q", arch, text, got)
			}
		}
	}
}

// TestParts: a special token counts only in trusted parts, and not across
// their borders; a text is cut as if it had come in one part.
func TestParts(t *testing.T) {
	tok := read(t, "qwen2")
	start, ok := tok.ID("<|im_start|>")
	if !ok {
		t.Fatal("no <|im_start|>")
	}
	has := func(parts ...tokenizer.Part) bool { return slices.Contains(tok.Encode(parts...), start) }
	if !has(tokenizer.Part{Text: "a<|im_start|>b", Trusted: true}) {
		t.Error("not found in a trusted part")
	}
	if has(tokenizer.Part{Text: "a<|im_start|>b"}) {
		t.Error("found in another part")
	}
	if has(tokenizer.Part{Text: "<|im_", Trusted: true}, tokenizer.Part{Text: "start|>"}) {
		t.Error("found across a border")
	}
	one := tok.Encode(tokenizer.Part{Text: "the answer"})
	two := tok.Encode(tokenizer.Part{Text: "the ans", Trusted: true}, tokenizer.Part{Text: "wer"})
	if !slices.Equal(one, two) {
		t.Errorf("%v in one part, %v in two", one, two)
	}
}

func TestInvalidText(t *testing.T) {
	for _, arch := range localtest.Archs() {
		tok := read(t, arch)
		ids := tok.Encode(tokenizer.Part{Text: "a\xff\xc3(\x00"})
		if text := tok.Decode(ids); !utf8.ValidString(text) {
			t.Errorf("%s: %q", arch, text)
		}
		for _, id := range []int{-1, tok.Size(), 1 << 30} {
			if tok.Bytes(id) != nil || tok.Token(id) != "" {
				t.Errorf("%s: token %d exists", arch, id)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, file := range []string{
		`{"model":{"type":"BPE","vocab":{"a":0,"b":1,"ab":2},"merges":["a b"]}}`,
		`{"added_tokens":[{"id":3,"content":"<s>","special":true,"rstrip":true}],"normalizer":{"type":"Sequence","normalizers":[{"type":"Prepend","prepend":"_"},{"type":"Replace","pattern":{"String":" "},"content":"_"}]},` +
			`"decoder":{"type":"Sequence","decoders":[{"type":"ByteFallback"},{"type":"Fuse"},{"type":"Strip","content":" ","start":1}]},` +
			`"model":{"type":"BPE","byte_fallback":true,"fuse_unk":true,"unk_token":"a","vocab":{"a":0,"_":1,"<0x41>":2}}}`,
		`{"normalizer":{"type":"BertNormalizer","clean_text":true,"lowercase":true},"pre_tokenizer":{"type":"BertPreTokenizer"},` +
			`"post_processor":{"type":"BertProcessing","cls":["a",0],"sep":["##b",1]},"decoder":{"type":"WordPiece","prefix":"##"},` +
			`"model":{"type":"WordPiece","unk_token":"a","continuing_subword_prefix":"##","max_input_chars_per_word":5,"vocab":{"a":0,"##b":1}}}`,
		`{"pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"Digits"},{"type":"Metaspace","prepend_scheme":"first"},{"type":"ByteLevel","add_prefix_space":true}]},` +
			`"decoder":{"type":"ByteLevel"},"model":{"type":"BPE","ignore_merges":true,"vocab":{"a":0}}}`,
	} {
		f.Add([]byte(file), "aab<s> A, 12")
	}
	f.Fuzz(func(t *testing.T, raw []byte, text string) {
		if strings.Contains(strings.ToLower(string(raw)), "regex") {
			return // patterns may take exponential time, as they may anywhere
		}
		tok, err := tokenizer.Parse(raw)
		if err != nil {
			return
		}
		for _, id := range tok.Encode(tokenizer.Part{Text: text}) {
			if id < 0 || id >= tok.Size() {
				t.Errorf("token %d of %d", id, tok.Size())
			}
		}
	})
}

func BenchmarkEncode(b *testing.B) {
	for _, arch := range []string{"llama", "mistral"} {
		tok := read(b, arch)
		text := strings.Repeat("Which are true? The answer is in the item, said Hello to 42 worlds.\n", 60)
		b.Run(arch, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				tok.Encode(tokenizer.Part{Text: text})
			}
		})
	}
}
