package machine

import (
	"cmp"
	"reflect"
	"slices"
)

// sorted are a map's keys in the order in which fmt prints them.
func (p *printer) sorted(v reflect.Value) []reflect.Value {
	keys := v.MapKeys()
	slices.SortStableFunc(keys, p.compareKeys)
	return keys
}

func (p *printer) compareKeys(a, b reflect.Value) int {
	switch {
	case a.CanInt():
		return cmp.Compare(a.Int(), b.Int())
	case a.CanUint():
		return cmp.Compare(a.Uint(), b.Uint())
	case a.CanFloat():
		return cmp.Compare(a.Float(), b.Float())
	case a.Kind() == reflect.String:
		return cmp.Compare(a.String(), b.String())
	case a.Kind() == reflect.Bool:
		return cmp.Compare(boolRank(a), boolRank(b))
	case a.Kind() == reflect.Struct, a.Kind() == reflect.Array:
		for i := range parts(a) {
			if c := p.compareKeys(part(a, i), part(b, i)); c != 0 {
				return c
			}
		}
	case a.Kind() == reflect.Interface && !a.IsNil() && !b.IsNil():
		x, y := a.Elem(), b.Elem()
		if x.Type() != y.Type() {
			return cmp.Compare(x.Type().String(), y.Type().String())
		}
		return p.compareKeys(x, y)
	case a.Kind() == reflect.Pointer, a.Kind() == reflect.Chan:
		return cmp.Compare(a.Pointer(), b.Pointer())
	}
	return 0
}

func boolRank(v reflect.Value) int {
	if v.Bool() {
		return 1
	}
	return 0
}

func parts(v reflect.Value) int {
	if v.Kind() == reflect.Struct {
		return v.NumField()
	}
	return v.Len()
}

func part(v reflect.Value, i int) reflect.Value {
	if v.Kind() == reflect.Struct {
		return v.Field(i)
	}
	return v.Index(i)
}
