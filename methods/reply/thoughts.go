package reply

import (
	"slices"
	"strings"

	"noema/methods"
)

// Rules is the version of the rules by which replies are read. It is part of the configuration
// of every run. Version 1 took the first list, the first statement and thoughts for answers.
const Rules = 2

// Marks are the words between which a model thinks. Where the model's chat template writes the
// first, a reply holds the second alone.
type Marks struct{ Open, Close string }

// ParseMarks reads marks as the option thoughts of a model has them: "<a>,</a>".
func ParseMarks(s string) (m Marks, ok bool) {
	m.Open, m.Close, ok = strings.Cut(s, ",")
	m.Open, m.Close = strings.TrimSpace(m.Open), strings.TrimSpace(m.Close)
	return m, ok && m.Open != "" && m.Close != "" && m.Open != m.Close
}

// knownMarks are the marks that servers leave in the text of a reply.
//
// Source: the reasoning parsers of vLLM (vllm/reasoning), SGLang
// (python/sglang/srt/parser/reasoning_parser.py) and llama.cpp (common/chat.cpp).
var knownMarks = []Marks{
	{"<think>", "</think>"},       // DeepSeek R1, QwQ, Qwen3, GLM 4.5, MiniMax, Nemotron, Olmo 3, Step 3: vLLM deepseek_r1, qwen3
	{"<thinking>", "</thinking>"}, // models prompted in the style of Anthropic; vLLM hunyuan's older form
	{"<thought>", "</thought>"},   // EXAONE Deep: vLLM exaone4
	{"<analysis>", "</analysis>"},
	{"<reasoning>", "</reasoning>"},                         // models tuned with GRPO in the form of its first recipes
	{"<seed:think>", "</seed:think>"},                       // Seed-OSS: vLLM seedoss
	{"<mm:think>", "</mm:think>"},                           // MiniMax M3: vLLM minimax_m3
	{"[THINK]", "[/THINK]"},                                 // Magistral: vLLM mistral
	{"◁think▷", "◁/think▷"},                                 // Kimi: SGLang KimiDetector
	{"<|begin_of_thought|>", "<|end_of_thought|>"},          // Sky-T1, OpenThinker
	{"<|START_THINKING|>", "<|END_THINKING|>"},              // Command R7B, Command A: vLLM cohere_command, llama.cpp
	{"<|inner_prefix|>", "<|inner_suffix|>"},                // Apertus: vLLM apertus, llama.cpp
	{"<|channel>", "<channel|>"},                            // Gemma 4: vLLM gemma4
	{"[unused16]", "[unused17]"},                            // Pangu: vLLM pangu
	{"Here is my thought process:", "Here is my response:"}, // Granite 3.2: vLLM granite
	{"Here's my thought process:", "Here's my response:"},
}

// wrappers stand around what was said, beside some of the marks.
var wrappers = []string{
	"<|begin_of_solution|>", "<|end_of_solution|>", "<|START_RESPONSE|>", "<|END_RESPONSE|>", "<|START_TEXT|>", "<|END_TEXT|>",
	"<response>", "</response>", "<|return|>", "<|end|>", "<|im_end|>", "<|eot_id|>", "<turn|>", "<eos>", "</s>",
}

// Parts are the two parts of a reply.
type Parts struct {
	Said     string   // what the model said
	Thoughts []string // what it thought before, in order
	Open     bool     // its last thought does not end: it was cut, and nothing was said
}

// Split separates what a model thought from what it said. Marks in code, and a reply that
// only talks about them, are left alone: a mark stands at the beginning or the end of a
// line, or behind the end of a sentence. Marks of one's own go before the known ones. A
// text without marks is returned as it is.
func Split(text string, own ...Marks) Parts {
	if p, ok := harmony(text); ok {
		return p
	}
	for _, m := range slices.Concat(own, knownMarks) {
		if m.Open == "" || m.Close == "" || !strings.Contains(text, m.Close) && !opens(text, m.Open) {
			continue
		}
		if p, ok := m.split(text); ok {
			return p
		}
	}
	return Parts{Said: text}
}

// Said is what a method gets of a completion: what the model said. A reply whose last thought
// does not end says nothing, and was cut.
func Said(c methods.Completion, own ...Marks) methods.Completion {
	p := Split(c.Text, own...)
	if p.Thoughts == nil {
		return c
	}
	if p.Open {
		c.Text, c.Finish, c.Logprobs = "", methods.FinishLength, nil
		return c
	}
	if c.Logprobs != nil { // of what was said alone
		left := len(c.Text) - len(p.Said)
		for left > 0 && len(c.Logprobs) > 0 && strings.HasSuffix(c.Text, p.Said) {
			if left -= len(c.Logprobs[0].Raw()); left >= 0 {
				c.Logprobs = c.Logprobs[1:]
			}
		}
		p.Said = ""
		for _, t := range c.Logprobs {
			p.Said += string(t.Raw())
		}
	}
	c.Text = p.Said
	return c
}

// opens reports whether a text begins with a mark, or has it at the beginning of a line.
func opens(text, mark string) bool {
	return strings.HasPrefix(strings.TrimSpace(text), mark) || strings.Contains(text, "\n"+mark)
}

// split reads a text by one pair of marks; false if the text has none that counts.
func (m Marks) split(text string) (p Parts, ok bool) {
	var said strings.Builder
	from, open := 0, -1 // where what is not sorted yet begins, and where an open thought does
	for s := (scanner{text: text}); s.next(m); {
		switch {
		case !s.closing && open < 0 && (s.ownLine || s.pairs(m)):
			said.WriteString(text[from:s.at])
			from, open = s.to, s.to
		case s.closing && open >= 0:
			p.Thoughts = append(p.Thoughts, strings.TrimSpace(text[open:s.at]))
			from, open = s.to, -1
		case s.closing: // the template holds the opening mark, or the thought talks of its end
			p.Thoughts = append(p.Thoughts, strings.TrimSpace(said.String()+text[from:s.at]))
			said.Reset()
			from = s.to
		default:
			continue
		}
		s.reset()
	}
	if p.Open = open >= 0; p.Open {
		p.Thoughts, from = append(p.Thoughts, strings.TrimSpace(text[open:])), len(text)
	}
	if p.Thoughts == nil {
		return p, false
	}
	if p.Open {
		return p, true
	}
	said.WriteString(text[from:])
	p.Said = unwrapped(said.String())
	return p, true
}

// scanner finds the marks of a text in one pass.
type scanner struct {
	text    string
	at, to  int  // the mark
	closing bool // it closes a thought
	ownLine bool // it begins its line

	fences, ticks int // of code: blocks since the last accepted mark, quotes since the line began
	looked        int // up to where they are counted
}

// next finds the next mark that is one, in the text behind the last. What a text says of a
// mark, in quotes or in the middle of a sentence, and code are passed over.
func (s *scanner) next(m Marks) bool {
	for {
		rest := s.text[s.to:]
		open, end := strings.Index(rest, m.Open), strings.Index(rest, m.Close)
		if open < 0 && end < 0 {
			return false
		}
		s.closing = open < 0 || end >= 0 && end < open
		if s.closing {
			s.at, s.to = s.to+end, s.to+end+len(m.Close)
		} else {
			s.at, s.to = s.to+open, s.to+open+len(m.Open)
		}
		if s.isMark() {
			return true
		}
	}
}

// reset begins to count code anew behind an accepted mark.
func (s *scanner) reset() { s.fences, s.ticks, s.looked = 0, 0, s.to }

// pairs reports whether a closing mark follows.
func (s *scanner) pairs(m Marks) bool { return strings.Contains(s.text[s.to:], m.Close) }

// isMark reports whether the found mark is one and not talk of it.
func (s *scanner) isMark() bool {
	since := s.text[s.looked:s.at]
	s.fences += strings.Count(since, "```")
	if i := strings.LastIndexByte(since, '\n'); i >= 0 {
		s.ticks, since = 0, since[i+1:]
	}
	s.ticks += strings.Count(since, "`")
	s.looked = s.at
	after := strings.TrimLeft(s.text[s.to:], " \t\r")
	before := strings.TrimRight(s.text[max(0, s.at-200):s.at], " \t")
	s.ownLine = before == "" || before[len(before)-1] == '\n'
	switch {
	case s.fences%2 == 1 && strings.Contains(s.text[s.to:], "```"), s.ticks%2 == 1:
		return false
	case s.ownLine, strings.HasPrefix(after, "\n"):
		return true
	case strings.IndexByte("\"'(,`", before[len(before)-1]) >= 0:
		return false
	}
	return s.text[s.at-1] != ' ' || strings.IndexByte(".!?:;)*}>]", before[len(before)-1]) >= 0
}

// unwrapped is what was said, without the marks that servers leave around it.
func unwrapped(said string) string {
	const space = " \t\r\n"
	for trimmed := true; trimmed; {
		trimmed = false
		said = strings.TrimLeft(said, space)
		for _, w := range wrappers {
			if rest, ok := strings.CutPrefix(said, w); ok {
				said, trimmed = strings.TrimLeft(rest, space), true
			}
			if rest, ok := strings.CutSuffix(strings.TrimRight(said, space), w); ok {
				said, trimmed = rest, true
			}
		}
	}
	return said
}

// The marks of gpt-oss's harmony format, and what a server leaves of them that drops
// special tokens.
//
// Source: openai/harmony, docs/format.md; vLLM gptoss.
const (
	channelMark  = "<|channel|>"
	messageMark  = "<|message|>"
	bareFinal    = "assistantfinal"
	bareAnalysis = "analysis"
)

// harmony reads the channels of a reply: final is said, all else was thought.
func harmony(text string) (p Parts, ok bool) {
	head := strings.TrimSpace(text)
	if rest, bare := strings.CutPrefix(head, bareAnalysis); bare && !strings.HasPrefix(rest, " ") && rest != "" {
		thought, said, found := cutLast(rest, bareFinal)
		if found {
			return Parts{Said: strings.TrimSpace(said), Thoughts: []string{strings.TrimSpace(thought)}}, true
		}
		if isLetter(rest[0]) {
			return Parts{Thoughts: []string{strings.TrimSpace(rest)}, Open: true}, true
		}
	}
	if !strings.HasPrefix(head, channelMark) && !strings.HasPrefix(head, "<|start|>") && !strings.HasPrefix(head, "assistant"+channelMark) {
		return p, false
	}
	final := false
	for _, part := range strings.Split(head, channelMark)[1:] {
		name, body, _ := strings.Cut(part, messageMark)
		body, _, _ = strings.Cut(body, "<|start|>")
		body = unwrapped(body)
		if final = strings.HasPrefix(strings.TrimSpace(name), "final"); final {
			p.Said = body
		} else if body != "" {
			p.Thoughts = append(p.Thoughts, strings.TrimSpace(body))
		}
	}
	p.Open = p.Said == "" && !final
	return p, true
}

// cutLast is [strings.Cut] at the last place.
func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}
