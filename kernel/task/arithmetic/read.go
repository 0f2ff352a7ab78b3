package arithmetic

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// pattern recognises the sentences of one template.
type pattern struct {
	template
	begin string // before the first slot: with hint it tells most sentences apart, at a hundredth of the price of form
	named bool   // the first slot begins it, and is who
	hint  string // the longest part that is not a slot
	form  *regexp.Regexp
}

// patterns are made once; there are some eighty.
var patterns = sync.OnceValue(func() []pattern {
	names := strings.Join(Names(), "|")
	var packs []string
	for _, i := range lexicon().Items {
		packs = append(packs, i.Packs)
	}
	slots := strings.NewReplacer(
		`\{who\}`, `(?P<who>`+whoever()+`)`, `\{whom\}`, `(?P<whom>`+names+`)`, `\{third\}`, `(?P<third>`+names+`)`,
		`\{n\}`, `(?P<n>`+number+`)`, `\{m\}`, `(?P<m>`+number+`)`, `\{thing\}`, `(?P<thing>`+strings.Join(Things(), "|")+`)`,
		`\{packs\}`, `(?:`+strings.Join(packs, "|")+`)`,
	)
	var all []pattern
	for _, t := range lexicon().grammar {
		parts := slot.Split(t.text, -1)
		all = append(all, pattern{
			template: t, begin: parts[0], named: strings.HasPrefix(t.text, "{who}"),
			hint: slices.MaxFunc(parts, func(a, b string) int { return len(a) - len(b) }),
			form: regexp.MustCompile(`^` + slots.Replace(regexp.QuoteMeta(t.text)) + `$`),
		})
	}
	return all
})

// whoever matches what may stand for {who}.
var whoever = sync.OnceValue(func() string { return strings.Join(Names(), "|") + `|[Ss]he|[Hh]e` })

// subject finds it at the beginning of a sentence.
var subject = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:` + whoever() + `)`) })

// slot finds the slots of a template.
var slot = regexp.MustCompile(`\{\w+\}`)

// ReadStory recovers the computation from the text of a story, and nothing but the
// text. It reads everything that [Render] says; any other sentence is an error
// that quotes it.
func ReadStory(text string) (Story, error) {
	if len(text) > maxText {
		return Story{}, fmt.Errorf("read story: the text has %d bytes: the limit is %d", len(text), maxText)
	}
	return read(Sentences(text))
}

// FindStory reads the last whole story in a longer text, such as a prompt.
func FindStory(text string) (Story, error) {
	err := errors.New("find story: no story in the text")
	var found Story
	var told []string
	for line := range strings.Lines(tag.ReplaceAllString(text, "\n")) {
		for _, sentence := range Sentences(line) {
			f, ok := match(sentence)
			if !ok { // the first of a story may follow a label
				sentence = strings.TrimLeft(sentence[strings.LastIndex(sentence, ": ")+1:], " \"“")
				told = nil
				f, ok = match(sentence)
			}
			if !ok {
				continue
			}
			if told = append(told, sentence); f.Kind.IsQuestion() {
				if s, wrong := read(told); wrong == nil {
					found, err = s, nil
				}
				told = nil
			}
		}
	}
	return found, err
}

// tag is what prompts put around a question.
var tag = regexp.MustCompile(`</?\w+>`)

// read recovers the computation from the sentences of a story.
func read(sentences []string) (Story, error) {
	facts, err := Facts(sentences)
	if err != nil {
		return Story{}, err
	}
	s, err := compile(facts)
	if err != nil {
		return Story{}, fmt.Errorf("read story: %w", err)
	}
	for _, n := range numbers.FindAllString(strings.Join(sentences, " "), -1) {
		s.Numbers = append(s.Numbers, plain(n))
	}
	return s, nil
}

// number is how a text writes a number.
const number = `\d+(?:,\d{3})*(?:\.\d+)?`

// numbers finds all numbers of a text.
var numbers = regexp.MustCompile(number)

// maxText bounds what is read, in bytes.
const maxText = 10_000

// Facts recovers the facts of a story from its sentences, the question last.
func Facts(sentences []string) ([]Fact, error) {
	var facts []Fact
	subject := ""
	for _, sentence := range sentences {
		f, ok := match(sentence)
		if !ok {
			return nil, fmt.Errorf("read story: cannot read %.100q", sentence)
		}
		if strings.EqualFold(f.Who, "he") || strings.EqualFold(f.Who, "she") {
			if subject == "" {
				return nil, fmt.Errorf("read story: the pronoun in %.100q refers to nobody", sentence)
			}
			f.Who = subject
		}
		if f.Who != "" {
			subject = f.Who
		}
		facts = append(facts, f)
	}
	return facts, nil
}

// Sentences cuts a text into its sentences, without full stops and openers.
func Sentences(text string) []string {
	var sentences []string
	for rest := strings.TrimSpace(text); rest != ""; {
		end := strings.IndexAny(rest, ".?")
		for end >= 0 && end+1 < len(rest) && rest[end+1] != ' ' && rest[end+1] != '\n' { // a decimal point
			next := strings.IndexAny(rest[end+1:], ".?")
			if next < 0 {
				end = -1
				break
			}
			end += 1 + next
		}
		if end < 0 {
			end = len(rest) - 1
		}
		sentence := strings.TrimRight(rest[:end+1], ".")
		for _, opener := range lexicon().Openers {
			sentence = strings.TrimPrefix(sentence, opener)
		}
		sentences = append(sentences, strings.Join(strings.Fields(sentence), " "))
		rest = strings.TrimSpace(rest[end+1:])
	}
	return sentences
}

// longestSentence is beyond any sentence of a story, in bytes; each pattern would
// search the whole of a longer one.
const longestSentence = 500

// match finds the fact that a sentence states.
func match(sentence string) (Fact, bool) {
	if len(sentence) > longestSentence {
		return Fact{}, false
	}
	named := subject().MatchString(sentence)
	for _, p := range patterns() {
		if p.named && !named || !strings.HasPrefix(sentence, p.begin) || !strings.Contains(sentence, p.hint) {
			continue
		}
		m := p.form.FindStringSubmatch(sentence)
		if m == nil {
			continue
		}
		part := map[string]string{}
		for i, name := range p.form.SubexpNames() {
			part[name] = m[i]
		}
		f := Fact{Kind: p.kind, Who: part["who"], Whom: part["whom"], Third: part["third"], Thing: part["thing"], N: plain(part["n"]), M: plain(part["m"])}
		switch p.class {
		case money:
			f.Thing = Dollars
		case distance:
			f.Thing = Kilometres
		}
		if p.n != "" {
			f.N = p.n
		}
		return f, true
	}
	return Fact{}, false
}

// plain writes a number of the text as a decimal in canonical form.
func plain(n string) string {
	n = strings.ReplaceAll(n, ",", "")
	if strings.Contains(n, ".") {
		n = strings.TrimRight(strings.TrimRight(n, "0"), ".")
	}
	return n
}
