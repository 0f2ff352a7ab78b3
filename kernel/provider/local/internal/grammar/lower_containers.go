package grammar

import "hash/fnv"

// lowerArray merges what the parts ask of an array.
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

// lowerObject merges what the parts ask of an object.
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
