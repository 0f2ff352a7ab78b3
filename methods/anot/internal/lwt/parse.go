package lwt

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Parse reads a program. The error is the first fault, an [*Error]. A program
// without steps is not an error here.
func Parse(src string) (*Program, error) {
	p, faults := ParseAll(src, 1)
	if len(faults) > 0 {
		return nil, faults[0]
	}
	return p, nil
}

// stepStart matches where a step begins on a line.
var stepStart = regexp.MustCompile(`\n[ \t]*\([A-Za-z0-9_.]+\)[ \t]*=[ \t]*LLM`)

// maxSteps bounds a program: each step is a call of a model.
const maxSteps = 10_000

// ParseAll reads a program and lists its faults, each an [*Error], most of them
// at once: after a fault it goes on at the next line that begins a step. The
// program has the steps that could be read.
func ParseAll(src string, most int) (*Program, []error) {
	s := newScanner(src)
	p := &Program{}
	first := map[string]Pos{}
	var faults []error
	for len(faults) < most {
		if s.blank(); s.pos == len(s.src) {
			break
		}
		start := *s
		step, err := s.step()
		if err != nil {
			faults = append(faults, err)
			next := stepStart.FindStringIndex(src[start.pos:])
			if next == nil {
				break
			}
			*s = start
			for s.pos < start.pos+next[0]+1 {
				s.next()
			}
			continue
		}
		if at, ok := first[step.ID]; ok {
			faults = append(faults, &Error{step.Pos, step.ID, fmt.Sprintf("the id is taken by the step at %s", at)})
			continue
		}
		if len(p.Steps) == maxSteps {
			return p, append(faults, &Error{step.Pos, step.ID, fmt.Sprintf("a program has at most %d steps", maxSteps)})
		}
		first[step.ID] = step.Pos
		p.Steps = append(p.Steps, step)
	}
	return p, faults
}

// ParseStep reads exactly one step.
func ParseStep(src string) (Step, error) {
	p, err := Parse(src)
	if err != nil {
		return Step{}, err
	}
	if len(p.Steps) != 1 {
		return Step{}, &Error{Pos{1, 1}, "", fmt.Sprintf("want one step, have %d", len(p.Steps))}
	}
	return p.Steps[0], nil
}

// scanner reads a source text from front to back. It keeps the position of
// the current line, so that a position costs no second pass.
type scanner struct {
	src       string
	pos       int
	line      int
	lineStart int
}

func newScanner(src string) *scanner { return &scanner{src: src, line: 1} }

// at is the position of the byte offset, which must be on the current line.
func (s *scanner) at(offset int) Pos {
	return Pos{s.line, utf8.RuneCountInString(s.src[s.lineStart:offset]) + 1}
}

func (s *scanner) fault(format string, args ...any) error {
	return &Error{Pos: s.at(s.pos), Msg: fmt.Sprintf(format, args...)}
}

// next consumes one byte and counts lines.
func (s *scanner) next() {
	if s.src[s.pos] == '\n' {
		s.line++
		s.lineStart = s.pos + 1
	}
	s.pos++
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

func (s *scanner) space() {
	for s.pos < len(s.src) && isSpace(s.src[s.pos]) {
		s.next()
	}
}

// blank skips spaces and comment lines.
func (s *scanner) blank() {
	for s.space(); s.pos < len(s.src) && s.src[s.pos] == '#'; s.space() {
		s.toLineEnd()
	}
}

func (s *scanner) toLineEnd() {
	for s.pos < len(s.src) && s.src[s.pos] != '\n' {
		s.pos++
	}
}

// expect consumes the token and the spaces before it.
func (s *scanner) expect(token, where string) error {
	s.space()
	if !strings.HasPrefix(s.src[s.pos:], token) {
		return s.fault("want %q %s, have %s", token, where, s.have())
	}
	s.pos += len(token)
	return nil
}

// have shows what stands at the current position.
func (s *scanner) have() string {
	rest, _, _ := strings.Cut(s.src[s.pos:], "\n")
	if rest == "" {
		if s.pos == len(s.src) {
			return "the end of the text"
		}
		return "the end of the line"
	}
	return fmt.Sprintf("%.20q", rest)
}

func (s *scanner) step() (Step, error) {
	step := Step{Pos: s.at(s.pos)}
	if err := s.expect("(", `to begin a step (id)=LLM("prompt")`); err != nil {
		return step, err
	}
	s.space()
	id, err := s.id()
	if err != nil {
		return step, err
	}
	step.ID = id
	for _, token := range []string{")", "=", "LLM", "("} {
		if err := s.expect(token, `in (id)=LLM("prompt")`); err != nil {
			return step, s.of(id, err)
		}
	}
	s.space()
	if step.Prompt, err = s.str(); err != nil {
		return step, s.of(id, err)
	}
	if err := s.expect(")", "after the prompt (a quote inside it needs a backslash)"); err != nil {
		return step, s.of(id, err)
	}
	return step, s.of(id, s.endOfStep())
}

// of names the step that err is about.
func (s *scanner) of(id string, err error) error {
	if e, ok := err.(*Error); ok {
		e.Step = id
	}
	return err
}

func (s *scanner) id() (string, error) {
	end := s.pos
	for end < len(s.src) && isIDByte(s.src[end]) {
		end++
	}
	id := s.src[s.pos:end]
	if !IsID(id) {
		return "", s.fault("want an id, letters and digits that begin with a letter or a number, have %s", s.have())
	}
	s.pos = end
	return id, nil
}

// str reads a quoted string and its escapes.
func (s *scanner) str() (string, error) {
	if s.pos == len(s.src) || s.src[s.pos] != '"' && s.src[s.pos] != '\'' {
		return "", s.fault("want a prompt in quotes, have %s", s.have())
	}
	start, quote := s.at(s.pos), s.src[s.pos]
	var b strings.Builder
	chunk := s.pos + 1 // where the text that is copied as it stands begins
	for s.pos++; s.pos < len(s.src); s.next() {
		switch s.src[s.pos] {
		case quote:
			b.WriteString(s.src[chunk:s.pos])
			s.pos++
			return b.String(), nil
		case '\\':
			b.WriteString(s.src[chunk:s.pos])
			if err := s.escape(&b); err != nil {
				return "", err
			}
			chunk = s.pos + 1
		}
	}
	return "", &Error{Pos: start, Msg: fmt.Sprintf("the prompt has no closing %c", quote)}
}

// escape reads a backslash and stops on the byte that it escapes.
func (s *scanner) escape(b *strings.Builder) error {
	rest := s.src[s.pos+1:]
	if rest == "" {
		return s.fault("the text ends after a backslash")
	}
	i := strings.IndexByte(`"'\nt`, rest[0])
	if i < 0 {
		r, _ := utf8.DecodeRuneInString(rest)
		return s.fault(`unknown escape \%c: known are \" \' \\ \n \t`, r)
	}
	b.WriteByte("\"'\\\n\t"[i])
	s.pos++
	return nil
}

// endOfStep checks that nothing else stands on the line of a step's end.
func (s *scanner) endOfStep() error {
	for s.pos < len(s.src) && isSpace(s.src[s.pos]) {
		if s.src[s.pos] == '\n' {
			return nil
		}
		s.pos++
	}
	if s.pos < len(s.src) {
		return s.fault("want the end of the line after a step, have %s", s.have())
	}
	return nil
}
