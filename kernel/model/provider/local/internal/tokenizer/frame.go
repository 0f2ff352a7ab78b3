package tokenizer

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// item is a special token around a text, or the text.
type item struct {
	id   int
	text bool
}

type postFile struct {
	Type   string            `json:"type"`
	Parts  []json.RawMessage `json:"processors"`
	Single []struct {
		Special *struct {
			ID string `json:"id"`
		} `json:"SpecialToken"`
		Sequence *struct{} `json:"Sequence"`
	} `json:"single"`
	Special map[string]struct {
		IDs []int `json:"ids"`
	} `json:"special_tokens"`
	Sep json.RawMessage `json:"sep"`
	Cls json.RawMessage `json:"cls"`
}

// readFrame reads what goes around a whole text.
func readFrame(raw json.RawMessage) ([]item, error) {
	if absent(raw) {
		return nil, nil
	}
	var f postFile
	if err := json.Unmarshal(raw, &f); err != nil {
		return nil, err
	}
	switch f.Type {
	case "ByteLevel":
		return nil, nil
	case "Sequence":
		return frameSequence(f.Parts)
	case "TemplateProcessing":
		return f.template()
	case "BertProcessing", "RobertaProcessing":
		cls, err := idOf(f.Cls)
		if err != nil {
			return nil, err
		}
		sep, err := idOf(f.Sep)
		return []item{{id: cls}, {text: true}, {id: sep}}, err
	}
	return nil, fmt.Errorf("type %q is not supported", f.Type)
}

func frameSequence(parts []json.RawMessage) ([]item, error) {
	all, err := readAll(parts, readFrame)
	all = slices.DeleteFunc(all, func(frame []item) bool { return len(frame) == 0 })
	if len(all) > 1 {
		return nil, errors.New("two processors that add tokens are not supported")
	}
	return slices.Concat(all...), err
}

func (f *postFile) template() ([]item, error) {
	var frame []item
	for _, s := range f.Single {
		if s.Sequence != nil {
			frame = append(frame, item{text: true})
		}
		if s.Special == nil {
			continue
		}
		special, ok := f.Special[s.Special.ID]
		if !ok {
			return nil, fmt.Errorf("special token %q is not defined", s.Special.ID)
		}
		for _, id := range special.IDs {
			frame = append(frame, item{id: id})
		}
	}
	return frame, nil
}

// idOf reads a pair such as ["[CLS]", 101].
func idOf(raw json.RawMessage) (int, error) {
	var pair []json.RawMessage
	var id int
	if json.Unmarshal(raw, &pair) != nil || len(pair) != 2 || json.Unmarshal(pair[1], &id) != nil {
		return 0, errors.New("a special token is not a pair of text and id")
	}
	return id, nil
}

// decoder turns single tokens into bytes.
type decoder struct {
	byteLevel bool
	fallback  bool        // <0x0A> is a byte
	replace   [][2]string // texts
	lead      int         // spaces that a whole text begins with and does not own
	pieces    bool        // WordPiece: a space before all but continuations
	prefix    string      // of continuations
}

type decoderFile struct {
	Type        string            `json:"type"`
	Parts       []json.RawMessage `json:"decoders"`
	Pattern     pattern           `json:"pattern"`
	Content     string            `json:"content"`
	Start       int               `json:"start"`
	Stop        int               `json:"stop"`
	Replacement string            `json:"replacement"`
	PrefixSpace *bool             `json:"add_prefix_space"`
	Scheme      string            `json:"prepend_scheme"`
	Prefix      string            `json:"prefix"`
}

func readDecoder(raw json.RawMessage) (decoder, error) {
	var d decoder
	if absent(raw) {
		return d, nil
	}
	return d, d.read(raw)
}

func (d *decoder) read(raw json.RawMessage) error {
	var f decoderFile
	if err := json.Unmarshal(raw, &f); err != nil {
		return err
	}
	switch f.Type {
	case "Sequence":
		for _, p := range f.Parts {
			if err := d.read(p); err != nil {
				return err
			}
		}
	case "ByteLevel":
		d.byteLevel = true
	case "ByteFallback":
		d.fallback = true
	case "Fuse":
	case "Replace":
		if f.Pattern.String == "" {
			return errors.New("replacing by a regular expression is not supported")
		}
		d.replace = append(d.replace, [2]string{f.Pattern.String, f.Content})
	case "Strip":
		if f.Content != " " || f.Stop != 0 {
			return errors.New("stripping anything but leading spaces is not supported")
		}
		d.lead += f.Start
	case "Metaspace":
		d.replace = append(d.replace, [2]string{f.Replacement, " "})
		if f.Scheme != "never" && (f.PrefixSpace == nil || *f.PrefixSpace) {
			d.lead++
		}
	case "WordPiece":
		d.pieces, d.prefix, d.lead = true, f.Prefix, 1
	default:
		return fmt.Errorf("type %q is not supported", f.Type)
	}
	return nil
}

// bytes is what a token adds to the middle of a text.
func (d *decoder) bytes(token string) []byte {
	if d.fallback && len(token) == 6 && strings.HasPrefix(token, "<0x") && token[5] == '>' {
		if b, err := strconv.ParseUint(token[3:5], 16, 8); err == nil {
			return []byte{byte(b)}
		}
	}
	for _, r := range d.replace {
		token = strings.ReplaceAll(token, r[0], r[1])
	}
	if d.pieces {
		if rest, ok := strings.CutPrefix(token, d.prefix); ok {
			return []byte(rest)
		}
		return []byte(" " + token)
	}
	if !d.byteLevel {
		return []byte(token)
	}
	out := make([]byte, 0, len(token))
	for _, r := range token {
		if b, ok := runeBytes[r]; ok {
			out = append(out, b)
		} else {
			out = append(out, string(r)...)
		}
	}
	return out
}
