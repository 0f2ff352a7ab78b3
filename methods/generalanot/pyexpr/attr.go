package pyexpr

import "slices"

// attr is v.name.
func (m *machine) attr(v Value, name string) Value {
	switch x := v.(type) {
	case *Module:
		if val := mathAttr(name); val != nil {
			return val
		}
		raise(attributeError, "module 'math' has no attribute '%s'", name)
	case *Type:
		return x.attr(name)
	case *Date, *DateTime, *Delta:
		if val := timeAttr(v, name); val != nil {
			return val
		}
	}
	if meth := findMethod(v, name); meth != nil {
		return &Func{name, func(m *machine, args []Value, kw []keyword) Value { return meth(m, v, args, kw) }}
	}
	if changes(v.class(), name) {
		raise(attributeError, "'%s.%s' changes its object, which a formula cannot do: write an expression that makes a new one", className(v), name)
	}
	raise(attributeError, "'%s' object has no attribute '%s'", className(v), name)
	return nil
}

// changes says whether a class has a method in CPython that is left out here
// because it changes its object.
func changes(t *Type, name string) bool {
	var names []string
	switch t {
	case typeList:
		names = []string{"append", "extend", "insert", "remove", "pop", "clear", "sort", "reverse"}
	case typeDict:
		names = []string{"update", "pop", "popitem", "clear", "setdefault"}
	case typeSet:
		names = []string{"add", "remove", "discard", "pop", "clear", "update"}
	}
	return slices.Contains(names, name)
}

// attr is a method of a class as a function of the object, such as str.lower.
func (t *Type) attr(name string) Value {
	if v := classAttr(t, name); v != nil {
		return v
	}
	for c := t; c != nil; c = c.base {
		if meth := methodOf(c, name); meth != nil {
			return &Func{name, func(m *machine, args []Value, kw []keyword) Value {
				if len(args) == 0 || !args[0].class().is(t) {
					raise(typeError, "descriptor '%s' requires a '%s' object", name, t.name)
				}
				return meth(m, args[0], args[1:], kw)
			}}
		}
	}
	raise(attributeError, "type object '%s' has no attribute '%s'", t.name, name)
	return nil
}

// findMethod is the method of v's class, or nil.
func findMethod(v Value, name string) method {
	switch v.(type) {
	case *Type, *Module:
		return nil
	}
	for t := v.class(); t != nil; t = t.base {
		if meth := methodOf(t, name); meth != nil {
			return meth
		}
	}
	return nil
}

func methodOf(t *Type, name string) method {
	switch t {
	case typeStr:
		return strMethod(name)
	case typeDict:
		return dictMethod(name)
	case typeList, typeTuple, typeRange:
		return sequenceMethod(t, name)
	case typeSet:
		return setMethod(name)
	case typeInt, typeFloat:
		return numberMethod(t, name)
	case typeDate, typeDateTime, typeDelta:
		return timeMethod(t, name)
	}
	return nil
}

func dictMethod(name string) method {
	switch name {
	case "get":
		return func(m *machine, self Value, args []Value, kw []keyword) Value {
			a := m.bind("get", args, kw, 1, "key/", "default/")
			if v := self.(*Dict).get(m, a[0]); v != nil {
				return v
			}
			if a[1] == nil {
				return None{}
			}
			return a[1]
		}
	case "keys", "values", "items":
		kind := map[string]*Type{"keys": typeKeys, "values": typeValues, "items": typeItems}[name]
		return func(m *machine, self Value, args []Value, kw []keyword) Value {
			m.bind(name, args, kw, 0)
			m.alloc(32)
			return &View{self.(*Dict), kind}
		}
	case "copy":
		return func(m *machine, self Value, args []Value, kw []keyword) Value {
			m.bind(name, args, kw, 0)
			return self
		}
	}
	return nil
}

func sequenceMethod(t *Type, name string) method {
	switch name {
	case "count":
		return func(m *machine, self Value, args []Value, kw []keyword) Value {
			a := m.bind("count", args, kw, 1, "value/")
			n := 0
			m.each(self, func(v Value) bool {
				n += boolInt(m.eqItem(v, a[0]))
				return true
			})
			return Int(n)
		}
	case "index":
		return sequenceIndex
	case "copy":
		if t != typeList {
			return nil
		}
		return func(m *machine, self Value, args []Value, kw []keyword) Value {
			m.bind("copy", args, kw, 0)
			return &List{m.collect(self)}
		}
	}
	return nil
}

func sequenceIndex(m *machine, self Value, args []Value, kw []keyword) Value {
	a := m.bind("index", args, kw, 1, "value/", "start/", "stop/")
	n, _ := length(self)
	bound := func(v Value, def int) int {
		if v == nil {
			return def
		}
		k, ok := m.sliceIndex(v)
		if !ok {
			raise(typeError, "slice indices must be integers or have an __index__ method")
		}
		if k < 0 {
			k = max(k+n, 0)
		}
		return k
	}
	start, stop := bound(a[1], 0), bound(a[2], n)
	at, i := -1, 0
	m.each(self, func(v Value) bool {
		if i >= start && i < stop && m.eqItem(v, a[0]) {
			at = i
		}
		i++
		return at < 0
	})
	if at < 0 {
		raise(valueError, "%s is not in %s", m.repr(a[0]), className(self))
	}
	return Int(at)
}

func setMethod(name string) method {
	op := map[string]string{"union": "|", "intersection": "&", "difference": "-", "symmetric_difference": "^"}[name]
	if op != "" {
		return func(m *machine, self Value, args []Value, kw []keyword) Value {
			noKeywords(name, kw)
			if op == "^" {
				m.bind(name, args, nil, 1, "other/")
			}
			out := m.combine("|", self.(*Set), new(Set))
			for _, other := range args {
				out = m.combineAll(op, out, other)
			}
			return out
		}
	}
	switch name {
	case "issubset", "issuperset", "isdisjoint":
		return func(m *machine, self Value, args []Value, kw []keyword) Value {
			a := m.bind(name, args, kw, 1, "other/")
			s, other := self.(*Set), m.setOf(a[0])
			switch name {
			case "issubset":
				return Bool(m.subset(s, other))
			case "issuperset":
				return Bool(m.subset(other, s))
			}
			return Bool(len(m.combine("&", s, other).d.entries) == 0)
		}
	case "copy":
		return func(m *machine, self Value, args []Value, kw []keyword) Value {
			m.bind(name, args, kw, 0)
			return m.combine("|", self.(*Set), new(Set))
		}
	}
	return nil
}

func numberMethod(t *Type, name string) method {
	switch {
	case t == typeInt && name == "bit_length":
		return func(m *machine, self Value, args []Value, kw []keyword) Value {
			m.bind(name, args, kw, 0)
			return Int(bigOf(self).BitLen())
		}
	case t == typeFloat && name == "is_integer":
		return func(m *machine, self Value, args []Value, kw []keyword) Value {
			m.bind(name, args, kw, 0)
			x := float64(self.(Float))
			return Bool(x == x && floatKey(x).kind != kindFloat)
		}
	}
	return nil
}
