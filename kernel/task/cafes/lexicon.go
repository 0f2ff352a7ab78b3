package cafes

import (
	_ "embed"
	"slices"
	"sync"

	"noema/kernel/base/files"
)

// form is the grammatical role of a phrase.
type form string

// The forms, with what turns each into "a cafe that …".
const (
	adjective form = "adjective" // "quiet": also stands before the noun
	predicate form = "predicate" // "good for kids": that is …
	noun      form = "noun"      // "a drive-thru": that has …, with …
	verb      form = "verb"      // "allows dogs": that …
	clause    form = "clause"    // "dogs are allowed": where …
)

var allForms = [...]form{adjective, predicate, noun, verb, clause}

// entry lists how one attribute value, or one kind of condition with slots
// for its details, is said. The phrases of Against say that it does not hold. A
// boolean attribute has phrases for both values; what can be said by denying the
// opposite ("without TVs") needs none of its own.
type entry struct {
	Kind    Kind
	Path    string
	Want    any
	Hops    int
	Say     phrases `yaml:",inline"`
	Against phrases
}

// phrases are texts by form.
type phrases struct{ Adjective, Predicate, Noun, Verb, Clause []string }

func (p phrases) of(f form) []string {
	return map[form][]string{adjective: p.Adjective, predicate: p.Predicate, noun: p.Noun, verb: p.Verb, clause: p.Clause}[f]
}

// like is the condition that the entry says, but for its slots.
func (e entry) like() Condition {
	return Condition{Kind: e.Kind, Path: e.Path, Want: e.Want, Hops: e.Hops}
}

//go:embed lexicon.yaml
var lexiconFile []byte

// lexicon is what requests and reviews are made of. It is shared and read only.
var lexicon = sync.OnceValue(func() (l struct {
	Attributes, Details []entry
	Topics              []string // no topic contains another
	Openers             []string // begin a request; each goes on with the noun phrase
	Places              []string // the nouns that openers and later sentences speak of
	Asides              []string // sentences of reviews that mention no topic and no attribute

	entries []entry // the attributes and the details
}) {
	files.BuiltIn(lexiconFile, &l)
	for i := range l.Attributes {
		e := &l.Attributes[i]
		e.Kind = Attr
		if n, ok := e.Want.(uint64); ok {
			e.Want = int(n)
		}
	}
	l.entries = slices.Concat(l.Attributes, l.Details)
	return l
})

// Topics lists what reviews of cafes may mention and requests may ask for.
// Requests may quote any other pattern.
func Topics() []string { return slices.Clone(lexicon().Topics) }

// Conditions lists every attribute value that the lexicon can say.
func Conditions() []Condition {
	var all []Condition
	for _, e := range lexicon().Attributes {
		all = append(all, e.like())
	}
	return all
}
