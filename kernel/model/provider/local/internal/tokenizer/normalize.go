package tokenizer

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/dlclark/regexp2/v2"
	"golang.org/x/text/unicode/norm"
)

// normalizer rewrites a text before it is cut.
type normalizer func(string) string

type normalizerFile struct {
	Type     string            `json:"type"`
	Parts    []json.RawMessage `json:"normalizers"`
	Prepend  string            `json:"prepend"`
	Pattern  pattern           `json:"pattern"`
	Content  string            `json:"content"`
	Left     bool              `json:"strip_left"`
	Right    bool              `json:"strip_right"`
	Clean    bool              `json:"clean_text"`
	Chinese  bool              `json:"handle_chinese_chars"`
	Accents  *bool             `json:"strip_accents"`
	LowerAll bool              `json:"lowercase"`
}

// pattern is a text or a regular expression.
type pattern struct {
	String string
	Regex  string
}

// compile makes a regular expression of either kind.
func (p pattern) compile() (*regexp2.Regexp, error) {
	switch {
	case p.Regex != "":
		re, err := regexp2.Compile(p.Regex)
		if err != nil {
			return nil, fmt.Errorf("pattern %q: %w", p.Regex, err)
		}
		return re, nil
	case p.String != "":
		return regexp2.Compile(regexp2.Escape(p.String))
	}
	return nil, errors.New("a pattern is empty")
}

func absent(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

func readNormalizer(raw json.RawMessage) (normalizer, error) {
	if absent(raw) {
		return func(s string) string { return s }, nil
	}
	var f normalizerFile
	if err := json.Unmarshal(raw, &f); err != nil {
		return nil, err
	}
	switch f.Type {
	case "Sequence":
		all, err := readAll(f.Parts, readNormalizer)
		return func(s string) string {
			for _, n := range all {
				s = n(s)
			}
			return s
		}, err
	case "NFC":
		return norm.NFC.String, nil
	case "NFD":
		return norm.NFD.String, nil
	case "NFKC":
		return norm.NFKC.String, nil
	case "NFKD":
		return norm.NFKD.String, nil
	case "Lowercase":
		return strings.ToLower, nil
	case "StripAccents":
		return withoutMarks, nil
	case "Strip":
		return f.strip, nil
	case "Prepend":
		return f.prepend, nil
	case "Replace":
		return f.replace()
	case "BertNormalizer":
		return f.bert, nil
	}
	return nil, fmt.Errorf("type %q is not supported", f.Type)
}

// readAll reads the parts of a sequence.
func readAll[T any](parts []json.RawMessage, read func(json.RawMessage) (T, error)) ([]T, error) {
	all := make([]T, len(parts))
	for i, p := range parts {
		var err error
		if all[i], err = read(p); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (f *normalizerFile) strip(s string) string {
	if f.Left {
		s = strings.TrimLeftFunc(s, unicode.IsSpace)
	}
	if f.Right {
		s = strings.TrimRightFunc(s, unicode.IsSpace)
	}
	return s
}

func (f *normalizerFile) prepend(s string) string {
	if s == "" {
		return s
	}
	return f.Prepend + s
}

func (f *normalizerFile) replace() (normalizer, error) {
	if f.Pattern.String != "" {
		return func(s string) string { return strings.ReplaceAll(s, f.Pattern.String, f.Content) }, nil
	}
	re, err := f.Pattern.compile()
	if err != nil {
		return nil, err
	}
	return func(s string) string {
		out, err := re.ReplaceFunc(s, func(regexp2.Match) string { return f.Content }, -1, -1)
		if err != nil { // only by a timeout, and none is set
			return s
		}
		return out
	}, nil
}

// bert normalises as BERT's original tokenizer does.
func (f *normalizerFile) bert(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case f.Clean && (r == 0 || r == '\uFFFD' || isControl(r)):
		case f.Clean && unicode.IsSpace(r):
			b.WriteByte(' ')
		case f.Chinese && isChinese(r):
			b.WriteString(" " + string(r) + " ")
		default:
			b.WriteRune(r)
		}
	}
	s = b.String()
	if f.Accents != nil && *f.Accents || f.Accents == nil && f.LowerAll {
		s = withoutMarks(norm.NFD.String(s))
	}
	if f.LowerAll {
		s = strings.ToLower(s)
	}
	return s
}

func withoutMarks(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, s)
}

func isControl(r rune) bool {
	if r == '\t' || r == '\n' || r == '\r' {
		return false
	}
	return unicode.Is(unicode.C, r)
}

// isChinese is true of the blocks of CJK ideographs that BERT puts apart.
func isChinese(r rune) bool {
	return r >= 0x4E00 && r <= 0x9FFF || r >= 0x3400 && r <= 0x4DBF || r >= 0x20000 && r <= 0x2A6DF ||
		r >= 0x2A700 && r <= 0x2B73F || r >= 0x2B740 && r <= 0x2B81F || r >= 0x2B920 && r <= 0x2CEAF ||
		r >= 0xF900 && r <= 0xFAFF || r >= 0x2F800 && r <= 0x2FA1F
}
