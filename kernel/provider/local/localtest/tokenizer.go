package localtest

import (
	"fmt"
	"strings"
)

// files are the tokenizer's two files and its number of tokens.
type files struct {
	file, config map[string]any
	size         int
}

// specials are the special tokens, first the beginning of a text, then its end.
func specials(arch string) []string {
	switch arch {
	case "gpt2":
		return []string{"<|endoftext|>"}
	case "mistral":
		return []string{"<s>", "</s>"}
	case "llama":
		return []string{"<|begin_of_text|>", "<|eot_id|>", "<|end_of_text|>", "<|start_header_id|>", "<|end_header_id|>"}
	}
	return []string{"<|im_start|>", "<|im_end|>", "<|endoftext|>"}
}

// words become tokens of their own, by merges from left to right.
const words = "the and of to in is that for with which are true output condition item answer number step " +
	"hello world one two three final false 0. {\" \": \", json"

// pattern is how Llama 3 and Qwen cut texts before merging; Qwen takes one
// digit at a time.
const pattern = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}%s| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`

func tokenizer(arch string) files {
	switch arch {
	case "bert":
		return wordPiece()
	case "mistral":
		return sentencePiece()
	}
	return byteLevel(arch)
}

// vocabStart is the id of the first special token.
func vocabStart(arch string) int {
	v := pieces(arch)
	return len(v.tokens)
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

// pieces is the vocabulary of a byte-pair tokenizer without special tokens.
func pieces(arch string) *vocabulary {
	v := &vocabulary{ids: map[string]int{}}
	space := "Ġ"
	if arch == "mistral" {
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
		for b := range 256 {
			v.add(string(byteRune(byte(b))))
		}
	}
	for word := range strings.FieldsSeq(words) {
		v.merge(word)
		v.merge(space + word)
	}
	return v
}

// byteRune is the printable character by which GPT-2 writes a byte.
func byteRune(b byte) rune {
	shifted := rune(256)
	for c := range 256 {
		printable := c >= '!' && c <= '~' || c >= 0xa1 && c <= 0xac || c >= 0xae
		if c == int(b) && printable {
			return rune(b)
		}
		if c == int(b) {
			return shifted
		}
		if !printable {
			shifted++
		}
	}
	return shifted
}

type object = map[string]any

// added lists the special tokens of tokenizer.json from an id on.
func added(names []string, from int) []object {
	all := []object{}
	for i, name := range names {
		all = append(all, object{"id": from + i, "content": name, "single_word": false, "lstrip": false,
			"rstrip": false, "normalized": false, "special": true})
	}
	return all
}

func byteLevel(arch string) files {
	v, names := pieces(arch), specials(arch)
	bytes := func(regex bool) object {
		return object{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": regex}
	}
	file := object{"version": "1.0", "truncation": nil, "padding": nil, "added_tokens": added(names, len(v.tokens)),
		"normalizer": nil, "pre_tokenizer": bytes(true), "post_processor": nil, "decoder": bytes(true),
		"model": object{"type": "BPE", "dropout": nil, "unk_token": nil, "continuing_subword_prefix": nil,
			"end_of_word_suffix": nil, "fuse_unk": false, "byte_fallback": false, "ignore_merges": arch == "llama",
			"vocab": v.ids, "merges": v.merges}}
	split := func(digits string) object {
		return object{"type": "Sequence", "pretokenizers": []object{
			{"type": "Split", "pattern": object{"Regex": fmt.Sprintf(pattern, digits)}, "behavior": "Isolated", "invert": false},
			bytes(false)}}
	}
	config := object{"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": names[min(1, len(names)-1)], "model_max_length": 512}
	switch arch {
	case "llama":
		file["pre_tokenizer"] = split("{1,3}")
		file["post_processor"] = object{"type": "Sequence", "processors": []object{bytes(true), template("<|begin_of_text|>", len(v.tokens))}}
		config["bos_token"], config["chat_template"] = names[0], llamaTemplate
	case "qwen2", "qwen3":
		file["normalizer"], file["pre_tokenizer"] = object{"type": "NFC"}, split("")
		config["chat_template"] = chatMLTemplate
	case "smollm":
		file["pre_tokenizer"] = object{"type": "Sequence", "pretokenizers": []object{
			{"type": "Digits", "individual_digits": true}, bytes(true)}}
		config["chat_template"] = chatMLTemplate
	}
	return files{file, config, len(v.tokens) + len(names)}
}

// template puts one special token before a text.
func template(token string, id int) object {
	return object{"type": "TemplateProcessing",
		"single":         []object{{"SpecialToken": object{"id": token, "type_id": 0}}, {"Sequence": object{"id": "A", "type_id": 0}}},
		"pair":           []object{{"Sequence": object{"id": "A", "type_id": 0}}, {"Sequence": object{"id": "B", "type_id": 0}}},
		"special_tokens": object{token: object{"id": token, "ids": []int{id}, "tokens": []string{token}}}}
}

// sentencePiece is a tokenizer as converted from SentencePiece for Llama 2 and
// Mistral: spaces become ▁, unknown characters bytes.
func sentencePiece() files {
	v, names := pieces("mistral"), specials("mistral")
	file := object{"version": "1.0", "truncation": nil, "padding": nil, "added_tokens": added(names, len(v.tokens)),
		"normalizer": object{"type": "Sequence", "normalizers": []object{
			{"type": "Prepend", "prepend": "▁"}, {"type": "Replace", "pattern": object{"String": " "}, "content": "▁"}}},
		"pre_tokenizer":  nil,
		"post_processor": template("<s>", len(v.tokens)),
		"decoder": object{"type": "Sequence", "decoders": []object{
			{"type": "Replace", "pattern": object{"String": "▁"}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"},
			{"type": "Strip", "content": " ", "start": 1, "stop": 0}}},
		"model": object{"type": "BPE", "dropout": nil, "unk_token": "<unk>", "continuing_subword_prefix": nil,
			"end_of_word_suffix": nil, "fuse_unk": true, "byte_fallback": true, "ignore_merges": false,
			"vocab": v.ids, "merges": v.merges}}
	config := object{"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>",
		"model_max_length": 512, "chat_template": mistralTemplate}
	return files{file, config, len(v.tokens) + len(names)}
}

func wordPiece() files {
	v := &vocabulary{ids: map[string]int{}}
	names := []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}
	for _, n := range names {
		v.add(n)
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
	special := func(name string) object { return object{"SpecialToken": object{"id": name, "type_id": 0}} }
	entry := func(name string) object {
		return object{"id": name, "ids": []int{v.ids[name]}, "tokens": []string{name}}
	}
	file := object{"version": "1.0", "truncation": nil, "padding": nil, "added_tokens": added(names, 0),
		"normalizer":    object{"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": nil, "lowercase": true},
		"pre_tokenizer": object{"type": "BertPreTokenizer"},
		"post_processor": object{"type": "TemplateProcessing",
			"single":         []object{special("[CLS]"), {"Sequence": object{"id": "A", "type_id": 0}}, special("[SEP]")},
			"pair":           []object{{"Sequence": object{"id": "A", "type_id": 0}}, {"Sequence": object{"id": "B", "type_id": 1}}},
			"special_tokens": object{"[CLS]": entry("[CLS]"), "[SEP]": entry("[SEP]")}},
		"decoder": object{"type": "WordPiece", "prefix": "##", "cleanup": true},
		"model": object{"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
			"max_input_chars_per_word": 100, "vocab": v.ids}}
	config := object{"tokenizer_class": "PreTrainedTokenizerFast", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]",
		"pad_token": "[PAD]", "mask_token": "[MASK]", "do_lower_case": true, "model_max_length": 512}
	return files{file, config, len(v.tokens)}
}
