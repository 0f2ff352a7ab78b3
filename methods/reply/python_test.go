package reply_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"noema/methods/methodtest"
	"noema/methods/reply"
)

func ExamplePythonLiteral() {
	v, err := reply.PythonLiteral(`{'hipster': True, 'classy': None, 'price': (1, 2.5), u'wifi': u'free'}`)
	if err != nil {
		fmt.Println(err)
		return
	}
	raw, _ := json.Marshal(v)
	fmt.Println(string(raw))
	// Output: {"classy":null,"hipster":true,"price":[1,2.5],"wifi":"free"}
}

func TestPythonLiteral(t *testing.T) {
	for _, c := range []struct {
		in   string
		want any
	}{
		{"None", nil},
		{" True\n", true},
		{"False", false},
		{"0", int64(0)},
		{"-17", int64(-17)},
		{"+1000", int64(1000)},
		{"123456789012345678901234567890", json.Number("123456789012345678901234567890")},
		{"4.0", 4.0},
		{".5", 0.5},
		{"5.", 5.0},
		{"-1e-3", -0.001},
		{"'free'", "free"},
		{"u'free'", "free"},
		{`"it's"`, "it's"},
		{`""`, ""},
		{`'\'\"\\\n\t\x41\u00e9\U0001F600\q'`, "'\"\\\n\tAé😀\\q"},
		{"'\xff\x00'", "\ufffd\x00"},
		{"[]", []any{}},
		{"[1, 'a', [None],]", []any{int64(1), "a", []any{nil}}},
		{"()", []any{}},
		{"(1)", int64(1)},
		{"(1,)", []any{int64(1)}},
		{"{1, 2}", []any{int64(1), int64(2)}},
		{"{}", map[string]any{}},
		{"{'a': 1, 2: 'b', True: None, None: (), 1.5: 0}", map[string]any{"a": int64(1), "2": "b", "True": nil, "None": []any{}, "1.5": int64(0)}},
	} {
		got, err := reply.PythonLiteral(c.in)
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("Parse(%q) = %#v, %v, want %#v", c.in, got, err, c.want)
		}
	}
}

func TestPythonLiteralRefuses(t *testing.T) {
	for in, offset := range map[string]int{
		"":                               0,
		"  ":                             2,
		"nope":                           0,
		"Nonesuch":                       0,
		"{\"json\": true}":               9,
		"1 2":                            2,
		"'abc":                           0,
		"'a\nb'":                         2,
		"[1 2]":                          3,
		"[1,,2]":                         3,
		"{'a' 1}":                        5,
		"{'a': 1, 'b'}":                  12,
		"{'a', 'b': 1}":                  9,
		"{[1]: 2}":                       4,
		"007":                            0,
		"1_000":                          0,
		"0x1F":                           0,
		"1e":                             0,
		"1e999":                          0,
		"--1":                            0,
		"nan":                            0,
		`'\x4'`:                          1,
		`'\U00110000'`:                   1,
		"x'a'":                           0,
		"__import__('os')":               0,
		"1j":                             0,
		strings.Repeat("[", 1_000_000):   101,
		strings.Repeat("{1:", 1_000_000): 301,
	} {
		v, err := reply.PythonLiteral(in)
		if want := fmt.Sprintf("parse Python literal: offset %d: ", offset); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("Parse(%.20q) = %v, %v, want an error at %d", in, v, err, offset)
		}
	}
}

func TestHostileLiteralsAreCheap(t *testing.T) {
	for _, in := range []string{
		strings.Repeat("'a' ", 200_000),
		"[" + strings.Repeat("1,", 200_000) + "]",
		"'" + strings.Repeat(`\`, 200_001),
		strings.Repeat("9", 200_000),
	} {
		// Some are valid, some are not; none is slow.
		if took := methodtest.CPU(func() { _, _ = reply.PythonLiteral(in) }); took > 5*time.Second {
			t.Errorf("%.40q took %v", in, took)
		}
	}
}

func FuzzPythonLiteral(f *testing.F) {
	for _, s := range []string{"{'a': [1, 2.5, None]}", `u'\u00e9'`, "(1,)", "{1, 2}", "-1e5", "1_0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		v, err := reply.PythonLiteral(in)
		if err != nil {
			return
		}
		if _, err := json.Marshal(v); err != nil {
			t.Fatalf("Parse(%q) has no JSON form: %v", in, err)
		}
	})
}
