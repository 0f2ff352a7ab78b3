package pyexpr

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"noema/methods/methodtest"
)

// FuzzEval holds that no source makes the package panic or pass its limits.
func FuzzEval(f *testing.F) {
	for _, src := range hostile {
		if len(src) < 200 {
			f.Add(src)
		}
	}
	for _, formulas := range templates {
		for _, src := range formulas {
			f.Add(src)
		}
	}
	for _, src := range []string{countFormula, "f'{x!r:>{n}} {n}'", "{**d, 'a': [*xs]}", "(lambda a, b, c=1: a)(1, b=2)", "'{:>{w}}'.format(n, w=n)", "xs[::-1]"} {
		f.Add(src)
	}
	d := must(FromGo(map[string]any{"a": 1, "b": "x"}))
	env := map[string]Value{"n": Int(3), "x": Float(2.5), "s": Str("text"), "d": d, "xs": &List{[]Value{Int(1), Str("ü"), d}}, "extractions": &List{[]Value{d, d}}}
	f.Fuzz(func(t *testing.T, src string) {
		e, err := Compile(src)
		if err != nil {
			var syn *SyntaxError
			if !errors.As(err, &syn) {
				t.Fatalf("compile %q: %v is no SyntaxError", src, err)
			}
			return
		}
		e.Names()
		e.Fields("extractions")
		var v Value
		took := methodtest.CPU(func() { v, err = e.Eval(context.Background(), env, Limits{Steps: 100_000, Memory: 4 << 20}) })
		if took > time.Second {
			t.Fatalf("evaluate %q: took %v", src, took)
		}
		var exc *EvalError
		if err != nil {
			if !errors.As(err, &exc) && !errors.Is(err, ErrLimit) {
				t.Fatalf("evaluate %q: %v is of no known kind", src, err)
			}
			return
		}
		if _, err := Repr(v); err != nil && !errors.Is(err, ErrLimit) && !errors.As(err, &exc) {
			t.Fatalf("repr of %q: %v", src, err)
		}
		_, _ = ToGo(v)
	})
}

// FuzzJSON holds that whatever FromGo takes can be written and read again.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.5,null,true,"x"]}`, `1e400`, `[[[]]]`, `"\ud800"`, `{"a":1,"a":2}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		v, err := fromJSON(raw)
		if err != nil {
			return
		}
		text, err := Repr(v)
		if err != nil {
			return // too long for the default limits
		}
		e, err := Compile(text)
		if err != nil {
			return // nested deeper or longer than a source may be
		}
		again, err := e.Eval(context.Background(), map[string]Value{"inf": Float(math.Inf(1))}, Limits{})
		if err != nil {
			return
		}
		if got, _ := Repr(again); got != text {
			t.Fatalf("%s came back as %s", text, got)
		}
	})
}
