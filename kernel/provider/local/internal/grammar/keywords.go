package grammar

import (
	"fmt"
	"strconv"
)

// keyword reads one keyword's value v, which stands at path, into s.
type keyword func(c *compiler, s *schema, v *value, path string) error

// keywords are those of draft 2020-12 that bear on validity.
var keywords = map[string]keyword{
	"type": readType, "enum": readEnum, "const": readConst,
	"properties": readProperties, "required": readRequired, "additionalProperties": readAdditional,
	"prefixItems": readPrefixItems, "items": readItems, "uniqueItems": readUnique,
	"minItems": readMinItems, "maxItems": readMaxItems,
	"minLength": readMinLength, "maxLength": readMaxLength, "pattern": readPattern, "format": readFormat,
	"minimum": readLow(false), "exclusiveMinimum": readLow(true),
	"maximum": readHigh(false), "exclusiveMaximum": readHigh(true), "multipleOf": readMultiple,
	"$ref": readRef, "allOf": readAllOf, "anyOf": readAnyOf, "oneOf": readOneOf, "$id": readID,

	"minProperties": readMinProperties, "maxProperties": readMaxProperties,
	"propertyNames": refuseUnlessTrue(typeObject), "unevaluatedProperties": refuseUnlessTrue(typeObject),
	"patternProperties": refuseUnlessEmpty(typeObject), "dependentRequired": refuseUnlessEmpty(typeObject),
	"dependentSchemas": refuseUnlessEmpty(typeObject), "dependencies": refuseUnlessEmpty(typeObject),
	"unevaluatedItems": refuseUnlessTrue(typeArray), "additionalItems": refuseUnlessTrue(typeArray),
	"contains": refuse(typeArray), "not": refuse(typeAll), "if": refuse(typeAll),
	"$dynamicRef": refuse(typeAll), "$recursiveRef": refuse(typeAll),
}

// refuse makes a keyword an error for schemas that allow the types it bears on.
func refuse(t types) keyword {
	return func(_ *compiler, s *schema, _ *value, path string) error {
		s.refused = append(s.refused, refusal{t, fmt.Errorf("%s: this keyword is not supported", path)})
		return nil
	}
}

func refuseUnlessTrue(t types) keyword {
	return func(c *compiler, s *schema, v *value, path string) error {
		if v.kind == 't' || v.kind == '{' && len(v.members) == 0 {
			return nil
		}
		return refuse(t)(c, s, v, path)
	}
}

func refuseUnlessEmpty(t types) keyword {
	return func(c *compiler, s *schema, v *value, path string) error {
		if v.kind == '{' && len(v.members) == 0 {
			return nil
		}
		return refuse(t)(c, s, v, path)
	}
}

// readID refuses an $id inside the document: it would change what references
// below it mean.
func readID(c *compiler, s *schema, v *value, path string) error {
	if s.source == c.document {
		return nil
	}
	return refuse(typeAll)(c, s, v, path)
}

func readType(_ *compiler, s *schema, v *value, path string) error {
	names := v.items
	if v.kind == '"' {
		names = []*value{v}
	} else if v.kind != '[' || len(names) == 0 {
		return fmt.Errorf("%s: wants a type's name or a list of them", path)
	}
	s.types = 0
	for _, n := range names {
		t, ok := typeNames[n.text]
		if n.kind != '"' || !ok {
			return fmt.Errorf("%s: %q is not a JSON type", path, clip(n.text))
		}
		s.types |= t
	}
	return nil
}

func readEnum(_ *compiler, s *schema, v *value, path string) error {
	if v.kind != '[' {
		return fmt.Errorf("%s: wants a list of values", path)
	}
	s.addLiterals(v.items)
	return nil
}

func readConst(_ *compiler, s *schema, v *value, _ string) error {
	s.addLiterals([]*value{v})
	return nil
}

// addLiterals restricts the values that s allows to those listed.
func (s *schema) addLiterals(list []*value) {
	keys := make(map[string]bool, len(list))
	for _, v := range list {
		if key := v.key(); s.literalKeys == nil || s.literalKeys[key] {
			keys[key] = true
		}
	}
	s.literals = both(s.literals, list, keys)
	s.literalKeys = keys
}

// both returns the values of a whose keys are listed; without an a (nil, which
// stands for every value) it is b.
func both(a, b []*value, keys map[string]bool) []*value {
	out := []*value{}
	if a == nil {
		return append(out, b...)
	}
	for _, v := range a {
		if keys[v.key()] {
			out = append(out, v)
		}
	}
	return out
}

func readProperties(c *compiler, s *schema, v *value, path string) error {
	if v.kind != '{' {
		return fmt.Errorf("%s: wants an object of schemas", path)
	}
	s.object.byName = make(map[string]*schema, len(v.members))
	for _, m := range v.members {
		sub := c.schemaAt(m.value, path+"/"+escapePointer.Replace(m.name))
		s.object.names = append(s.object.names, m.name)
		s.object.byName[m.name] = sub
	}
	return nil
}

func readRequired(_ *compiler, s *schema, v *value, path string) error {
	if v.kind != '[' {
		return fmt.Errorf("%s: wants a list of names", path)
	}
	seen := map[string]bool{}
	for _, n := range v.items {
		if n.kind != '"' {
			return fmt.Errorf("%s: wants a list of names", path)
		}
		if !seen[n.text] {
			seen[n.text] = true
			s.object.required = append(s.object.required, n.text)
		}
	}
	return nil
}

func readAdditional(c *compiler, s *schema, v *value, path string) error {
	s.object.additional = c.schemaAt(v, path)
	return nil
}

// readMinProperties accepts a minimum that the required properties meet.
func readMinProperties(c *compiler, s *schema, v *value, path string) error {
	n, err := count(v, path)
	if err != nil {
		return err
	}
	required := s.source.get("required")
	if n == 0 || required != nil && n <= len(required.items) {
		return nil
	}
	return refuse(typeObject)(c, s, v, path)
}

// readMaxProperties accepts a maximum that a closed object cannot exceed.
func readMaxProperties(c *compiler, s *schema, v *value, path string) error {
	n, err := count(v, path)
	if err != nil {
		return err
	}
	closed := s.source.get("additionalProperties")
	if closed == nil || closed.kind != 'f' {
		return refuse(typeObject)(c, s, v, path)
	}
	if p := s.source.get("properties"); p != nil && len(p.members) > n {
		return refuse(typeObject)(c, s, v, path)
	}
	return nil
}

func readPrefixItems(c *compiler, s *schema, v *value, path string) (err error) {
	s.array.prefix, err = schemaList(c, v, path)
	return err
}

func readItems(c *compiler, s *schema, v *value, path string) error {
	if v.kind == '[' {
		return fmt.Errorf("%s: a list here is an older draft; write it as prefixItems", path)
	}
	s.array.items = c.schemaAt(v, path)
	return nil
}

func readUnique(_ *compiler, s *schema, v *value, path string) error {
	if v.kind != 't' && v.kind != 'f' {
		return fmt.Errorf("%s: wants true or false", path)
	}
	s.array.unique = v.kind == 't'
	return nil
}

func readMinItems(_ *compiler, s *schema, v *value, path string) (err error) {
	s.array.min, err = count(v, path)
	return err
}

func readMaxItems(_ *compiler, s *schema, v *value, path string) (err error) {
	s.array.max, err = count(v, path)
	return err
}

func readMinLength(_ *compiler, s *schema, v *value, path string) (err error) {
	s.text.min, err = count(v, path)
	return err
}

func readMaxLength(_ *compiler, s *schema, v *value, path string) (err error) {
	s.text.max, err = count(v, path)
	return err
}

func readPattern(_ *compiler, s *schema, v *value, path string) error {
	if v.kind != '"' {
		return fmt.Errorf("%s: wants a regular expression", path)
	}
	s.text.patterns = append(s.text.patterns, located{v.text, path})
	return nil
}

// readFormat knows dates; other formats are refused, for an invented e-mail
// address or URI that merely looks right would pass as checked.
func readFormat(c *compiler, s *schema, v *value, path string) error {
	if v.kind == '"' && v.text == "date" {
		s.text.patterns = append(s.text.patterns, located{datePattern, path})
		return nil
	}
	return refuse(typeString)(c, s, v, path)
}

// datePattern is RFC 3339's full-date with the days that the months have.
const datePattern = `^(?:[0-9]{4}-(?:` +
	`(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|` +
	`(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|` +
	`02-(?:0[1-9]|1[0-9]|2[0-8]))|` +
	`(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29)$`

func readLow(exclusive bool) keyword {
	return func(_ *compiler, s *schema, v *value, path string) error {
		l, err := readLimit(v, path, exclusive)
		if err != nil {
			return err
		}
		s.number.path, s.number.low = path, tighter(s.number.low, l, 1)
		return nil
	}
}

func readHigh(exclusive bool) keyword {
	return func(_ *compiler, s *schema, v *value, path string) error {
		l, err := readLimit(v, path, exclusive)
		if err != nil {
			return err
		}
		s.number.path, s.number.high = path, tighter(s.number.high, l, -1)
		return nil
	}
}

func readLimit(v *value, path string, exclusive bool) (*limit, error) {
	if v.kind != '0' {
		return nil, fmt.Errorf("%s: wants a number", path)
	}
	d, err := parseDecimal(v.text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if _, _, err := d.split(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &limit{d, exclusive}, nil
}

// tighter returns the stricter of two bounds: the higher for side 1, the lower
// for side -1; nil is no bound.
func tighter(a, b *limit, side int) *limit {
	if a == nil || b == nil {
		if a == nil {
			return b
		}
		return a
	}
	switch a.cmp(b.decimal) * side {
	case 1:
		return a
	case -1:
		return b
	}
	if a.exclusive {
		return a
	}
	return b
}

// maxMultiple bounds multipleOf: the automaton counts remainders.
const maxMultiple = 1000

func readMultiple(c *compiler, s *schema, v *value, path string) error {
	l, err := readLimit(v, path, false)
	if err != nil {
		return err
	}
	if l.sign() <= 0 {
		return fmt.Errorf("%s: wants a number above 0", path)
	}
	whole, _, _ := l.split()
	if n, err := strconv.Atoi(whole); err != nil || n > maxMultiple || !l.isInteger() {
		s.refused = append(s.refused, refusal{typeNumber,
			fmt.Errorf("%s: only whole numbers up to %d are supported here", path, maxMultiple)})
		return nil
	}
	s.number.path, s.number.multiple = path, &l.decimal
	return nil
}

func readRef(c *compiler, s *schema, v *value, path string) (err error) {
	if v.kind != '"' {
		return fmt.Errorf("%s: wants a reference such as #/$defs/name", path)
	}
	s.ref, err = c.resolve(v.text, path)
	return err
}

func readAllOf(c *compiler, s *schema, v *value, path string) (err error) {
	s.allOf, err = schemaList(c, v, path)
	return err
}

func readAnyOf(c *compiler, s *schema, v *value, path string) (err error) {
	s.anyOf, err = schemaList(c, v, path)
	return err
}

func readOneOf(c *compiler, s *schema, v *value, path string) (err error) {
	s.oneOf, err = schemaList(c, v, path)
	return err
}

func schemaList(c *compiler, v *value, path string) ([]*schema, error) {
	if v.kind != '[' || len(v.items) == 0 {
		return nil, fmt.Errorf("%s: wants a list of schemas, at least one", path)
	}
	out := make([]*schema, len(v.items))
	for i, item := range v.items {
		out[i] = c.schemaAt(item, path+"/"+strconv.Itoa(i))
	}
	return out, nil
}
