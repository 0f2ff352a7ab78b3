package openai

import (
	"crypto/sha256"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"

	"noema/methods"
)

// The parameters that a server may do without.
const (
	temperature = "temperature"
	topP        = "top_p"
	topK        = "top_k"
	seed        = "seed"
	stop        = "stop"
)

type schemaForm int

const (
	schemaEnforced    schemaForm = iota // as response_format
	schemaInstruction                   // in words
)

// form is how a request is written for a server.
type form struct {
	without   map[string]bool // parameters that are not sent; never changed once made
	oldTokens bool            // max_tokens rather than max_completion_tokens
	schema    schemaForm
}

// learned is what a provider knows of its server and model. The zero value
// knows nothing; form.oldTokens may be set before use.
type learned struct {
	mu             sync.Mutex
	form           form
	tokensSwitched bool                  // the other name was tried: do not go back and forth
	refusedSchemas map[[32]byte]struct{} // single schemas that the server refuses, where it takes others
}

// current is the form for a request with the given schema, which may be nil.
func (l *learned) current(s *methods.Schema) form {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.form
	if s != nil {
		if _, refused := l.refusedSchemas[sha256.Sum256(s.JSON)]; refused {
			f.schema = schemaInstruction
		}
	}
	return f
}

// unsupported matches the many ways to say that a parameter is not known,
// as opposed to a value of it that is out of range.
var unsupported = regexp.MustCompile(`(?i)unsupported|not support|n't support|unavailable|unrecogni[sz]ed|unknown|unexpected|not permitted|not allowed|not available|not implemented|extra (inputs|fields)|extra_forbidden|only the default|must be (one of|'text'|'json_object')`)

// named finds the parameters that a message speaks of.
var named = regexp.MustCompile(`max_completion_tokens|max_tokens|temperature|top_p|top_k|\bseed\b|\bstop\b|response[_ ]format|json_schema`)

// adapt learns from a refusal of r as sent in form f. It reports whether
// there is another form worth sending, which is then the current one.
func (l *learned) adapt(f form, r methods.Request, refused *refusal) bool {
	if refused.status != http.StatusBadRequest && refused.status != http.StatusUnprocessableEntity && refused.status != http.StatusNotImplemented {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, name := range append([]string{refused.param}, named.FindAllString(refused.text, -1)...) {
		name, _, _ = strings.Cut(name, ".") // response_format.type
		if done := l.drop(name, f, r, refused.text+" "+refused.code); done {
			return true
		}
	}
	return false
}

// drop makes the form one that does without the named parameter. It reports
// false if that parameter was not sent or cannot be spared.
func (l *learned) drop(name string, f form, r methods.Request, text string) bool {
	switch name {
	case "response_format", "response format", "json_schema":
		return l.dropSchema(f, r.Schema, text)
	}
	if !unsupported.MatchString(text) {
		return false
	}
	switch name {
	case temperature, seed:
	case topP:
		if r.Sampling.TopP == 0 {
			return false
		}
	case topK:
		if r.Sampling.TopK == 0 {
			return false
		}
	case stop:
		if len(r.Sampling.Stop) == 0 {
			return false
		}
	case "max_tokens", "max_completion_tokens":
		return l.switchTokens(name, f, r)
	default:
		return false
	}
	if f.without[name] {
		return false
	}
	next := map[string]bool{name: true}
	for have := range l.form.without {
		next[have] = true
	}
	l.form.without = next
	return true
}

func (l *learned) switchTokens(name string, f form, r methods.Request) bool {
	if r.Sampling.MaxTokens == 0 || (name == "max_tokens") != f.oldTokens {
		return false
	}
	if l.form.oldTokens != f.oldTokens {
		return true // another call has learned it meanwhile
	}
	if l.tokensSwitched {
		return false
	}
	l.form.oldTokens, l.tokensSwitched = !f.oldTokens, true
	return true
}

// dropSchema falls back on the instruction: for one schema if the server says
// that this schema is at fault, else for all.
func (l *learned) dropSchema(f form, s *methods.Schema, text string) bool {
	if s == nil || f.schema == schemaInstruction {
		return false
	}
	if strings.Contains(strings.ToLower(text), "invalid schema") {
		if l.refusedSchemas == nil {
			l.refusedSchemas = map[[32]byte]struct{}{}
		}
		l.refusedSchemas[sha256.Sum256(s.JSON)] = struct{}{}
		return true
	}
	l.form.schema = schemaInstruction
	return true
}

func (l *learned) list() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []string
	for name := range l.form.without {
		out = append(out, name+" is not sent: the server refuses it")
	}
	if l.tokensSwitched {
		name := "max_completion_tokens"
		if l.form.oldTokens {
			name = "max_tokens"
		}
		out = append(out, name+" is sent for the limit of output tokens: the server refuses the other name")
	}
	switch {
	case l.form.schema == schemaInstruction:
		out = append(out, "response_format is not sent: the schema is asked for in words and validated here")
	case len(l.refusedSchemas) > 0:
		out = append(out, "response_format is not sent for the schemas that the server refuses: they are asked for in words and validated here")
	}
	slices.Sort(out)
	return out
}
