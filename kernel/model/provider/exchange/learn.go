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

// Rules say what servers may refuse, by the names that refusals use, and what
// is done instead.
type Rules struct {
	// Parameters that a request can do without; empty where the protocol has no
	// such parameter.
	Temperature, TopP, TopK, Seed, Stop string
	Always                              []string // further ones, which every request carries
	// Limit are two names of the limit of output tokens, of which servers know
	// one: compatible ones the first, the provider's own the second.
	Limit [2]string
	// OwnSecond: the service's own server is sent the second name first.
	OwnSecond bool
	// Schema are the names of what carries a schema, the main one first.
	Schema []string
	// SchemaWays is how many further ways there are to ask for a schema where the
	// main one is refused. The last resort is always to ask in words.
	SchemaWays int
}

// Form is how requests are written for a server and model.
type Form struct {
	Without   map[string]bool // parameters that are not sent; never changed once made
	Alternate bool            // the second name of Rules.Limit is sent
	Way       int             // to ask for a schema: 0 is the protocol's own way, then those that Rules.SchemaWays counts
	InWords   bool            // a schema is asked for in words
}

// learned is what a client knows of its server and model. It is safe for
// concurrent use.
type learned struct {
	rules    Rules
	mentions *regexp.Regexp // finds the names of the rules in a refusal

	mu       sync.Mutex
	state    Form
	switched bool             // the other name of the limit was tried: do not go back and forth
	refused  map[[32]byte]int // the way to ask for single schemas that the server refuses, where it takes others
}

func newLearned(rules Rules, own bool) *learned {
	names := append([]string{rules.Temperature, rules.TopP, rules.TopK, rules.Seed, rules.Stop}, rules.Always...)
	names = append(append(names, rules.Limit[:]...), rules.Schema...)
	names = slices.DeleteFunc(names, func(name string) bool { return name == "" })
	for i, name := range names {
		names[i] = regexp.QuoteMeta(name)
	}
	return &learned{
		rules:    rules,
		mentions: regexp.MustCompile(`(?i)\b(` + strings.Join(names, "|") + `)\b`),
		state:    Form{Alternate: own && rules.OwnSecond},
	}
}

// form is how to write a request with the given schema, which may be nil.
func (l *learned) form(s *methods.Schema) Form {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.state
	if s != nil {
		f.Way = max(f.Way, l.refused[sha256.Sum256(s.JSON)])
		f.InWords = f.Way > l.rules.SchemaWays
	}
	return f
}

// unsupported matches the many ways to say that a parameter is not known,
// as opposed to a value of it that is out of range.
var unsupported = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)unsupported|not support|n't support|unavailable|unrecogni[sz]ed|unknown|unexpected|not permitted|not allowed|not available|not implemented|not enabled|deprecated|cannot (both )?be (specified|used|set)|extra (inputs|fields)|extra_forbidden|only the default|only (be )?(set|used) (to|with)|may only be set|must be (one of|'text'|'json_object')`)
})

// adapt learns from a refusal of r as sent in form f. It reports whether there
// is another form worth sending, which is then the current one.
func (l *learned) adapt(f Form, r methods.Request, refused *Refusal) bool {
	if refused.Status != http.StatusBadRequest && refused.Status != http.StatusUnprocessableEntity && refused.Status != http.StatusNotImplemented {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	text := refused.Text + " " + refused.Code
	for _, name := range append([]string{refused.Param}, l.mentions.FindAllString(refused.Text, -1)...) {
		if l.drop(strings.ToLower(name), f, r, text) {
			return true
		}
	}
	return false
}

// drop makes the form one that does without what a refusal named. It reports
// false if that was not sent or cannot be spared.
func (l *learned) drop(name string, f Form, r methods.Request, text string) bool {
	for _, known := range l.rules.Schema {
		if known = strings.ToLower(known); strings.HasPrefix(name+".", known+".") || strings.HasPrefix(known, name+".") {
			return l.dropSchema(f, r.Schema, text)
		}
	}
	if name == "" || !unsupported().MatchString(text) {
		return false
	}
	name, _, _ = strings.Cut(name, ".")
	if slices.Contains(l.rules.Limit[:], name) {
		return l.switchLimit(name, f, r)
	}
	name = l.rules.carried(name, r.Sampling)
	if name == "" || f.Without[name] {
		return false
	}
	next := map[string]bool{name: true}
	for have := range l.state.Without {
		next[have] = true
	}
	l.state.Without = next
	return true
}

// carried is the parameter of the given name in lower case if requests with
// this sampling carry it and can do without it.
func (u Rules) carried(lower string, s methods.Sampling) string {
	names := append([]string{u.Temperature, u.Seed}, u.Always...)
	if s.TopP != 0 {
		names = append(names, u.TopP)
	}
	if s.TopK > 0 {
		names = append(names, u.TopK)
	}
	if len(s.Stop) > 0 {
		names = append(names, u.Stop)
	}
	for _, name := range names {
		if strings.ToLower(name) == lower {
			return name
		}
	}
	return ""
}

func (l *learned) switchLimit(name string, f Form, r methods.Request) bool {
	if r.Sampling.MaxTokens == 0 || (name == l.rules.Limit[1]) != f.Alternate {
		return false
	}
	if l.state.Alternate != f.Alternate {
		return true // another call has learned it meanwhile
	}
	if l.switched {
		return false
	}
	l.state.Alternate, l.switched = !f.Alternate, true
	return true
}

// dropSchema falls back on the next way to ask for a schema: for one schema if
// the server says that this schema is at fault, otherwise for all.
func (l *learned) dropSchema(f Form, s *methods.Schema, text string) bool {
	if s == nil || f.InWords {
		return false
	}
	if badSchema().MatchString(text) {
		if l.refused == nil {
			l.refused = map[[32]byte]int{}
		}
		l.refused[sha256.Sum256(s.JSON)] = f.Way + 1
		return true
	}
	l.state.Way = max(l.state.Way, f.Way+1)
	return true
}

// badSchema matches refusals of one schema rather than of all.
var badSchema = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)invalid (json )?schema|schema is too|too many states|schema.*(not supported|unsupported) (keyword|property|type)|for '\w+' type, ('|property)`)
})

// AskInWords asks for the schema in words instead, at the end of the last
// message where that is the user's: some servers insist on alternating roles.
func (d *Draft) AskInWords() {
	if d.Schema == nil {
		return
	}
	text := "Reply with exactly one JSON value and nothing else: no prose, no code fence. It must be valid against this JSON Schema:\n" + string(d.Schema.JSON)
	d.Schema = nil
	d.Messages = slices.Clone(d.Messages)
	if n := len(d.Messages); n > 0 && d.Messages[n-1].Role == methods.User {
		d.Messages[n-1].Content += "\n\n" + text
		return
	}
	d.Messages = append(d.Messages, methods.Message{Role: methods.User, Content: text})
}
