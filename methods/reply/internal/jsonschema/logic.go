package jsonschema

import "slices"

// here notes schemas that apply to the same value as this one.
func (r *reader) here(list ...*Schema) { r.s.inPlace = append(r.s.inPlace, list...) }

// logic compiles the rules that join schemas.
func (r *reader) logic() {
	if ref, ok := get[string](r, "$ref"); ok {
		target := r.target(ref, r.below("$ref"))
		r.here(target)
		r.rule(target.apply)
	}
	for _, s := range r.schemaList("allOf") {
		r.here(s)
		r.rule(s.apply)
	}
	if not := r.schemaOf("not"); not != nil {
		r.here(not)
		r.rule(func(c *check, place []string, v any) {
			if len(not.try(c, place, v)) == 0 {
				c.fault(place, "not", "'not' failed")
			}
		})
	}
	if some := r.schemaList("anyOf"); some != nil {
		r.here(some...)
		r.rule(func(c *check, place []string, v any) { anyOf(c, place, v, some) })
	}
	if one := r.schemaList("oneOf"); one != nil {
		r.here(one...)
		r.rule(func(c *check, place []string, v any) { oneOf(c, place, v, one) })
	}
}

// anyOf adds the faults of all if none takes the value, but for a value of which a
// property says which one is meant, those of that one.
func anyOf(c *check, place []string, v any, list []*Schema) {
	var all, meant, named []Fault
	for _, s := range list {
		faults := s.try(c, place, v)
		if len(faults) == 0 {
			return
		}
		all = append(all, faults...)
		mark := slices.IndexFunc(faults, func(f Fault) bool { return len(f.Place) == len(place)+1 && (f.Rule == "const" || f.Rule == "enum") })
		switch {
		case mark >= 0:
			named = append(named, faults[mark])
		case faults[0].Rule != "type" || len(faults[0].Place) > len(place):
			meant = append(meant, faults...)
		}
	}
	switch {
	case named != nil && meant != nil:
		all = meant
	case named != nil:
		all = named
	}
	c.add(all)
}

// oneOf adds the faults of all if none takes the value.
func oneOf(c *check, place []string, v any, list []*Schema) {
	var found []Fault
	first := -1
	for i, s := range list {
		faults := s.try(c, place, v)
		switch {
		case len(faults) > 0:
			found = append(found, faults...)
		case first >= 0:
			c.fault(place, "oneOf", "'oneOf' failed, subschemas %d, %d matched", first, i)
			return
		default:
			first = i
		}
	}
	if first < 0 {
		c.add(found)
	}
}
