package grammar

import (
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"unicode/utf8"
)

// maxHolds bounds the recursion of holds, for schemas that refer to themselves.
const maxHolds = 256

// holds validates a literal against a schema, so that an enum beside other
// keywords lists only what they allow as well.
func (c *compiler) holds(v *value, s *schema, depth int) (bool, error) {
	if err := c.spend(8); err != nil {
		return false, err
	}
	if depth > maxHolds {
		return false, fmt.Errorf("%s: the schema refers to itself too deeply to check its literals", s.path)
	}
	if err := c.load(s); err != nil {
		return false, err
	}
	t := typeOf(v)
	for _, r := range s.refused {
		if r.types&t != 0 {
			return false, r.err
		}
	}
	if s.never || s.types&t == 0 {
		return false, nil
	}
	if s.literals != nil && !s.literalKeys[v.key()] {
		return false, nil
	}
	for _, check := range []func(*value, *schema, int) (bool, error){c.holdsShape, c.holdsCombined} {
		if ok, err := check(v, s, depth+1); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

func (c *compiler) holdsShape(v *value, s *schema, depth int) (bool, error) {
	switch v.kind {
	case '{':
		return c.holdsObject(v, s, depth)
	case '[':
		return c.holdsArray(v, s, depth)
	case '"':
		return holdsText(v, s)
	case '0':
		return holdsNumber(v, s)
	}
	return true, nil
}

// holdsCombined checks $ref, allOf, anyOf and oneOf.
func (c *compiler) holdsCombined(v *value, s *schema, depth int) (bool, error) {
	all := s.allOf
	if s.ref != nil {
		all = append(slices.Clip(all), s.ref)
	}
	if n, err := c.countHolding(v, all, depth); n < len(all) || err != nil {
		return false, err
	}
	if s.anyOf != nil {
		if n, err := c.countHolding(v, s.anyOf, depth); n == 0 || err != nil {
			return false, err
		}
	}
	if s.oneOf != nil {
		if n, err := c.countHolding(v, s.oneOf, depth); n != 1 || err != nil {
			return false, err
		}
	}
	return true, nil
}

func (c *compiler) countHolding(v *value, schemas []*schema, depth int) (int, error) {
	n := 0
	for _, s := range schemas {
		ok, err := c.holds(v, s, depth)
		if err != nil {
			return 0, err
		}
		if ok {
			n++
		}
	}
	return n, nil
}

func (c *compiler) holdsObject(v *value, s *schema, depth int) (bool, error) {
	for _, name := range s.object.required {
		if v.get(name) == nil {
			return false, nil
		}
	}
	for _, m := range v.members {
		sub := s.object.byName[m.name]
		if sub == nil {
			sub = s.object.additional
		}
		if sub == nil {
			continue
		}
		if ok, err := c.holds(m.value, sub, depth); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

func (c *compiler) holdsArray(v *value, s *schema, depth int) (bool, error) {
	a := &s.array
	if len(v.items) < a.min || a.max >= 0 && len(v.items) > a.max {
		return false, nil
	}
	seen := map[string]bool{}
	for i, item := range v.items {
		sub := a.items
		if i < len(a.prefix) {
			sub = a.prefix[i]
		}
		if sub != nil {
			if ok, err := c.holds(item, sub, depth); !ok || err != nil {
				return false, err
			}
		}
		if key := item.key(); a.unique {
			if seen[key] {
				return false, nil
			}
			seen[key] = true
		}
	}
	return true, nil
}

func holdsText(v *value, s *schema) (bool, error) {
	n := utf8.RuneCountInString(v.text)
	if n < s.text.min || s.text.max >= 0 && n > s.text.max {
		return false, nil
	}
	for _, p := range s.text.patterns {
		re, err := regexp.Compile(p.text)
		if err != nil {
			return false, fmt.Errorf("%s: %w; only RE2's syntax is supported", p.path, err)
		}
		if !re.MatchString(v.text) {
			return false, nil
		}
	}
	return true, nil
}

func holdsNumber(v *value, s *schema) (bool, error) {
	d, err := parseDecimal(v.text)
	if err != nil {
		return false, fmt.Errorf("%s: %w", s.path, err)
	}
	if l := s.number.low; l != nil {
		if n := d.cmp(l.decimal); n < 0 || n == 0 && l.exclusive {
			return false, nil
		}
	}
	if l := s.number.high; l != nil {
		if n := d.cmp(l.decimal); n > 0 || n == 0 && l.exclusive {
			return false, nil
		}
	}
	if s.number.multiple == nil {
		return true, nil
	}
	whole, fraction, err := d.split()
	if err != nil {
		return false, fmt.Errorf("%s: %w", s.path, err)
	}
	divisor, _, err := s.number.multiple.split()
	if err != nil || fraction != "" {
		return false, err
	}
	n, _ := new(big.Int).SetString(whole, 10)
	m, _ := new(big.Int).SetString(divisor, 10)
	return n.Mod(n, m).Sign() == 0, nil
}
