package grammar

import (
	"fmt"
	"slices"
)

// flat is a conjunction of schemas with their $ref and allOf resolved: a value
// must satisfy every part, and one branch of every choice that is left.
type flat struct {
	types    types
	literals []*value // nil when nothing enumerates the values
	parts    []*schema
	choices  []choice
}

// choice is an anyOf or a oneOf. within are the schemas in whose place it
// stands; a branch that leads back to one of them would never end.
type choice struct {
	branches []*schema
	within   []*schema
	one      bool
}

// flatten adds s to the conjunction.
func (c *compiler) flatten(f *flat, s *schema, within []*schema) error {
	if err := c.spend(len(within) + len(f.parts) + 1); err != nil {
		return err
	}
	if slices.Contains(within, s) {
		return fmt.Errorf("%s: the schema refers to itself without an array or object in between", s.path)
	}
	if slices.Contains(f.parts, s) {
		return nil
	}
	if err := c.load(s); err != nil {
		return err
	}
	if s.never {
		f.types = 0
	}
	f.types &= s.types
	f.parts = append(f.parts, s)
	if s.literals != nil {
		f.literals = both(f.literals, s.literals, s.literalKeys)
	}
	return c.flattenInto(f, s, append(slices.Clip(within), s))
}

func (c *compiler) flattenInto(f *flat, s *schema, within []*schema) error {
	if s.anyOf != nil {
		f.choices = append(f.choices, choice{branches: s.anyOf, within: within})
	}
	if s.oneOf != nil {
		f.choices = append(f.choices, choice{branches: s.oneOf, within: within, one: true})
	}
	if s.ref != nil {
		if err := c.flatten(f, s.ref, within); err != nil {
			return err
		}
	}
	for _, part := range s.allOf {
		if err := c.flatten(f, part, within); err != nil {
			return err
		}
	}
	return nil
}

// expand makes every choice in every way. Conjunctions that enumerate their
// values keep their choices: the values are checked one by one.
func (c *compiler) expand(f *flat) ([]*flat, error) {
	if f.types == 0 {
		return nil, nil
	}
	if f.literals != nil || len(f.choices) == 0 {
		return []*flat{f}, nil
	}
	ch := f.choices[0]
	if ch.one {
		if err := c.checkDisjoint(f, ch); err != nil {
			return nil, err
		}
	}
	var out []*flat
	for _, branch := range ch.branches {
		g := &flat{types: f.types, parts: slices.Clone(f.parts), choices: slices.Clone(f.choices[1:])}
		if err := c.flatten(g, branch, ch.within); err != nil {
			return nil, err
		}
		alternatives, err := c.expand(g)
		if err != nil {
			return nil, err
		}
		out = append(out, alternatives...)
	}
	return out, nil
}

// checkDisjoint sees to it that no value of f satisfies two branches of a
// oneOf, which is what lets it be treated as an anyOf.
func (c *compiler) checkDisjoint(f *flat, ch choice) error {
	views := make([]*flat, len(ch.branches))
	for i, b := range ch.branches {
		views[i] = &flat{types: f.types, parts: slices.Clone(f.parts)}
		if err := c.flatten(views[i], b, ch.within); err != nil {
			return err
		}
	}
	for i, a := range views {
		for j, b := range views[:i] {
			apart, err := c.apart(a, b, 0)
			if err != nil {
				return err
			}
			if !apart {
				return fmt.Errorf("%s and %s: these branches of oneOf may both hold; tell them apart by type or by a required property with const, or use anyOf",
					ch.branches[j].path, ch.branches[i].path)
			}
		}
	}
	return nil
}

// maxApart is how deep apart looks into properties.
const maxApart = 8

// apart says whether it is certain that no value satisfies both a and b.
func (c *compiler) apart(a, b *flat, depth int) (bool, error) {
	if err := c.spend(1 + len(a.literals) + len(b.literals)); err != nil {
		return false, err
	}
	common := a.types & b.types
	if common == 0 {
		return true, nil
	}
	if a.literals != nil && b.literals != nil {
		keys := map[string]bool{}
		for _, v := range b.literals {
			keys[v.key()] = true
		}
		return len(both(a.literals, nil, keys)) == 0, nil
	}
	for _, pair := range [][2]*flat{{a, b}, {b, a}} {
		if pair[0].literals == nil {
			continue
		}
		apart := true
		for _, v := range pair[0].literals {
			apart = apart && typeOf(v)&pair[1].types == 0
		}
		if apart {
			return true, nil
		}
	}
	if common != typeObject || depth == maxApart {
		return false, nil
	}
	return c.propertiesApart(a, b, depth)
}

// propertiesApart looks for a property that both require and that cannot have
// the same value in both.
func (c *compiler) propertiesApart(a, b *flat, depth int) (bool, error) {
	for _, name := range requiredNames(a.parts) {
		if !slices.Contains(requiredNames(b.parts), name) {
			continue
		}
		var views [2]*flat
		for i, f := range []*flat{a, b} {
			views[i] = &flat{types: typeAll}
			for _, s := range propertySchemas(f.parts, name) {
				if err := c.flatten(views[i], s, nil); err != nil {
					return false, err
				}
			}
		}
		if apart, err := c.apart(views[0], views[1], depth+1); apart || err != nil {
			return apart, err
		}
	}
	return false, nil
}

// requiredNames lists the properties that the parts require, once each.
func requiredNames(parts []*schema) []string {
	var names []string
	seen := map[string]bool{}
	for _, p := range parts {
		for _, name := range p.object.required {
			if !seen[name] {
				seen[name] = true
				names = append(names, name)
			}
		}
	}
	return names
}

// propertySchemas lists what the parts ask of a property's value.
func propertySchemas(parts []*schema, name string) []*schema {
	var out []*schema
	for _, p := range parts {
		if s := p.object.byName[name]; s != nil {
			out = append(out, s)
		} else if p.object.additional != nil {
			out = append(out, p.object.additional)
		}
	}
	return out
}
