package pyliteral_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"strings"
	"testing"
	"time"

	"noema/methods/pyliteral"
)

func ExampleParse() {
	v, err := pyliteral.Parse(`{'hipster': True, 'classy': None, 'price': (1, 2.5), u'wifi': u'free'}`)
	if err != nil {
		fmt.Println(err)
		return
	}
	raw, _ := json.Marshal(v)
	fmt.Println(string(raw))
	// Output: {"classy":null,"hipster":true,"price":[1,2.5],"wifi":"free"}
}

func TestParse(t *testing.T) {
	huge, _ := new(big.Int).SetString("123456789012345678901234567890", 10)
	for _, c := range []struct {
		in   string
		want any
	}{
		{"None", nil},
		{" True\n", true},
		{"False", false},
		{"0", int64(0)},
		{"00", int64(0)},
		{"-17", int64(-17)},
		{"+1_000", int64(1000)},
		{"0x1F", int64(31)},
		{"0b101", int64(5)},
		{"0o17", int64(15)},
		{"0xe-0", nil}, // an error, see below
		{"123456789012345678901234567890", huge},
		{"4.0", 4.0},
		{".5", 0.5},
		{"5.", 5.0},
		{"-1e-3", -0.001},
		{"1_0.5", 10.5},
		{"'free'", "free"},
		{"u'free'", "free"},
		{`b"a\x41\u"`, `aA\u`},
		{`r'a\n\'b'`, `a\n\'b`},
		{`'a' "b"  u'c'`, "abc"},
		{`'''it's "x"
y'''`, "it's \"x\"\ny"},
		{`""`, ""},
		{`''''''`, ""},
		{`'\'\"\\\n\t\101\x41\u00e9\U0001F600\q'`, "'\"\\\n\tAAé😀\\q"},
		{"'a\\\nb'", "ab"},
		{"'\xff\x00'", "\ufffd\x00"},
		{"[]", []any{}},
		{"[1, 'a', [None],]", []any{int64(1), "a", []any{nil}}},
		{"()", []any{}},
		{"(1)", int64(1)},
		{"(1,)", []any{int64(1)}},
		{"{1, 2}", []any{int64(1), int64(2)}},
		{"{}", map[string]any{}},
		{"{'a': 1, 2: 'b', True: None, None: (), 1.5: 0}", map[string]any{"a": int64(1), "2": "b", "True": nil, "None": []any{}, "1.5": int64(0)}},
		{`{"json": true}`, nil},
	} {
		got, err := pyliteral.Parse(c.in)
		if c.in == "0xe-0" || c.in == `{"json": true}` {
			if err == nil {
				t.Errorf("Parse(%q) = %v, want an error", c.in, got)
			}
			continue
		}
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("Parse(%q) = %#v, %v, want %#v", c.in, got, err, c.want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for in, offset := range map[string]int{
		"":                               0,
		"  ":                             2,
		"nope":                           0,
		"Nonesuch":                       0,
		"1 2":                            2,
		"'abc":                           0,
		"'a\nb'":                         2,
		"[1 2]":                          3,
		"[1,,2]":                         3,
		"{'a' 1}":                        5,
		"{'a': 1, 'b'}":                  12,
		"{[1]: 2}":                       4,
		"007":                            0,
		"1__0":                           0,
		"1e":                             0,
		"1._5":                           0,
		"1e999":                          0,
		"0x1p4":                          0,
		"--1":                            0,
		`'\x4'`:                          2,
		`'\U00110000'`:                   2,
		`'\N{DASH}'`:                     2,
		"x'a'":                           0,
		"__import__('os')":               0,
		"1j":                             0,
		strings.Repeat("1", 5000):        0,
		strings.Repeat("[", 1_000_000):   101,
		strings.Repeat("{1:", 1_000_000): 301,
	} {
		v, err := pyliteral.Parse(in)
		var syntax *pyliteral.SyntaxError
		if !errors.As(err, &syntax) {
			t.Errorf("Parse(%.20q) = %v, %v, want a SyntaxError", in, v, err)
			continue
		}
		if syntax.Offset != offset {
			t.Errorf("Parse(%.20q) fails at %d (%v), want %d", in, syntax.Offset, err, offset)
		}
	}
}

func TestHostileInputIsCheap(t *testing.T) {
	start := time.Now()
	for _, in := range []string{
		strings.Repeat("'a' ", 200_000),
		"[" + strings.Repeat("1,", 200_000) + "]",
		"'" + strings.Repeat(`\`, 200_001),
		strings.Repeat("9", 200_000),
	} {
		_, _ = pyliteral.Parse(in) // some are valid, some are not; none is slow
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("hostile input took %v", took)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"{'a': [1, 2.5, None]}", `u'\u00e9'`, "(1,)", "{1, 2}", "0x1F", `"""a"""`, `b'\xff'`, "-1e5", "1_0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		v, err := pyliteral.Parse(in)
		if err != nil {
			var syntax *pyliteral.SyntaxError
			if !errors.As(err, &syntax) || syntax.Offset < 0 || syntax.Offset > len(in) {
				t.Fatalf("Parse(%q): %v", in, err)
			}
			return
		}
		if _, err := json.Marshal(v); err != nil {
			t.Fatalf("Parse(%q) has no JSON form: %v", in, err)
		}
	})
}
