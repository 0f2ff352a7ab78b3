package exchange

import (
	"crypto/sha256"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"

	"noema/methods"
)

// Form is how a request is written for a server.
type Form struct {
	Without   map[string]bool // parameters that are not sent; never changed once made
	Alternate bool            // the second name of Rules.Names is sent rather than the first
	Schema    int             // which of Rules.Schemas; the last one is always the words of [Instruct]
}

// InWords reports whether a schema is asked for in words under these rules.
func (r *Rules) InWords(f Form) bool { return f.Schema == len(r.Schemas)-1 }

// Rules say what a protocol's servers may refuse, and what takes its place.
type Rules struct {
	// Sent are the parameters that a request can do without, by the name that
	// refusals call them, with whether a request carries them at all.
	Sent map[string]func(methods.Request) bool
	// Names are two names of one parameter, of which servers know one or the
	// other, and Named whether a request carries it. Empty if there is none.
	Names [2]string
	Named func(methods.Request) bool
	// Mentions finds the parameters that a refusal speaks of.
	Mentions *regexp.Regexp
	// Schemas are the ways to ask for a schema, the best first, as
	// Adaptations is to describe them; SchemaNames are the words by which
	// refusals mean it.
	Schemas     []string
	SchemaNames []string
}

// Learned is what a provider knows of its server and model. It is safe for
// concurrent use.
type Learned struct {
	rules *Rules

	mu       sync.Mutex
	form     Form
	switched bool             // the other name was tried: do not go back and forth
	refused  map[[32]byte]int // the form of single schemas that the server refuses, where it takes others
}

// NewLearned returns what is known at first: how to write requests for a
// server that refuses nothing.
func NewLearned(rules *Rules, start Form) *Learned { return &Learned{rules: rules, form: start} }

// Form is how to write a request with the given schema, which may be nil.
func (l *Learned) Form(s *methods.Schema) Form {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.form
	if s != nil {
		f.Schema = max(f.Schema, l.refused[sha256.Sum256(s.JSON)])
	}
	return f
}

// unsupported matches the many ways to say that a parameter is not known,
// as opposed to a value of it that is out of range.
var unsupported = regexp.MustCompile(`(?i)unsupported|not support|n't support|unavailable|unrecogni[sz]ed|unknown|unexpected|not permitted|not allowed|not available|not implemented|not enabled|deprecated|cannot (both )?be (specified|used|set)|extra (inputs|fields)|extra_forbidden|only the default|only (be )?(set|used) (to|with)|may only be set|must be (one of|'text'|'json_object')`)

// Adapt learns from a refusal of r as sent in form f. It reports whether
// there is another form worth sending, which is then the current one.
func (l *Learned) Adapt(f Form, r methods.Request, refused *Refusal) bool {
	if refused.Status != http.StatusBadRequest && refused.Status != http.StatusUnprocessableEntity && refused.Status != http.StatusNotImplemented {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	text := refused.Text + " " + refused.Code
	for _, name := range append([]string{refused.Param}, l.rules.Mentions.FindAllString(refused.Text, -1)...) {
		if l.drop(name, f, r, text) {
			return true
		}
		name, _, _ = strings.Cut(name, ".") // response_format.type
		if l.drop(name, f, r, text) {
			return true
		}
	}
	return false
}

// drop makes the form one that does without the named parameter. It reports
// false if that parameter was not sent or cannot be spared.
func (l *Learned) drop(name string, f Form, r methods.Request, text string) bool {
	if slices.Contains(l.rules.SchemaNames, strings.ToLower(name)) {
		return l.dropSchema(f, r.Schema, text)
	}
	if name == "" || !unsupported.MatchString(text) {
		return false
	}
	if slices.Contains(l.rules.Names[:], name) {
		return l.switchName(name, f, r)
	}
	sent := l.rules.Sent[name]
	if sent == nil || !sent(r) || f.Without[name] {
		return false
	}
	next := map[string]bool{name: true}
	for have := range l.form.Without {
		next[have] = true
	}
	l.form.Without = next
	return true
}

func (l *Learned) switchName(name string, f Form, r methods.Request) bool {
	if !l.rules.Named(r) || (name == l.rules.Names[1]) != f.Alternate {
		return false
	}
	if l.form.Alternate != f.Alternate {
		return true // another call has learned it meanwhile
	}
	if l.switched {
		return false
	}
	l.form.Alternate, l.switched = !f.Alternate, true
	return true
}

// dropSchema falls back on the next way to ask for a schema: for one schema if
// the server says that this schema is at fault, else for all.
func (l *Learned) dropSchema(f Form, s *methods.Schema, text string) bool {
	if s == nil || l.rules.InWords(f) {
		return false
	}
	if badSchema.MatchString(text) {
		if l.refused == nil {
			l.refused = map[[32]byte]int{}
		}
		l.refused[sha256.Sum256(s.JSON)] = f.Schema + 1
		return true
	}
	l.form.Schema = max(l.form.Schema, f.Schema+1)
	return true
}

// badSchema matches refusals of one schema rather than of all.
var badSchema = regexp.MustCompile(`(?i)invalid (json )?schema|schema is too|too many states|schema.*(not supported|unsupported) (keyword|property|type)|for '\w+' type, ('|property)`)

// List says in words what was refused so far and what is sent in its place.
// It is sorted, and empty for a server that accepts everything.
func (l *Learned) List() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []string
	for name := range l.form.Without {
		out = append(out, name+" is not sent: the server refuses it")
	}
	if l.switched {
		now := l.rules.Names[0]
		if l.form.Alternate {
			now = l.rules.Names[1]
		}
		out = append(out, now+" is sent for the limit of output tokens: the server refuses the other name")
	}
	switch {
	case l.form.Schema > 0:
		out = append(out, l.rules.Schemas[l.form.Schema])
	case len(l.refused) > 0:
		out = append(out, "for the schemas that the server refuses: "+l.rules.Schemas[len(l.rules.Schemas)-1])
	}
	slices.Sort(out)
	return out
}

// Instruct returns the conversation with the schema asked for in words. It
// goes into the last user turn where that is the last one: some servers insist
// on alternating roles.
func Instruct(messages []methods.Message, s *methods.Schema) []methods.Message {
	text := "Reply with exactly one JSON value and nothing else: no prose, no code fence. It must be valid against this JSON Schema:\n" + string(s.JSON)
	out := append([]methods.Message(nil), messages...)
	if n := len(out); n > 0 && out[n-1].Role == methods.User {
		out[n-1].Content += "\n\n" + text
		return out
	}
	return append(out, methods.Message{Role: methods.User, Content: text})
}
