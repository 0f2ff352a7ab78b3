package grammar

import (
	"bytes"
	"fmt"
	"slices"
)

// compiler holds what is known while a schema becomes a grammar.
type compiler struct {
	document *value
	any      place // a schema of any value
	schemas  map[*value]*schema
	values   map[*value]int32
	lexemes  map[string]int32 // by what they accept; -1 accepts nothing
	queue    []place
	strings  *dfa
	work     int
	g        *Grammar
}

// spend counts n steps of work.
func (c *compiler) spend(n int) error {
	if c.work += n; c.work > maxWork {
		return errTooLarge
	}
	return nil
}

// value returns the node of a schema's values. It is lowered later, so that
// recursion in the schema is not recursion here.
func (c *compiler) value(p place) (int32, error) {
	if id, ok := c.values[p.value]; ok {
		return id, nil
	}
	id := int32(len(c.g.values))
	c.values[p.value] = id
	c.g.values = append(c.g.values, valueNode{path: p.path})
	c.queue = append(c.queue, p)
	return id, c.spend(64)
}

// lower finds out which lexemes, objects and arrays a value may be.
func (c *compiler) lower(p place) error {
	alternatives, err := c.alternatives(nil, p, map[*value]bool{})
	if err != nil {
		return err
	}
	node := valueNode{path: p.path}
	var texts [][]byte
	for _, s := range alternatives {
		if err := c.lowerSchema(s); err != nil {
			return err
		}
		for _, id := range s.node.lexemes {
			if !slices.Contains(node.lexemes, id) {
				node.lexemes = append(node.lexemes, id)
			}
		}
		node.objects = append(node.objects, s.node.objects...)
		node.arrays = append(node.arrays, s.node.arrays...)
		texts = append(texts, s.texts...)
		for _, text := range s.texts {
			if err := c.spend(8 * (len(text) + 1)); err != nil {
				return err
			}
		}
	}
	if len(texts) > 0 {
		key := "literals " + string(bytes.Join(texts, []byte{0}))
		c.addLexeme(&node, key, func() *lexeme { return literalLexeme(texts) })
	}
	c.g.values[c.values[p.value]] = node
	return nil
}

// alternatives appends the schemas of which a value satisfies one: the schema
// at p, or what its $ref and anyOf lead to, each once. A schema that leads back
// to itself adds nothing.
func (c *compiler) alternatives(all []*schema, p place, seen map[*value]bool) ([]*schema, error) {
	if seen[p.value] {
		return all, nil
	}
	seen[p.value] = true
	if err := c.spend(8); err != nil {
		return nil, err
	}
	s, err := c.load(p)
	if err != nil {
		return nil, err
	}
	switch {
	case s.never:
		return all, nil
	case s.ref != "":
		target, err := c.resolve(s)
		if err != nil {
			return nil, err
		}
		return c.alternatives(all, target, seen)
	case s.anyOf != nil:
		for _, branch := range s.anyOf {
			if all, err = c.alternatives(all, branch, seen); err != nil {
				return nil, err
			}
		}
		return all, nil
	}
	return append(all, s), nil
}

// lowerSchema finds out what a schema without $ref and anyOf allows, once.
func (c *compiler) lowerSchema(s *schema) (err error) {
	if s.node != nil {
		return nil
	}
	s.node = &valueNode{}
	if len(s.literals) > 0 {
		for _, m := range s.literals {
			if typeOf(m.value)&s.types != 0 {
				s.texts = append(s.texts, m.value.appendText(nil))
			}
		}
		return nil
	}
	if s.types&typeNull != 0 {
		s.texts = append(s.texts, []byte("null"))
	}
	if s.types&typeBool != 0 {
		s.texts = append(s.texts, []byte("true"), []byte("false"))
	}
	if s.types&typeNumber != 0 {
		if err := c.addNumber(s); err != nil {
			return err
		}
	}
	if s.types&typeString != 0 {
		c.addString(s)
	}
	if s.types&typeArray != 0 {
		if err := c.addArray(s); err != nil {
			return err
		}
	}
	if s.types&typeObject != 0 {
		return c.addObject(s)
	}
	return nil
}

// addLexeme adds the lexeme called key to node, building it the first time;
// lexemes that accept nothing are left out.
func (c *compiler) addLexeme(node *valueNode, key string, build func() *lexeme) {
	id, ok := c.lexemes[key]
	if !ok {
		id = -1
		if l := build(); l != nil {
			id = int32(len(c.g.lexemes))
			c.g.lexemes = append(c.g.lexemes, l)
		}
		c.lexemes[key] = id
	}
	if id >= 0 {
		node.lexemes = append(node.lexemes, id)
	}
}

func (c *compiler) addNumber(s *schema) error {
	whole := s.types&typeFraction == 0
	key := fmt.Sprint("number ", whole, s.minimum, s.maximum)
	c.addLexeme(s.node, key, func() *lexeme { return numberLexeme(whole, s.minimum, s.maximum) })
	return c.spend(1 << 12)
}

func (c *compiler) addString(s *schema) {
	key := fmt.Sprint("string ", s.minLength, " ", s.maxLength)
	c.addLexeme(s.node, key, func() *lexeme {
		if s.maxLength >= 0 && s.maxLength < s.minLength {
			return nil
		}
		if c.strings == nil {
			c.strings = anyStrings()
		}
		return &lexeme{dfa: c.strings, counted: true, min: s.minLength, max: s.maxLength}
	})
}

func (c *compiler) addArray(s *schema) error {
	items := c.any
	if s.items != nil {
		items = *s.items
	}
	id, err := c.value(items)
	s.node.arrays = []int32{int32(len(c.g.arrays))}
	c.g.arrays = append(c.g.arrays, &array{item: id, min: s.minItems, max: s.maxItems})
	return err
}

// addObject adds the properties in the order in which the schema lists them;
// those that are only required come last.
func (c *compiler) addObject(s *schema) error {
	o := &object{additional: -1, declared: map[uint64]bool{}, trie: []keyNode{{end: -1}}}
	s.node.objects = []int32{int32(len(c.g.objects))}
	c.g.objects = append(c.g.objects, o)
	others := c.any
	if s.additional != nil {
		others = *s.additional
	}
	if s.additional != nil || len(s.names) == 0 {
		id, err := c.value(others)
		if err != nil {
			return err
		}
		o.additional = id
	}
	required := map[string]bool{}
	for _, name := range s.required {
		required[name] = true
	}
	seen := map[string]bool{}
	for _, name := range append(slices.Clip(s.names), s.required...) {
		if seen[name] {
			continue
		}
		seen[name] = true
		p, ok := s.properties[name]
		if !ok {
			p = others
		}
		id, err := c.value(p)
		if err != nil {
			return err
		}
		o.add(name, id, required[name])
	}
	o.index()
	return nil
}

// add adds a property and its spelling to the trie.
func (o *object) add(name string, value int32, required bool) {
	spelled := appendString(nil, name)
	o.declared[hashName(spelled)] = true
	spelled = append(spelled, ':')
	i := int32(len(o.properties))
	o.properties = append(o.properties, property{spelled, value, required})
	at := int32(0)
	for depth, b := range spelled {
		o.trie[at].keys = append(o.trie[at].keys, i)
		next := o.trie[at].child(b)
		if next < 0 {
			next = int32(len(o.trie))
			o.trie = append(o.trie, keyNode{end: -1, depth: depth + 1})
			o.trie[at].edges = append(o.trie[at].edges, keyEdge{b, next})
		}
		at = next
	}
	o.trie[at].keys, o.trie[at].end = append(o.trie[at].keys, i), i
}

// index fills nextRequired.
func (o *object) index() {
	n := len(o.properties)
	o.nextRequired = make([]int32, n+1)
	o.nextRequired[n] = int32(n)
	for i := n - 1; i >= 0; i-- {
		o.nextRequired[i] = o.nextRequired[i+1]
		if o.properties[i].required {
			o.nextRequired[i] = int32(i)
		}
	}
}

// child returns the node after b, or -1.
func (n *keyNode) child(b byte) int32 {
	for _, e := range n.edges {
		if e.b == b {
			return e.to
		}
	}
	return -1
}
