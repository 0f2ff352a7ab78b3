package grammar

import (
	"fmt"
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
