package local

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"noema/kernel/provider/local/internal/tokenizer"
	"noema/methods"
)

// family is a way to write a conversation down.
type family string

const (
	plain   family = "plain"
	chatML  family = "chatml"
	llama3  family = "llama3"
	llama2  family = "llama2"
	mistral family = "mistral"
	tight   family = "mistral-tight" // Mistral from v0.3 on
	zephyr  family = "zephyr"        // also of TinyLlama and Phi-3
)

// layout writes conversations as a model knows them.
type layout struct {
	family   family
	bos, eos string // empty if the layout has none
	system   string // what ChatML models are told if nobody tells them anything
}

// conversation is how a model is talked with.
type conversation struct {
	layout layout
	ends   map[int]bool
}

// tokenizerConfig holds what is read of tokenizer_config.json.
type tokenizerConfig struct {
	Template json.RawMessage `json:"chat_template"`
	BOS      special         `json:"bos_token"`
	EOS      special         `json:"eos_token"`
}

// special is the text of a special token, written as a text or as an object.
type special string

// UnmarshalJSON reads either form; null is no token.
func (s *special) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, (*string)(s)) == nil {
		return nil
	}
	var o struct{ Content string }
	if err := json.Unmarshal(data, &o); err != nil {
		return errors.New("a special token is neither a text nor an object")
	}
	*s = special(o.Content)
	return nil
}

// readConversation reads the files that say how a model talks. All of them may
// be missing.
func readConversation(dir string, t *tokenizer.Tokenizer) (conversation, error) {
	var c tokenizerConfig
	if err := readOptional(dir, "tokenizer_config.json", &c); err != nil {
		return conversation{}, err
	}
	template, err := readTemplate(dir, c.Template)
	if err != nil {
		return conversation{}, err
	}
	talk := conversation{layout: recognise(template, string(c.BOS), string(c.EOS)), ends: map[int]bool{}}
	var g struct {
		EOS json.RawMessage `json:"eos_token_id"`
	}
	if err := readOptional(dir, "generation_config.json", &g); err != nil {
		return conversation{}, err
	}
	var one int
	var many []int
	if json.Unmarshal(g.EOS, &one) == nil && len(g.EOS) > 0 && string(g.EOS) != "null" {
		many = []int{one}
	} else if len(g.EOS) > 0 && json.Unmarshal(g.EOS, &many) != nil {
		return conversation{}, fmt.Errorf("read %s: eos_token_id is neither a number nor a list of numbers", filepath.Join(dir, "generation_config.json"))
	}
	for _, id := range many {
		talk.ends[id] = true
	}
	for _, token := range append(talk.layout.turnEnds(), string(c.EOS)) {
		if id, ok := t.ID(token); ok {
			talk.ends[id] = true
		}
	}
	return talk, nil
}

// readOptional reads a JSON file that may be missing.
func readOptional(dir, name string, into any) error {
	file := filepath.Join(dir, name)
	data, err := os.ReadFile(file)
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
	data, err := os.ReadFile(filepath.Join(dir, "chat_template.jinja"))
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
		return "", fmt.Errorf("read %s: chat_template is neither a text nor a list", filepath.Join(dir, "tokenizer_config.json"))
	}
	for _, n := range named {
		if n.Name == "default" {
			return n.Template, nil
		}
	}
	return "", nil
}

// defaultSystem finds the system text that a ChatML template has of its own.
var defaultSystem = regexp.MustCompile(`<\|im_start\|>system(?:\\n|\n)([^'"{}<]+)<\|im_end\|>`)

// recognise tells the family of a template by its marks.
func recognise(template, bos, eos string) layout {
	l := layout{family: plain, eos: eos}
	for _, f := range []struct {
		family family
		marks  []string
	}{
		{chatML, []string{"<|im_start|>"}}, {llama3, []string{"<|start_header_id|>"}}, {llama2, []string{"[INST]", "<<SYS>>"}},
		{mistral, []string{"[INST]", " [/INST]"}}, {tight, []string{"[INST]"}}, {zephyr, []string{"<|assistant|>"}},
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
	if l.family != plain && (strings.Contains(template, "bos_token") || bos != "" && strings.Contains(template, bos)) {
		l.bos = bos
	}
	if l.family == zephyr && strings.Contains(template, "<|end|>") {
		l.eos = "<|end|>"
	}
	if m := defaultSystem.FindStringSubmatch(template); l.family == chatML && m != nil {
		l.system = m[1]
	}
	return l
}

// turnEnds are the tokens that end a turn in the layout.
func (l layout) turnEnds() []string {
	switch l.family {
	case chatML:
		return []string{"<|im_end|>"}
	case llama3:
		return []string{"<|eot_id|>"}
	case zephyr:
		return []string{l.eos}
	}
	return nil
}

// page is a conversation while it is written down.
type page struct{ parts []tokenizer.Part }

// mark adds a text of the layout, in which special tokens count.
func (p *page) mark(text string) {
	p.parts = append(p.parts, tokenizer.Part{Text: text, Trusted: true})
}

// say adds a text of somebody.
func (p *page) say(text string) { p.parts = append(p.parts, tokenizer.Part{Text: text}) }

// encode gives the tokens of a conversation that the model is to continue.
func (l layout) encode(t *tokenizer.Tokenizer, messages []methods.Message) ([]int, error) {
	p := &page{}
	if l.bos != "" && l.family != llama2 { // which begins every turn so
		p.mark(l.bos)
	}
	switch l.family {
	case chatML:
		l.chatML(p, messages)
	case llama3:
		for _, m := range messages {
			p.mark("<|start_header_id|>" + string(m.Role) + "<|end_header_id|>\n\n")
			p.say(strings.TrimSpace(m.Content))
			p.mark("<|eot_id|>")
		}
		p.mark("<|start_header_id|>assistant<|end_header_id|>\n\n")
	case llama2, mistral, tight:
		if err := l.instructions(p, messages); err != nil {
			return nil, err
		}
	case zephyr:
		for _, m := range messages {
			p.mark("<|" + string(m.Role) + "|>\n")
			p.say(m.Content)
			p.mark(l.eos + "\n")
		}
		p.mark("<|assistant|>\n")
	default:
		for _, m := range messages {
			p.say(string(m.Role) + ": " + m.Content + "\n\n")
		}
		p.say("assistant:")
		return t.Framed(t.Encode(p.parts...)), nil
	}
	return t.Encode(p.parts...), nil
}

func (l layout) chatML(p *page, messages []methods.Message) {
	if l.system != "" && messages[0].Role != methods.System {
		p.mark("<|im_start|>system\n" + l.system + "<|im_end|>\n")
	}
	for _, m := range messages {
		p.mark("<|im_start|>" + string(m.Role) + "\n")
		p.say(m.Content)
		p.mark("<|im_end|>\n")
	}
	p.mark("<|im_start|>assistant\n")
}

// instructions writes users' turns between [INST] and [/INST]. The system text
// is part of the first one, or of the last one since Mistral v0.3.
func (l layout) instructions(p *page, messages []methods.Message) error {
	system, bearer := "", -1
	for i, m := range messages {
		switch {
		case m.Role == methods.System && i > 0:
			return fmt.Errorf("the %s layout has room for a system message only before all others", l.family)
		case m.Role == methods.System:
			system = m.Content
		case m.Role == methods.User && (bearer < 0 || l.family == tight):
			bearer = i
		}
	}
	if system != "" && bearer < 0 {
		return errors.New("the request has a system message and no user's message to put it in")
	}
	for i, m := range messages {
		switch {
		case m.Role == methods.Assistant:
			p.say(l.answer(m.Content))
			p.mark(l.eos)
		case m.Role == methods.User && i == bearer:
			l.instruction(p, system, m.Content)
		case m.Role == methods.User:
			l.instruction(p, "", m.Content)
		}
	}
	return nil
}

func (l layout) answer(text string) string {
	switch l.family {
	case llama2:
		return " " + strings.TrimSpace(text) + " "
	case tight:
		return " " + strings.TrimSpace(text)
	}
	return text
}

func (l layout) instruction(p *page, system, text string) {
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
