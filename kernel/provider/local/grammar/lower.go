package grammar

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
)

// value returns the node of the values that satisfy all the schemas; with none
// of them that is any value. It is lowered later, so that recursion in the
// schema is not recursion here.
func (c *compiler) value(schemas []*schema, path string) (int32, error) {
	schemas = slices.Clone(schemas)
	slices.SortFunc(schemas, func(a, b *schema) int { return a.id - b.id })
	schemas = slices.Compact(schemas)
	var key strings.Builder
	for _, s := range schemas {
		fmt.Fprintf(&key, "%d,", s.id)
	}
	if err := c.spend(64 + 8*len(schemas)); err != nil {
		return 0, err
	}
	if id, ok := c.byKey[key.String()]; ok {
		return id, nil
	}
	if len(c.g.values) == maxValues {
		return 0, errTooLarge
	}
	if len(schemas) > 0 {
		path = schemas[0].path
	}
	id := int32(len(c.g.values))
	c.byKey[key.String()] = id
	c.g.values = append(c.g.values, valueNode{path: path})
	c.queue = append(c.queue, job{id, schemas})
	return id, nil
}

// lower finds out which lexemes, objects and arrays a value may be.
func (c *compiler) lower(j job) error {
	f := &flat{types: typeAll}
	for _, s := range j.schemas {
		if err := c.flatten(f, s, nil); err != nil {
			return err
		}
	}
	alternatives, err := c.expand(f)
	if err != nil {
		return err
	}
	node := c.g.values[j.id]
	var literals []*value
	for _, a := range alternatives {
		if a.literals != nil {
			more, err := c.holding(a)
			if err != nil {
				return err
			}
			literals = append(literals, more...)
			continue
		}
		if err := c.refusals(a); err != nil {
			return err
		}
		literals = append(literals, words(a.types)...)
		if err := c.lowerAlternative(&node, a); err != nil {
			return err
		}
	}
	if err := c.addLiterals(&node, literals); err != nil {
		return err
	}
	c.g.values[j.id] = node
	return nil
}

// holding filters a conjunction's literals by all of its parts.
func (c *compiler) holding(f *flat) ([]*value, error) {
	var out []*value
	for _, v := range f.literals {
		if f.types&typeOf(v) == 0 {
			continue
		}
		n, err := c.countHolding(v, f.parts, 0)
		if err != nil {
			return nil, err
		}
		if n == len(f.parts) {
			out = append(out, v)
		}
	}
	return out, nil
}

// words are the literals that whole types consist of.
func words(t types) []*value {
	var out []*value
	if t&typeNull != 0 {
		out = append(out, &value{kind: 'n'})
	}
	if t&typeBool != 0 {
		out = append(out, &value{kind: 't'}, &value{kind: 'f'})
	}
	return out
}

// refusals reports the keywords that would be needed but are not supported.
func (c *compiler) refusals(f *flat) error {
	for _, p := range f.parts {
		for _, r := range p.refused {
			if r.types&f.types != 0 {
				return r.err
			}
		}
	}
	return nil
}

func (c *compiler) lowerAlternative(node *valueNode, f *flat) error {
	if f.types&typeNumber != 0 {
		if err := c.addNumber(node, f); err != nil {
			return err
		}
	}
	if f.types&typeString != 0 {
		if err := c.addString(node, f); err != nil {
			return err
		}
	}
	if f.types&typeArray != 0 {
		a, err := c.lowerArray(f, node.path)
		if err != nil {
			return err
		}
		node.arrays = append(node.arrays, int32(len(c.g.arrays)))
		c.g.arrays = append(c.g.arrays, a)
	}
	if f.types&typeObject != 0 {
		o, err := c.lowerObject(f, node.path)
		if err != nil {
			return err
		}
		node.objects = append(node.objects, int32(len(c.g.objects)))
		c.g.objects = append(c.g.objects, o)
	}
	return nil
}

// addLexeme adds the lexeme called key to node, building it the first time;
// lexemes that accept nothing are left out.
func (c *compiler) addLexeme(node *valueNode, key string, build func() (*lexeme, error)) error {
	id, ok := c.lexemes[key]
	if !ok {
		l, err := build()
		if err != nil {
			return err
		}
		id = -1
		if l != nil {
			id = int32(len(c.g.lexemes))
			c.g.lexemes = append(c.g.lexemes, l)
		}
		c.lexemes[key] = id
	}
	if id >= 0 && !slices.Contains(node.lexemes, id) {
		node.lexemes = append(node.lexemes, id)
	}
	return nil
}

func (c *compiler) addLiterals(node *valueNode, literals []*value) error {
	if len(literals) == 0 {
		return nil
	}
	var texts [][]byte
	seen := map[string]bool{}
	for _, v := range literals {
		text, same := v.appendText(nil), v.key()
		if err := c.spend(8 * (len(text) + 1)); err != nil {
			return err
		}
		if !seen[same] {
			seen[same] = true
			texts = append(texts, text)
		}
	}
	key := "=" + string(slices.Concat(texts...))
	return c.addLexeme(node, key, func() (*lexeme, error) { return literalLexeme(texts), nil })
}

func (c *compiler) addNumber(node *valueNode, f *flat) error {
	var low, high *limit
	var multiple *decimal
	path := node.path
	for _, p := range f.parts {
		n := &p.number
		low, high = tighter(low, n.low, 1), tighter(high, n.high, -1)
		if n.path != "" {
			path = n.path
		}
		if n.multiple == nil {
			continue
		}
		if multiple != nil && *multiple != *n.multiple {
			return fmt.Errorf("%s: a second multipleOf for the same value is not supported", n.path)
		}
		multiple = n.multiple
	}
	whole := f.types&typeFraction == 0
	key := fmt.Sprintf("0 %v %s %s", whole, describe(low), describe(high))
	if multiple != nil {
		key += fmt.Sprintf(" %v", *multiple)
	}
	return c.addLexeme(node, key, func() (*lexeme, error) {
		return c.number(whole, low, high, multiple, path)
	})
}

func describe(l *limit) string {
	if l == nil {
		return "none"
	}
	return fmt.Sprint(*l)
}

func (c *compiler) addString(node *valueNode, f *flat) error {
	var patterns []located
	low, high := 0, -1
	for _, p := range f.parts {
		patterns = append(patterns, p.text.patterns...)
		low, high = max(low, p.text.min), lower(high, p.text.max)
	}
	key := fmt.Sprintf("s %d %d", low, high)
	for _, p := range patterns {
		key += fmt.Sprintf(" %q", p.text)
	}
	return c.addLexeme(node, key, func() (*lexeme, error) {
		if len(patterns) == 0 {
			return c.anyString(low, high)
		}
		return c.matchedString(patterns, low, high)
	})
}

// lower returns the lower of two maxima, of which -1 is none.
func lower(a, b int) int {
	if a < 0 || b >= 0 && b < a {
		return b
	}
	return a
}

func (c *compiler) lowerArray(f *flat, path string) (*array, error) {
	a := &array{max: -1}
	prefix := 0
	for _, p := range f.parts {
		a.min, a.max = max(a.min, p.array.min), lower(a.max, p.array.max)
		a.unique = a.unique || p.array.unique
		prefix = max(prefix, len(p.array.prefix))
	}
	if a.max >= 0 {
		prefix = min(prefix, a.max)
	}
	for i := range prefix + 1 {
		var schemas []*schema
		for _, p := range f.parts {
			if i < len(p.array.prefix) {
				schemas = append(schemas, p.array.prefix[i])
			} else if p.array.items != nil {
				schemas = append(schemas, p.array.items)
			}
		}
		id, err := c.value(schemas, path+"/items")
		if err != nil {
			return nil, err
		}
		if i < prefix {
			a.prefix = append(a.prefix, id)
		} else {
			a.rest = id
		}
	}
	return a, nil
}

func (c *compiler) lowerObject(f *flat, path string) (*object, error) {
	o := &object{additional: -1, declared: map[uint64]struct{}{}}
	required := map[string]bool{}
	for _, name := range requiredNames(f.parts) {
		required[name] = true
	}
	seen := map[string]bool{}
	for _, name := range propertyNames(f.parts) {
		if seen[name] {
			continue
		}
		seen[name] = true
		if err := c.spend(8 * len(f.parts)); err != nil {
			return nil, err
		}
		schemas := propertySchemas(f.parts, name)
		id, err := c.value(schemas, path+"/properties/"+escapePointer.Replace(name))
		if err != nil {
			return nil, err
		}
		spelled := appendString(nil, name)
		o.declared[hashName(spelled)] = struct{}{}
		o.properties = append(o.properties, property{name, append(spelled, ':'), id, required[name]})
	}
	o.nextRequired = make([]int32, len(o.properties)+1)
	o.nextRequired[len(o.properties)] = int32(len(o.properties))
	for i := len(o.properties) - 1; i >= 0; i-- {
		o.nextRequired[i] = o.nextRequired[i+1]
		if o.properties[i].required {
			o.nextRequired[i] = int32(i)
		}
	}
	if err := c.addAdditional(o, f, path); err != nil {
		return nil, err
	}
	return o, c.addTrie(o)
}

// propertyNames lists the properties in the order in which the parts name
// them; those that are only required come last.
func propertyNames(parts []*schema) []string {
	var names []string
	for _, p := range parts {
		names = append(names, p.object.names...)
	}
	return append(names, requiredNames(parts)...)
}

func (c *compiler) addAdditional(o *object, f *flat, path string) (err error) {
	var schemas []*schema
	named := false
	for _, p := range f.parts {
		named = named || len(p.object.names) > 0
		if s := p.object.additional; s != nil {
			schemas = append(schemas, s)
		}
	}
	if c.options.Closed && named && len(schemas) == 0 {
		return nil
	}
	o.additional, err = c.value(schemas, path+"/additionalProperties")
	return err
}

// addTrie builds the trie of the properties' spellings.
func (c *compiler) addTrie(o *object) error {
	o.trie = []keyNode{{end: -1}}
	for i, p := range o.properties {
		if err := c.spend(8 * len(p.spelling)); err != nil {
			return err
		}
		at := int32(0)
		for _, b := range p.spelling {
			next := o.trie[at].child(b)
			if next < 0 {
				next = int32(len(o.trie))
				o.trie = append(o.trie, keyNode{end: -1})
				o.trie[at].edges = append(o.trie[at].edges, keyEdge{b, next})
			}
			at = next
			o.trie[at].keys = append(o.trie[at].keys, int32(i))
		}
		o.trie[at].end = int32(i)
	}
	return nil
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

// addNames adds the lexeme of additional properties' names: canonical strings,
// so that two names are the same when their bytes are.
func (c *compiler) addNames() error {
	l, err := c.matchedString(nil, 0, -1)
	if err != nil {
		return err
	}
	l.name = true
	c.g.names = int32(len(c.g.lexemes))
	c.g.lexemes = append(c.g.lexemes, l)
	return nil
}

// hashName is the FNV-1a hash of a name's spelling with its quotes.
func hashName(spelled []byte) uint64 {
	h := fnv.New64a()
	h.Write(spelled)
	return h.Sum64()
}
