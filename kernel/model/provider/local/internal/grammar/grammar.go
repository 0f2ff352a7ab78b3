// Package grammar holds a local model to a JSON schema while it writes: before
// every token it says which tokens keep the text a prefix of a valid value. The
// reply then parses and validates by construction, not by luck and retries.
//
// Compile turns a schema into a pushdown automaton over bytes: strings, numbers
// and literals are finite automata, objects and arrays are frames on a stack. A
// text that fits several branches of a schema has several stacks at once, which
// share their common parts. The alphabet is bytes and not characters because a
// token may end in the middle of a character.
//
// The schemas are those of strict structured output, as the large providers
// define it: type (also a list of types), enum, const, properties, required,
// additionalProperties, items, minItems, maxItems, minLength, maxLength,
// minimum, maximum, anyOf, and $ref within the document, recursive too.
// Annotations are ignored. Any other keyword is an error that names its place.
//
// Properties come in the schema's order, whole numbers without point or exponent.
// White space is that of llama.cpp's grammars, so that a model can write as it was
// trained to and yet not run on in blanks: after a brace, bracket, comma, colon or
// value within an array or object a blank, or one or two line breaks and up to 20
// blanks or tabs. Every prefix that is allowed can be completed, and State.Shortest
// says how.
package grammar

import (
	"encoding/json"
	"errors"
	"fmt"
)

const (
	// maxDepth is how deep arrays and objects may nest in a text.
	maxDepth       = 64
	maxSchemaBytes = 1 << 20
	// maxWork bounds the steps of a compilation, and so its memory: a few lines
	// of schema can refer to each other in millions of ways.
	maxWork = 1 << 23
	// maxShortest is how many bytes the shortest text of a value may have.
	maxShortest = 1 << 20
)

// Compile builds the grammar of a schema's JSON texts.
//
// It allows less than the standard does: an object whose schema lists
// properties has no others, unless additionalProperties says so; integers are
// digits only (not 1.0 or -0), up to 18 of them unless a bound has more;
// numbers have up to 18 digits before the point and 24 after it, and either an
// exponent of two digits or bounds; literals and additional properties' names
// have one spelling (raw UTF-8, escapes only where they must be); no name
// appears twice in an object.
func Compile(schema json.RawMessage) (*Grammar, error) {
	g, err := compile(schema, maxDepth)
	if err != nil {
		return nil, fmt.Errorf("compile grammar: %w", err)
	}
	return g, nil
}

func compile(source json.RawMessage, depth int32) (*Grammar, error) {
	if len(source) > maxSchemaBytes {
		return nil, fmt.Errorf("the schema has %d bytes: the limit is %d", len(source), maxSchemaBytes)
	}
	doc, err := parseTree(source)
	if err != nil {
		return nil, fmt.Errorf("the schema is not valid JSON: %w", err)
	}
	c := &compiler{
		document: doc, any: place{&value{kind: 't'}, "#"},
		schemas: map[*value]*schema{}, values: map[*value]int32{}, lexemes: map[string]int32{},
		g: &Grammar{maxDepth: depth},
	}
	if _, err := c.value(place{doc, "#"}); err != nil {
		return nil, err
	}
	for len(c.queue) > 0 {
		p := c.queue[0]
		c.queue = c.queue[1:]
		if err := c.lower(p); err != nil {
			return nil, err
		}
	}
	c.g.names = int32(len(c.g.lexemes))
	c.g.lexemes = append(c.g.lexemes, &lexeme{dfa: canonicalStrings(), name: true})
	return c.g, c.measure()
}

// Grammar is the set of JSON texts that a schema allows. It is safe for
// concurrent use.
type Grammar struct {
	values   []valueNode // the first is the root
	lexemes  []*lexeme
	objects  []*object
	arrays   []*array
	names    int32 // the lexeme of additional properties' names
	maxDepth int32
	tallest  int32 // the greatest height in the grammar that is not noHeight

	masks maskCache
}

// valueNode is a value of the schema, with the kinds that it may have.
type valueNode struct {
	path    string
	lexemes []int32
	objects []int32
	arrays  []int32
	extent
}

// extent is how long the shortest text is, and how deep the flattest one nests.
type extent struct {
	shortest float64 // bytes
	height   int32
}

// object is an object's properties in the order in which they are written.
type object struct {
	properties []property
	// nextRequired[i] is the first required property from i on, or the number
	// of properties.
	nextRequired []int32
	additional   int32 // the value of additional properties, or -1
	declared     map[uint64]bool
	trie         []keyNode
	height       int32
}

type property struct {
	spelling []byte // `"name":`
	value    int32
	required bool
}

// keyNode is a node of the trie of an object's property spellings.
type keyNode struct {
	edges []keyEdge
	keys  []int32 // the properties that go through this node, ascending
	end   int32   // the property that is complete here, or -1
	depth int     // bytes from the root
}

type keyEdge struct {
	b  byte
	to int32
}

// array is an array's items; max is -1 without a limit.
type array struct {
	item     int32
	min, max int
	height   int32
}

var errTooLarge = errors.New("the schema is too large: shorten its enums or use fewer combinations")
