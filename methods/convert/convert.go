// Package convert copies values of the vocabulary to and from the messages
// that are generated from .proto files, such as those of the store and of the
// plugin protocol. Fields are matched by name, so that a field is declared in
// package methods and in the .proto and nowhere a third time:
//
//   - Case does not count (ID is Id), nor does a unit at the end of the
//     message's name (Latency is LatencyNs, Cost is CostNanoUsd).
//   - A struct without a counterpart lies flat in the message: a record's
//     Result.Content is the message's Content.
//   - A time.Time is a message of Seconds and Nanos, in UTC; the zero time is
//     left out.
//   - Empty lists and bytes come back as nil.
//
// A field of the vocabulary without a counterpart is a programming error, at
// which the first conversion of its type panics.
package convert

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
	"time"
)

// To returns the message for a value. text is applied to each string; nil
// leaves them as they are.
func To[M, V any](v V, text func(string) string) *M {
	m := new(M)
	conversion{text: text, toMessage: true}.copy(reflect.ValueOf(m).Elem(), reflect.ValueOf(v))
	return m
}

// From is the inverse of To; a message that is nil gives the zero value.
func From[V, M any](m *M, text func(string) string) V {
	var v V
	conversion{text: text}.copy(reflect.ValueOf(&v).Elem(), reflect.ValueOf(m))
	return v
}

type conversion struct {
	text      func(string) string
	toMessage bool
}

// copy sets dst, which is zero, to what src says.
func (c conversion) copy(dst, src reflect.Value) {
	if src.Kind() == reflect.Pointer {
		if src.IsNil() {
			return
		}
		src = src.Elem()
	}
	switch dst.Kind() {
	case reflect.Pointer:
		if src.Type() == reflect.TypeFor[time.Time]() && src.Interface().(time.Time).IsZero() {
			return
		}
		dst.Set(reflect.New(dst.Type().Elem()))
		c.copy(dst.Elem(), src)
	case reflect.Struct:
		c.copyStruct(dst, src)
	case reflect.Slice:
		c.copySlice(dst, src)
	case reflect.String:
		s := src.String()
		if c.text != nil {
			s = c.text(s)
		}
		dst.SetString(s)
	case reflect.Bool:
		dst.SetBool(src.Bool())
	case reflect.Float64:
		dst.SetFloat(src.Float())
	case reflect.Uint64:
		dst.SetUint(src.Uint())
	default:
		dst.SetInt(src.Int())
	}
}

func (c conversion) copySlice(dst, src reflect.Value) {
	n := src.Len()
	switch {
	case n == 0:
	case dst.Type().Elem().Kind() == reflect.Uint8:
		dst.SetBytes(src.Bytes())
	default:
		dst.Set(reflect.MakeSlice(dst.Type(), n, n))
		for i := range n {
			c.copy(dst.Index(i), src.Index(i))
		}
	}
}

func (c conversion) copyStruct(dst, src reflect.Value) {
	value, message := dst, src
	if c.toMessage {
		value, message = src, dst
	}
	if value.Type() == reflect.TypeFor[time.Time]() {
		c.copyTime(value, message)
		return
	}
	for _, p := range pairsOf(value.Type(), message.Type()) {
		a, b := value, message.Field(p.message)
		for _, i := range p.value {
			a = a.Field(i)
		}
		if c.toMessage {
			a, b = b, a
		}
		c.copy(a, b)
	}
}

func (c conversion) copyTime(value, message reflect.Value) {
	seconds, nanos := message.FieldByName("Seconds"), message.FieldByName("Nanos")
	if !c.toMessage {
		value.Set(reflect.ValueOf(time.Unix(seconds.Int(), nanos.Int()).UTC()))
		return
	}
	t := value.Interface().(time.Time)
	seconds.SetInt(t.Unix())
	nanos.SetInt(int64(t.Nanosecond()))
}

// plan is how a message's fields pair with those of its value.
type plan struct {
	value reflect.Type
	pairs []pair
}

// pair is a field of the value, by its way through structs, and of the message.
type pair struct {
	value   []int
	message int
}

// plans holds the plan of each message; none changes.
var plans sync.Map

func pairsOf(value, message reflect.Type) []pair {
	if known, ok := plans.Load(message); ok && known.(*plan).value == value {
		return known.(*plan).pairs
	}
	p := &plan{value, match(value, message, nil)}
	plans.Store(message, p)
	return p.pairs
}

func match(value, message reflect.Type, within []int) (pairs []pair) {
	for i := range value.NumField() {
		f := value.Field(i)
		index := append(within[:len(within):len(within)], i)
		at := counterpart(f.Name, message)
		switch {
		case at >= 0:
			pairs = append(pairs, pair{index, at})
		case f.Type.Kind() == reflect.Struct:
			pairs = append(pairs, match(f.Type, message, index)...)
		default:
			panic(fmt.Sprintf("convert %v: no field of %v is called %s: add it to the .proto", value, message, f.Name))
		}
	}
	return pairs
}

// counterpart is the number of the message's field of that name, or -1.
func counterpart(name string, message reflect.Type) int {
	for i := range message.NumField() {
		for _, unit := range []string{"", "Ns", "NanoUsd"} {
			if strings.EqualFold(message.Field(i).Name, name+unit) {
				return i
			}
		}
	}
	return -1
}
