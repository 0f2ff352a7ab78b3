package pyexpr

import (
	"context"
	"fmt"
	"math/big"
)

// ToGo is v as nil, bool, int64, *big.Int beyond 64 bits, float64, string,
// []any or map[string]any. Tuples, sets, ranges and views are lists; keys of
// dicts that are not strings become their str; dates become ISO text, and
// times between dates their seconds. Functions, classes and iterators have no
// such form.
func ToGo(v Value) (any, error) {
	switch x := v.(type) {
	case None:
		return nil, nil
	case Bool:
		return bool(x), nil
	case Int:
		return int64(x), nil
	case *Big:
		return new(big.Int).Set(x.v), nil
	case Float:
		return float64(x), nil
	case Str:
		return string(x), nil
	case *Dict:
		return mapOf(x)
	case *Date:
		return text(v)
	case *Delta:
		return x.seconds(), nil
	case *List, *Tuple, *Set, *Range, *View:
		return sliceOf(v)
	case nil:
		return nil, fmt.Errorf("read value: there is none")
	}
	return nil, fmt.Errorf("read value: a %s is not data: return a number, text, list or dict", className(v))
}

func sliceOf(v Value) (any, error) {
	var vals []Value
	err := caught(func() { vals = newMachine(context.Background(), Limits{}).collect(v) })
	if err != nil {
		return nil, err
	}
	out := make([]any, len(vals))
	for i := range vals {
		if out[i], err = ToGo(vals[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func mapOf(d *Dict) (any, error) {
	out := make(map[string]any, len(d.entries))
	for _, e := range d.entries {
		name, err := text(e.key)
		if err != nil {
			return nil, err
		}
		if out[name], err = ToGo(e.val); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Repr is repr(v) within the default limits.
func Repr(v Value) (string, error) { return render((*machine).repr, v) }

// text is str(v) within the default limits.
func text(v Value) (string, error) { return render((*machine).text, v) }

func render(how func(*machine, Value) string, v Value) (s string, err error) {
	if v == nil {
		return "", fmt.Errorf("read value: there is none")
	}
	err = caught(func() { s = how(newMachine(context.Background(), Limits{}), v) })
	return s, err
}

func caught(do func()) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = new(Expr).fault(r, 0)
		}
	}()
	do()
	return nil
}
