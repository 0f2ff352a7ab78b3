package jsonschema

import (
	"slices"
	"strconv"
)

// arrays compiles the rules on the items of an array.
func (r *reader) arrays() {
	prefix, items := r.schemaList("prefixItems"), r.schemaOf("items")
	if prefix != nil || items != nil {
		r.rule(func(c *check, place []string, v any) {
			list, _ := v.([]any)
			for i, item := range list {
				at := append(place, strconv.Itoa(i))
				switch {
				case i < len(prefix):
					prefix[i].apply(c, at, item)
				case items != nil:
					items.apply(c, at, item)
				}
			}
		})
	}
	if unique, _ := get[bool](r, "uniqueItems"); unique {
		r.rule(differ)
	}
}

// differ wants no two items to be equal.
func differ(c *check, place []string, v any) {
	list, _ := v.([]any)
	first := make(map[string]int, len(list))
	for i, item := range list {
		id, ok := identity(item)
		if !ok { // with a number out of range
			continue
		}
		if j, known := first[id]; known {
			c.fault(place, "uniqueItems", "items at %d and %d are equal", j, i)
			return
		}
		first[id] = i
	}
}

// objects compiles the rules on the properties of an object.
func (r *reader) objects() {
	if required, ok := r.texts("required"); ok && len(required) > 0 {
		r.rule(func(c *check, place []string, v any) { require(c, place, v, required) })
	}
	p := properties{named: r.schemaMap("properties"), others: r.schemaOf("additionalProperties")}
	p.closed = r.obj["additionalProperties"] == false
	if p.named != nil || p.others != nil {
		r.rule(p.check)
	}
}

func require(c *check, place []string, v any, required []string) {
	obj, isObject := v.(map[string]any)
	if !isObject {
		return
	}
	missing := slices.DeleteFunc(slices.Clone(required), func(name string) bool {
		_, ok := obj[name]
		return ok
	})
	switch len(missing) {
	case 0:
	case 1:
		c.fault(place, "required", "missing property %s", quote(missing[0]))
	default:
		c.fault(place, "required", "missing properties %s", quoted(missing))
	}
}

// properties are the schemas of an object's properties.
type properties struct {
	named  map[string]*Schema
	others *Schema
	closed bool // no others may be
}

func (p properties) check(c *check, place []string, v any) {
	obj, _ := v.(map[string]any)
	var extra []string
	for _, name := range sortedKeys(obj) {
		at := append(place, name)
		s := p.named[name]
		switch {
		case s != nil:
			s.apply(c, at, obj[name])
		case p.closed:
			extra = append(extra, name)
		case p.others != nil:
			p.others.apply(c, at, obj[name])
		}
	}
	if len(extra) > 0 {
		c.fault(place, "additionalProperties", "additional properties %s not allowed", quoted(extra))
	}
}
