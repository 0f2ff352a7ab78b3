package pyexpr

import "unicode/utf8"

// Match is what re.search and its kin find.
type Match struct {
	x     *regex
	whole string
	slots []int // byte offsets, -1 for a group that took no part
}

func (*Match) class() *Type { return typeMatch }

// part is the text of a group, empty for one that took no part.
func (x *Match) part(i int) string { return x.whole[max(x.slots[2*i], 0):max(x.slots[2*i+1], 0)] }

// runeSpan is where a group begins and ends, in characters.
func (x *Match) runeSpan(i int) [2]int {
	if x.slots[2*i] < 0 {
		return [2]int{-1, -1}
	}
	start := utf8.RuneCountInString(x.whole[:x.slots[2*i]])
	return [2]int{start, start + utf8.RuneCountInString(x.part(i))}
}

// group is the text of a group, or other for one that took no part.
func (x *Match) group(i int, other Value) Value {
	if x.slots[2*i] < 0 {
		return orNone(other)
	}
	return Str(x.part(i))
}

// groups are the texts of all groups but the whole.
func (x *Match) groups(m *machine, other Value) Value {
	out := m.room(x.x.groups)
	for i := 1; i < x.x.groups; i++ {
		out = append(out, x.group(i, other))
	}
	return &Tuple{items: out}
}

// number is which group v names.
func (x *Match) number(v Value) int {
	n, ok := smallInt(v)
	if name, isStr := v.(Str); isStr {
		n, ok = x.x.names[string(name)]
	}
	if !ok || n < 0 || n >= x.x.groups {
		raise(indexError, "no such group")
	}
	return n
}

func matchClass() *class {
	number := func(a []Value) (*Match, int) {
		x := a[0].(*Match)
		if a[1] == nil {
			return x, 0
		}
		return x, x.number(a[1])
	}
	end := func(name string, at int) *builtin {
		return defMethod(name+" group?/", func(m *machine, a []Value) Value {
			x, i := number(a)
			m.work(len(x.whole))
			return Int(x.runeSpan(i)[at])
		})
	}
	return &class{
		attrs: map[string]func(v Value) Value{"string": func(v Value) Value { return Str(v.(*Match).whole) }},
		methods: byName(end("start", 0), end("end", 1),
			defMethod("span group?/", func(m *machine, a []Value) Value {
				x, i := number(a)
				m.work(len(x.whole))
				s := x.runeSpan(i)
				return pair(Int(s[0]), Int(s[1]))
			}),
			defMethod("group groups...", func(m *machine, a []Value) Value {
				x := a[0].(*Match)
				if len(a) == 1 {
					return x.group(0, nil)
				}
				out := m.room(len(a))
				for _, v := range a[1:] {
					out = append(out, x.group(x.number(v), nil))
				}
				if len(out) == 1 {
					return out[0]
				}
				return &Tuple{items: out}
			}),
			defMethod("groups default?", func(m *machine, a []Value) Value { return a[0].(*Match).groups(m, a[1]) }),
			defMethod("groupdict default?", groupDict)),
	}
}

func groupDict(m *machine, a []Value) Value {
	x, d := a[0].(*Match), new(Dict)
	for i := 1; i < x.x.groups; i++ {
		for name, n := range x.x.names { // each number has one name at most
			if n == i {
				d.put(m, Str(name), x.group(i, a[1]))
			}
		}
	}
	return d
}
