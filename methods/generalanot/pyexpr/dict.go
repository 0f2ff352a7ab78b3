package pyexpr

import (
	le "encoding/binary"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"sync/atomic"
)

// Dict is a dict: it remembers the order of insertion.
type Dict struct {
	entries []entry
	index   map[key]int // nil while all keys are strings and few
	counter bool        // it is a Counter: what it lacks counts 0
}

type entry struct{ key, val Value }

// smallDict is up to which size a scan beats hashing.
const smallDict = 8

// key is the hashed form of a value: equal values have equal keys, whatever
// their types (1, 1.0 and True are one key).
type key struct {
	kind byte
	n    uint64
	s    string
}

const (
	kindStr byte = iota
	kindInt
	kindBig
	kindFloat
	kindNone
	kindTuple
	kindTime
	kindFrozen
	kindOther
)

func (m *machine) hash(v Value) key {
	switch x := v.(type) {
	case Str:
		return key{kind: kindStr, s: string(x)}
	case Int:
		return key{kind: kindInt, n: uint64(x)}
	case Bool:
		return key{kind: kindInt, n: uint64(boolInt(bool(x)))}
	case *Big:
		return bigKey(x.v)
	case Float:
		return floatKey(float64(x))
	case None:
		return key{kind: kindNone}
	case *Tuple:
		return m.tupleKey(x.items)
	case *Date:
		return key{kind: kindTime, n: uint64(x.utc().UnixMicro()), s: x.kind.name + x.zone()}
	case *Delta:
		return key{kind: kindTime, n: uint64(x.days), s: fmt.Sprint(x.micros)}
	case *Range:
		return key{kind: kindOther, s: rangeKey(x)}
	case *Set:
		if x.frozen {
			return m.frozenKey(x)
		}
	case *Type, *Func, *Module, *Iter, *Match:
		return key{kind: kindOther, s: fmt.Sprintf("%p", x)}
	}
	raise(typeError, "unhashable type: '%s'", className(v))
	return key{}
}

func bigKey(v *big.Int) key { return key{kind: kindBig, n: uint64(v.Sign() + 1), s: string(v.Bytes())} }

func floatKey(x float64) key {
	if x == math.Trunc(x) && !math.IsInf(x, 0) {
		if x >= -(1<<63) && x < 1<<63 {
			return key{kind: kindInt, n: uint64(int64(x))}
		}
		b, _ := big.NewFloat(x).Int(nil)
		return bigKey(b)
	}
	return key{kind: kindFloat, n: math.Float64bits(x)}
}

func (m *machine) tupleKey(items []Value) key {
	var b []byte
	for _, it := range items {
		m.step(4)
		k := m.hash(it)
		b = append(b, k.kind)
		b = le.LittleEndian.AppendUint64(b, k.n)
		b = le.LittleEndian.AppendUint64(b, uint64(len(k.s)))
		b = append(b, k.s...)
		m.alloc(3 * (17 + len(k.s)))
	}
	return key{kind: kindTuple, s: string(b)}
}

// frozenKey is the same for equal sets, whatever their order.
func (m *machine) frozenKey(s *Set) key {
	members := make([]string, len(s.d.entries))
	for i, e := range s.d.entries {
		members[i] = m.tupleKey([]Value{e.key}).s
	}
	slices.Sort(members)
	m.step(4 * len(members))
	return key{kind: kindFrozen, s: strings.Join(members, "")}
}

func rangeKey(r *Range) string {
	switch n := r.len(); n {
	case 0:
		return "range"
	case 1:
		return fmt.Sprintf("range %d", r.start)
	default:
		return fmt.Sprintf("range %d %d %d", n, r.start, r.step)
	}
}

func (d *Dict) find(m *machine, v Value) int {
	if s, ok := v.(Str); ok {
		return d.findStr(s)
	}
	k := m.hash(v)
	if d.index == nil {
		return -1
	}
	if i, ok := d.index[k]; ok {
		return i
	}
	return -1
}

func (d *Dict) findStr(s Str) int {
	if d.index == nil {
		for i := range d.entries {
			if k, ok := d.entries[i].key.(Str); ok && k == s {
				return i
			}
		}
		return -1
	}
	if i, ok := d.index[key{kind: kindStr, s: string(s)}]; ok {
		return i
	}
	return -1
}

// lookup is a place in an expression that reads one constant key. It remembers
// where the key stood last, because the dicts of a list are mostly alike.
type lookup struct {
	name Str
	hint atomic.Int32
}

// in is the value under the key in d, or nil.
func (l *lookup) in(d *Dict) Value {
	if i := int(l.hint.Load()); i < len(d.entries) {
		if k, ok := d.entries[i].key.(Str); ok && k == l.name {
			return d.entries[i].val
		}
	}
	i := d.findStr(l.name)
	if i < 0 {
		return nil
	}
	l.hint.Store(int32(i))
	return d.entries[i].val
}

// get is the value under k, or nil.
func (d *Dict) get(m *machine, k Value) Value {
	if i := d.find(m, k); i >= 0 {
		return d.entries[i].val
	}
	return nil
}

// put is for a dict that is still being built.
func (d *Dict) put(m *machine, k, v Value) {
	if i := d.find(m, k); i >= 0 {
		d.entries[i].val = v
		return
	}
	m.alloc(96)
	_, isStr := k.(Str)
	if d.index == nil && (!isStr || len(d.entries) == smallDict) {
		d.index = make(map[key]int, 2*len(d.entries)+1)
		for i, e := range d.entries {
			d.index[m.hash(e.key)] = i
		}
	}
	if d.index != nil {
		m.alloc(160)
		m.step(8)
		d.index[m.hash(k)] = len(d.entries)
	}
	d.entries = append(d.entries, entry{k, v})
}

func (d *Dict) addAll(m *machine, o *Dict) {
	for _, e := range o.entries {
		m.step(1)
		d.put(m, e.key, e.val)
	}
}

func (m *machine) setOf(v Value) *Set {
	s := new(Set)
	m.each(v, func(x Value) bool {
		s.d.put(m, x, nil)
		return true
	})
	return s
}

// setLike is v as a set, if v is a set or a view that acts as one.
func (m *machine) setLike(v Value) (*Set, bool) {
	switch x := v.(type) {
	case *Set:
		return x, true
	case *View:
		if x.kind != typeValues {
			return m.setOf(x), true
		}
	}
	return nil, false
}

func (m *machine) combine(op string, a, b *Set) *Set {
	out := new(Set)
	keep := func(from, other *Set, want bool) {
		for _, e := range from.d.entries {
			m.step(1)
			if (other.d.find(m, e.key) >= 0) == want {
				out.d.put(m, e.key, nil)
			}
		}
	}
	switch op {
	case "&": // the items of the smaller set, or of the right one, as in CPython
		if len(b.d.entries) > len(a.d.entries) {
			a, b = b, a
		}
		keep(b, a, true)
	case "-":
		keep(a, b, false)
	case "^":
		keep(a, b, false)
		keep(b, a, false)
	default:
		out.d.addAll(m, &a.d)
		out.d.addAll(m, &b.d)
	}
	return out
}

// combineAll is the set operation with any iterable. An intersection keeps the
// members of the iterable, unless that is a set.
func (m *machine) combineAll(op string, a *Set, other Value) *Set {
	b, isSet := other.(*Set)
	if !isSet {
		b = m.setOf(other)
	}
	if op == "&" && !isSet {
		return m.combine("-", b, m.combine("-", b, a))
	}
	return m.combine(op, a, b)
}

func (m *machine) subset(a, b *Set) bool {
	if len(a.d.entries) > len(b.d.entries) {
		return false
	}
	for _, e := range a.d.entries {
		m.step(1)
		if b.d.find(m, e.key) < 0 {
			return false
		}
	}
	return true
}
