package tokenizer

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/dlclark/regexp2/v2"
)

// pretokenizer cuts texts into words. first says that they begin the whole
// text.
type pretokenizer func(texts []string, first bool) []string

type cutFile struct {
	Type        string            `json:"type"`
	Parts       []json.RawMessage `json:"pretokenizers"`
	PrefixSpace bool              `json:"add_prefix_space"`
	UseRegex    *bool             `json:"use_regex"`
	Pattern     pattern           `json:"pattern"`
	Behavior    string            `json:"behavior"`
	Invert      bool              `json:"invert"`
	Individual  bool              `json:"individual_digits"`
	Replacement string            `json:"replacement"`
	Scheme      string            `json:"prepend_scheme"`
	Split       *bool             `json:"split"`
}

// gpt2 is the pattern by which GPT-2 cuts texts.
const gpt2 = `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`

func readPretokenizer(raw json.RawMessage) (pretokenizer, error) {
	if absent(raw) {
		return chain(), nil
	}
	var f cutFile
	if err := json.Unmarshal(raw, &f); err != nil {
		return nil, err
	}
	switch f.Type {
	case "Sequence":
		all, err := readAll(f.Parts, readPretokenizer)
		return chain(all...), err
	case "ByteLevel":
		return f.byteLevel()
	case "Metaspace":
		return f.metaspace()
	case "Split":
		re, err := f.Pattern.compile()
		if err != nil {
			return nil, err
		}
		return splitter(re, f.Behavior, f.Invert)
	case "Digits":
		if f.Individual {
			return byPattern(`\p{N}`, "Isolated")
		}
		return byPattern(`\p{N}+`, "Isolated")
	case "Punctuation":
		f.Behavior = cmp.Or(f.Behavior, "Isolated")
		return byPattern(punctuation, f.Behavior)
	case "Whitespace":
		return byPattern(`[^\w\s]+|\w+`, "Matches")
	case "WhitespaceSplit":
		return byPattern(`\s+`, "Removed")
	case "BertPreTokenizer":
		return bertCut()
	}
	return nil, fmt.Errorf("type %q is not supported", f.Type)
}

// punctuation is all of ASCII that is neither letter, digit, space nor
// control, and what Unicode calls punctuation.
const punctuation = "[!-/:-@\\[-`{-~\\p{P}]"

func bertCut() (pretokenizer, error) {
	spaces, err := byPattern(`\s+`, "Removed")
	if err != nil {
		return nil, err
	}
	points, err := byPattern(punctuation, "Isolated")
	if err != nil {
		return nil, err
	}
	return chain(spaces, points), nil
}

// chain applies one pretokenizer after the other.
func chain(all ...pretokenizer) pretokenizer {
	return func(texts []string, first bool) []string {
		for _, c := range all {
			texts = c(texts, first)
		}
		return texts
	}
}

func byPattern(expr, behavior string) (pretokenizer, error) {
	re, err := regexp2.Compile(expr)
	if err != nil {
		return nil, err
	}
	return splitter(re, behavior, false)
}

// splitter cuts texts at the matches of a pattern, or with invert at what is
// between them.
func splitter(re *regexp2.Regexp, name string, invert bool) (pretokenizer, error) {
	b, ok := behaviors[name]
	if !ok {
		return nil, fmt.Errorf("behavior %q is not supported", name)
	}
	return func(texts []string, _ bool) []string {
		var words []string
		for _, text := range texts {
			spans := pieces(re, text, invert)
			for i, s := range spans {
				switch {
				case s.match && b.dropMatches, !s.match && b.dropOthers:
				case i > 0 && b.joins != nil && b.joins(spans[i-1].match, s.match):
					words[len(words)-1] += s.text
				default:
					words = append(words, s.text)
				}
			}
		}
		return words
	}, nil
}

// behavior is what becomes of matches and of the text between them.
type behavior struct {
	dropMatches, dropOthers bool
	joins                   func(before, match bool) bool // a span is joined to the one before
}

var behaviors = map[string]behavior{
	"Removed":            {dropMatches: true},
	"Matches":            {dropOthers: true},
	"Isolated":           {},
	"Contiguous":         {joins: func(before, match bool) bool { return before == match }},
	"MergedWithPrevious": {joins: func(before, match bool) bool { return !before && match }},
	"MergedWithNext":     {joins: func(before, match bool) bool { return before && !match }},
}

// span is a stretch of text; match says that the pattern found it.
type span struct {
	text  string
	match bool
}

func pieces(re *regexp2.Regexp, text string, invert bool) []span {
	var all []span
	add := func(s string, match bool) {
		if s != "" {
			all = append(all, span{s, match != invert})
		}
	}
	at := 0
	m, err := re.FindStringMatch(text)
	for ; err == nil && m != nil; m, err = re.FindNextMatch(m) {
		from, n := m.ByteRange()
		add(text[at:from], false)
		add(text[from:from+n], true)
		at = from + n
	}
	add(text[at:], false)
	return all
}

// byteLevel cuts as GPT-2 does and writes bytes as printable characters.
func (f *cutFile) byteLevel() (pretokenizer, error) {
	cut := chain()
	if f.UseRegex == nil || *f.UseRegex {
		var err error
		if cut, err = byPattern(gpt2, "Isolated"); err != nil {
			return nil, err
		}
	}
	return func(texts []string, first bool) []string {
		if f.PrefixSpace {
			for i, s := range texts {
				if !strings.HasPrefix(s, " ") {
					texts[i] = " " + s
				}
			}
		}
		words := cut(texts, first)
		for i, w := range words {
			words[i] = printable(w)
		}
		return words
	}, nil
}

// metaspace writes spaces as ▁ and cuts before them.
func (f *cutFile) metaspace() (pretokenizer, error) {
	mark := cmp.Or(f.Replacement, "▁")
	if f.Scheme == "" && f.PrefixSpace {
		f.Scheme = "always"
	}
	return func(texts []string, first bool) []string {
		var words []string
		for i, s := range texts {
			s = strings.ReplaceAll(s, " ", mark)
			if (f.Scheme == "always" || f.Scheme == "first" && first && i == 0) && !strings.HasPrefix(s, mark) {
				s = mark + s
			}
			if f.Split != nil && !*f.Split {
				words = append(words, s)
				continue
			}
			for s != "" {
				end := len(s)
				if i := strings.Index(s[1:], mark); i >= 0 {
					end = i + 1
				}
				words, s = append(words, s[:end]), s[end:]
			}
		}
		return words
	}, nil
}

// The alphabet of byte-level tokenizers, as GPT-2 defined it: printable bytes
// of Latin-1 stand for themselves, the others for characters from U+0100 on.
var (
	byteRunes = alphabet()
	runeBytes = func() map[rune]byte {
		m := map[rune]byte{}
		for b, r := range byteRunes {
			m[r] = byte(b)
		}
		return m
	}()
)

func alphabet() (runes [256]rune) {
	next := rune(256)
	for b := range runes {
		if b >= '!' && b <= '~' || b >= 0xA1 && b != 0xAD {
			runes[b] = rune(b)
			continue
		}
		runes[b] = next
		next++
	}
	return runes
}

func printable(s string) string {
	var b strings.Builder
	for i := range len(s) {
		b.WriteRune(byteRunes[s[i]])
	}
	return b.String()
}
