package local

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"noema/kernel/base/files"
	"noema/kernel/model/provider/local/internal/checkpoint"
	"noema/kernel/model/provider/local/internal/tokenizer"
	"noema/methods"
)

// family is the kind of a chat template.
type family string

const (
	plain   family = "plain"
	chatML  family = "chatml"
	llama3  family = "llama3"
	llama2  family = "llama2"
	mistral family = "mistral"
	tight   family = "mistral-tight" // Mistral from v0.3 on
	zephyr  family = "zephyr"        // also of TinyLlama and Phi-3
	gemma   family = "gemma"
)

// chatTemplate renders messages as the model was trained to read them.
type chatTemplate struct {
	family   family
	bos, eos string // empty if the template has none
	system   string // the default system message of a ChatML template
}

// tokenizerConfig holds what is read of tokenizer_config.json.
type tokenizerConfig struct {
	Template json.RawMessage `json:"chat_template"`
	BOS      special         `json:"bos_token"`
	EOS      special         `json:"eos_token"`
}

// special is the text of a special token, written as a text or as an object.
type special string

// UnmarshalJSON reads either form; null means no token.
func (s *special) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, (*string)(s)) == nil {
		return nil
	}
	var o struct{ Content string }
	if err := json.Unmarshal(data, &o); err != nil {
		return errors.New("a special token is not a text or an object")
	}
	*s = special(o.Content)
	return nil
}

// readChatTemplate reads the chat template and the end tokens. All of their
// files may be missing.
func readChatTemplate(dir string, t *tokenizer.Tokenizer) (l chatTemplate, ends map[int]bool, err error) {
	var c tokenizerConfig
	if err := readOptional(dir, "tokenizer_config.json", &c); err != nil {
		return l, nil, err
	}
	template, err := readTemplate(dir, c.Template)
	if err != nil {
		return l, nil, err
	}
	if l, err = recognise(template, string(c.BOS), string(c.EOS)); err != nil {
		return l, nil, fmt.Errorf("%s: %w", dir, err)
	}
	ends = map[int]bool{}
	var g struct {
		EOS checkpoint.IDs `json:"eos_token_id"`
	}
	if err := readOptional(dir, "generation_config.json", &g); err != nil {
		return l, nil, err
	}
	for _, id := range g.EOS {
		ends[id] = true
	}
	for _, token := range []string{l.end(), string(c.EOS)} {
		if id, ok := t.ID(token); ok {
			ends[id] = true
		}
	}
	return l, ends, nil
}

// readOptional reads a JSON file that may be missing.
func readOptional(dir, name string, into any) error {
	file := filepath.Join(dir, name)
	data, err := files.Read(file, files.MaxConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read model: %w", err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("read %s: %w", file, err)
	}
	return nil
}

// readTemplate gives the chat template: from its own file, where newer models
// have it, or from tokenizer_config.json, as a text or a list of named ones.
func readTemplate(dir string, raw json.RawMessage) (string, error) {
	data, err := files.Read(filepath.Join(dir, "chat_template.jinja"), files.MaxConfig)
	if err == nil {
		return string(data), nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read model: %w", err)
	}
	var one string
	if len(raw) == 0 || json.Unmarshal(raw, &one) == nil {
		return one, nil
	}
	var named []struct{ Name, Template string }
	if err := json.Unmarshal(raw, &named); err != nil {
		return "", fmt.Errorf("read %s: chat_template is not a text or a list", filepath.Join(dir, "tokenizer_config.json"))
	}
	for _, n := range named {
		if n.Name == "default" {
			return n.Template, nil
		}
	}
	return "", nil
}

// defaultSystem finds the default system message of a ChatML template.
var defaultSystem = regexp.MustCompile(`<\|im_start\|>system(?:\\n|\n)([^'"{}<]+)<\|im_end\|>`)

// recognise finds the family of a template by its marks. An empty template is
// plain; one of no known family is an error, since a prompt that the model was
// not trained on gives worse answers in silence.
func recognise(template, bos, eos string) (chatTemplate, error) {
	l := chatTemplate{family: plain, eos: eos}
	for _, f := range []struct {
		family family
		marks  []string
	}{
		{chatML, []string{"<|im_start|>"}}, {llama3, []string{"<|start_header_id|>"}}, {llama2, []string{"[INST]", "<<SYS>>"}},
		{mistral, []string{"[INST]", " [/INST]"}}, {tight, []string{"[INST]"}}, {zephyr, []string{"<|assistant|>"}},
		{gemma, []string{"<start_of_turn>"}},
	} {
		all := true
		for _, m := range f.marks {
			all = all && strings.Contains(template, m)
		}
		if all {
			l.family = f.family
			break
		}
	}
	if l.family == plain && strings.TrimSpace(template) != "" {
		return l, errors.New("its chat template is of an unknown family; known are ChatML, Gemma, Llama 2, Llama 3, Mistral and Zephyr: serve the model with llama.cpp and name it as openai/NAME")
	}
	if l.family != plain && (strings.Contains(template, "bos_token") || bos != "" && strings.Contains(template, bos) && !strings.HasPrefix(l.open(""), bos)) {
		l.bos = bos
	}
	if l.family == zephyr && strings.Contains(template, "<|end|>") {
		l.eos = "<|end|>"
	}
	if m := defaultSystem.FindStringSubmatch(template); l.family == chatML && m != nil {
		l.system = m[1]
	}
	return l, nil
}

// turns are what comes before and after each message, in the families that
// write all roles alike.
var turns = map[family]struct{ open, end, space string }{
	chatML: {"<|im_start|>ROLE\n", "<|im_end|>", "\n"},
	llama3: {"<|start_header_id|>ROLE<|end_header_id|>\n\n", "<|eot_id|>", ""},
	zephyr: {"<|ROLE|>\n", "EOS", "\n"},
	gemma:  {"<start_of_turn>ROLE\n", "<end_of_turn>", "\n"},
}

// end is the token that ends a turn, if the family has one of its own.
func (l chatTemplate) end() string { return strings.ReplaceAll(turns[l.family].end, "EOS", l.eos) }

// open begins a turn.
func (l chatTemplate) open(role methods.Role) string {
	if l.family == gemma && role == methods.Assistant {
		role = "model"
	}
	return strings.ReplaceAll(turns[l.family].open, "ROLE", string(role))
}

// rendering is a conversation while it is rendered.
type rendering struct{ parts []tokenizer.Part }

// mark adds a text of the template, in which special tokens count.
func (p *rendering) mark(text string) {
	p.parts = append(p.parts, tokenizer.Part{Text: text, Trusted: true})
}

// say adds a message's text.
func (p *rendering) say(text string) { p.parts = append(p.parts, tokenizer.Part{Text: text}) }

// encode returns the tokens of a conversation, up to where the reply begins.
func (l chatTemplate) encode(t *tokenizer.Tokenizer, messages []methods.Message) ([]int, error) {
	p := &rendering{}
	if l.bos != "" && l.family != llama2 { // llama2 writes it before every turn
		p.mark(l.bos)
	}
	if l.system != "" && messages[0].Role != methods.System {
		p.mark(l.open(methods.System) + l.system + l.end() + turns[l.family].space)
	}
	switch l.family {
	case chatML, llama3, zephyr, gemma:
		if l.family == gemma {
			var err error
			if messages, err = joined(messages); err != nil {
				return nil, err
			}
		}
		for _, m := range messages {
			p.mark(l.open(m.Role))
			if l.family == llama3 || l.family == gemma {
				m.Content = strings.TrimSpace(m.Content)
			}
			p.say(m.Content)
			p.mark(l.end() + turns[l.family].space)
		}
		p.mark(l.open(methods.Assistant))
	case llama2, mistral, tight:
		if err := l.instructions(p, messages); err != nil {
			return nil, err
		}
	default:
		for _, m := range messages {
			p.say(string(m.Role) + ": " + m.Content + "\n\n")
		}
		p.say("assistant:")
		return t.Framed(t.Encode(p.parts...)), nil
	}
	return t.Encode(p.parts...), nil
}

// joined puts a system message before the first user's, as Gemma has no such
// role.
func joined(messages []methods.Message) ([]methods.Message, error) {
	if messages[0].Role != methods.System {
		return messages, nil
	}
	if len(messages) < 2 || messages[1].Role != methods.User {
		return nil, errors.New("the chat template puts the system message into a user message, and the request has none after it")
	}
	rest := slices.Clone(messages[1:])
	rest[0].Content = messages[0].Content + "\n\n" + strings.TrimSpace(rest[0].Content)
	return rest, nil
}

// instructions writes users' turns between [INST] and [/INST]. The system text
// is part of the first one, or of the last one since Mistral v0.3.
func (l chatTemplate) instructions(p *rendering, messages []methods.Message) error {
	system, carrier := "", -1
	for i, m := range messages {
		switch {
		case m.Role == methods.System && i > 0:
			return fmt.Errorf("the chat template of the %s family takes a system message only as the first message", l.family)
		case m.Role == methods.System:
			system = m.Content
		case m.Role == methods.User && (carrier < 0 || l.family == tight):
			carrier = i
		}
	}
	if system != "" && carrier < 0 {
		return errors.New("the chat template puts the system message into a user message, and the request has none")
	}
	for i, m := range messages {
		switch {
		case m.Role == methods.Assistant:
			p.say(l.answer(m.Content))
			p.mark(l.eos)
		case m.Role == methods.User && i == carrier:
			l.instruction(p, system, m.Content)
		case m.Role == methods.User:
			l.instruction(p, "", m.Content)
		}
	}
	return nil
}

func (l chatTemplate) answer(text string) string {
	switch l.family {
	case llama2:
		return " " + strings.TrimSpace(text) + " "
	case tight:
		return " " + strings.TrimSpace(text)
	}
	return text
}

func (l chatTemplate) instruction(p *rendering, system, text string) {
	switch {
	case system != "" && l.family == llama2:
		text = "<<SYS>>\n" + system + "\n<</SYS>>\n\n" + text
	case system != "":
		text = system + "\n\n" + text
	}
	end := " [/INST]"
	switch l.family {
	case llama2:
		p.mark(l.bos)
		text = strings.TrimSpace(text)
	case tight:
		end = "[/INST]"
	}
	p.mark("[INST] ")
	p.say(text)
	p.mark(end)
}
