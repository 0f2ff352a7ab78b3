// Package grammar holds a local model to a JSON schema while it writes: it
// says before every token which tokens keep the text a prefix of a valid
// value, so that what comes out parses and validates by construction rather
// than by luck and retries.
//
// Compile turns a schema (a subset of JSON Schema draft 2020-12) into a
// pushdown automaton over bytes: strings, numbers and literals are finite
// automata, objects and arrays are frames on a stack. A text that several
// branches of a schema could mean has several stacks at once, which share
// their common parts. Bytes rather than characters are the alphabet because a
// token may end in the middle of a character.
//
// What is written is one spelling of what the schema allows: no white space,
// properties in the schema's order, whole numbers without point or exponent.
// Every prefix that is allowed can be completed; State.Shortest says how.
package grammar

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Options are the choices of a compilation; the zero value is the default.
type Options struct {
	// MaxDepth is how deep arrays and objects may nest in the text; 0 means 64.
	MaxDepth int
	// Closed forbids properties that a schema with properties does not name
	// and about which it is silent (no additionalProperties). The standard
	// allows them, but a model that may invent properties often does.
	Closed bool
}

// DefaultMaxDepth is how deep a text nests where Options do not say.
const DefaultMaxDepth = 64

const (
	maxSchemaBytes = 4 << 20
	// maxWork bounds the steps of a compilation, and through them its memory:
	// a hostile schema of a few lines can ask for billions of states.
	maxWork = 1 << 23
	// maxValues is how many different value positions a grammar may have.
	maxValues = 1 << 16
	// maxShortest is how long the shortest text at any place may be, in bytes.
	maxShortest = 1 << 20
)

// Compile is Options.Compile with the default options.
func Compile(schema json.RawMessage) (*Grammar, error) { return Options{}.Compile(schema) }

// Compile builds the grammar of a schema's JSON texts.
//
// It knows type, enum, const, properties, required, additionalProperties,
// prefixItems, items, minItems, maxItems, uniqueItems (of enumerations of up
// to 64 values), minLength, maxLength, pattern (RE2 syntax without \b and
// (?m)), format date, minimum, maximum, exclusiveMinimum, exclusiveMaximum,
// multipleOf (whole numbers up to 1000), anyOf, oneOf (of branches that type or
// const tell apart), allOf, and $ref within the document, recursive too.
// Another keyword that bears on validity is an error that names its place;
// annotations are ignored.
//
// Deviations from the standard, all of them towards fewer texts: integers are
// digits only (not 1.0 or -0), of 18 digits unless a bound has more; numbers
// have 18 digits before the point, 24 after it and an exponent of two, bounded
// ones no exponent; literals, strings under a pattern and additional
// properties' names have one spelling (raw UTF-8, escapes only where they must
// be); no name appears twice in an object.
func (o Options) Compile(source json.RawMessage) (*Grammar, error) {
	if o.MaxDepth < 0 {
		return nil, fmt.Errorf("compile grammar: MaxDepth is %d; use 0 for the default", o.MaxDepth)
	}
	if o.MaxDepth == 0 {
		o.MaxDepth = DefaultMaxDepth
	}
	if len(source) > maxSchemaBytes {
		return nil, fmt.Errorf("compile grammar: the schema has %d bytes; the limit is %d", len(source), maxSchemaBytes)
	}
	doc, err := parseTree(source)
	if err != nil {
		return nil, fmt.Errorf("compile grammar: the schema is not valid JSON: %w", err)
	}
	c := &compiler{
		options: o, document: doc, schemas: map[*value]*schema{},
		byKey: map[string]int32{}, lexemes: map[string]int32{},
		g: &Grammar{maxDepth: int32(o.MaxDepth)},
	}
	if err := c.compile(); err != nil {
		return nil, fmt.Errorf("compile grammar: %w", err)
	}
	return c.g, nil
}

// Grammar is the set of JSON texts that a schema allows. It is safe for
// concurrent use.
type Grammar struct {
	values   []valueNode
	lexemes  []*lexeme
	objects  []*object
	arrays   []*array
	names    int32 // the lexeme of additional properties' names
	maxDepth int32
	// limited says whether maxDepth can ever matter, that is, whether the
	// grammar is recursive or very deep.
	limited bool
	// best[s][v] is the length of the shortest text of value v that nests at
	// most s deep; more than len(best)-1 changes nothing.
	best [][]int64

	masks maskCache
}

// valueNode is a place where a value stands, with the kinds it may have.
type valueNode struct {
	path    string
	lexemes []int32
	objects []int32
	arrays  []int32
	// height is how deep the flattest value here nests.
	height int32
}

// object is an object's properties in the order in which they are written.
type object struct {
	properties []property
	// nextRequired[i] is the first required property from i on, or the number
	// of properties.
	nextRequired []int32
	additional   int32 // the value of additional properties, or -1
	declared     map[uint64]struct{}
	trie         []keyNode
	height       int32
}

type property struct {
	name     string
	spelling []byte // `"name":`
	value    int32
	required bool
}

// keyNode is a node of the trie of an object's property spellings.
type keyNode struct {
	edges []keyEdge
	keys  []int32 // the properties that go through this node, ascending
	end   int32   // the property that is complete here, or -1
}

type keyEdge struct {
	b  byte
	to int32
}

// array is an array's items.
type array struct {
	prefix   []int32
	rest     int32
	min, max int // max is -1 without a limit
	unique   bool
	height   int32
}

// item returns the value at index i.
func (a *array) item(i int) int32 {
	if i < len(a.prefix) {
		return a.prefix[i]
	}
	return a.rest
}

// compiler holds what is known while a schema becomes a grammar.
type compiler struct {
	options  Options
	document *value
	schemas  map[*value]*schema
	byKey    map[string]int32 // values by the schemas they satisfy
	lexemes  map[string]int32 // lexemes by what they accept
	queue    []job
	strings  *dfa
	work     int
	g        *Grammar
}

// job is a value whose schemas are still to be lowered.
type job struct {
	id      int32
	schemas []*schema
}

var errTooLarge = errors.New("the schema is too large; shorten its enums, patterns, limits or combinations")

// spend counts n steps of work.
func (c *compiler) spend(n int) error {
	c.work += n
	if n < 0 || c.work > maxWork {
		return errTooLarge
	}
	return nil
}

func (c *compiler) compile() error {
	root := c.schemaAt(c.document, "#")
	if _, err := c.value([]*schema{root}, "#"); err != nil {
		return err
	}
	for len(c.queue) > 0 {
		j := c.queue[0]
		c.queue = c.queue[1:]
		if err := c.lower(j); err != nil {
			return err
		}
	}
	if err := c.addNames(); err != nil {
		return err
	}
	return c.measure()
}
