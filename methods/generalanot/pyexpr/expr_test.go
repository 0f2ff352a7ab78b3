package pyexpr

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
)

func compile(t testing.TB, src string) *Expr {
	t.Helper()
	e, err := Compile(src)
	if err != nil {
		t.Fatalf("compile %s: %v", src, err)
	}
	return e
}

func TestNames(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"1 + 2", ""},
		{"b + a * b", "a b"},
		{"sum(1 for e in extractions if e['a'] == level)", "extractions level"},
		{"[x for x in x]", "x"},
		{"(lambda a, b=c: a + b + d)(1)", "c d"},
		{"[y for x in xs for y in x if y > z]", "xs z"},
		{"f'{n:>{w}}' + s", "n s w"},
		{"max(math.log(n), len(xs))", "n xs"},
		{"'{n}'.format(n=1)", ""},
		{"e.stars", "e"},
	} {
		if got := strings.Join(compile(t, c.src).Names(), " "); got != c.want {
			t.Errorf("%s: names %q, want %q", c.src, got, c.want)
		}
	}
}

func TestFields(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"sum(1 for e in extractions if e['a']=='x' and e['b']=='y')", "a b"},
		{"[e.get('c', 0) for e in extractions if e['a']]", "a c"},
		{"[e['a'] for e in others]", ""},
		{"sum(e['a'] for e in [x for x in extractions if x['b'] > 1])", "b a"},
		{"sorted(extractions, key=lambda e: e['date'])[0]['stars']", "date stars"},
		{"max(extractions, key=lambda e: e['useful'])['text']", "text useful"},
		{"[e['a'] for e in sorted(extractions[:3], key=lambda q: q['d'])]", "d a"},
		{"sum(map(lambda e: e['n'], filter(lambda e: e['m'], extractions)))", "n m"},
		{"[(i, e['a']) for i, e in enumerate(extractions)]", "a"},
		{"[a['x'] + b['y'] for a, b in zip(extractions, extractions[1:])]", "x y"},
		{"[a['x'] + b['y'] for a, b in zip(extractions, others)]", "x"},
		{"extractions[-1]['a'] if extractions else None", "a"},
		{"[extractions['a'] for extractions in others]", ""},
		{"(lambda extractions: [e['a'] for e in extractions])(others)", ""},
		{"any(e['a'] == f['b'] for e in extractions for f in extractions)", "a b"},
		{"f\"{sum(e['a'] for e in extractions):.2f}\"", "a"},
		{"{e['k']: e['v'] for e in extractions}", "k v"},
		{"[e['a']['deep'] for e in extractions]", "a"},
		{"(e['a'] for e in (extractions if flag else []))", "a"},
		{"(e['a'] for e in (extractions or []))", "a"},
		{"[e[name] for e in extractions for name in ['a']]", ""},
		{"next((e for e in extractions if e['a']), {})['b']", "a b"},
		{"next(iter(extractions))['a']", "a"},
		{"Counter(e['a'] for e in extractions).most_common(1)", "a"},
	} {
		var got []string
		for _, f := range compile(t, c.src).Fields("extractions") {
			got = append(got, f.Name)
		}
		want := strings.Fields(c.want)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: fields %q, want %q", c.src, got, want)
		}
	}
	f := compile(t, "1 + \\\n sum(e['α'] + e['b'] for e in xs)").Fields("xs")
	if len(f) != 2 || f[1] != (Field{Name: "b", Line: 2, Col: 16}) {
		t.Errorf("places of fields: %+v", f)
	}
}

func TestPositions(t *testing.T) {
	for _, c := range []struct {
		src       string
		line, col int
		class     string
	}{
		{"1 + x / 0", 1, 7, "ZeroDivisionError"},
		{"a + b", 1, 1, "NameError"},
		{"'ä' + 1", 1, 5, "TypeError"},
		{"(1,\n 2, 3)[5]", 2, 7, "IndexError"},
		{"f'abc{1/0}'", 1, 8, "ZeroDivisionError"},
		{"[v['k'] for v in [{}]]", 1, 3, "KeyError"},
		{"len(5)", 1, 4, "TypeError"},
		{"'a'.nope", 1, 4, "AttributeError"},
		{"sorted([1, 'a'])", 1, 7, "TypeError"},
		{"1 < 2 < 'a'", 1, 3, "TypeError"},
	} {
		_, err := compile(t, c.src).Eval(t.Context(), map[string]Value{"x": Int(1)}, Limits{})
		var exc *EvalError
		if !errors.As(err, &exc) || exc.Line != c.line || exc.Col != c.col || exc.Class != c.class {
			t.Errorf("%q: %v, want %s at line %d, column %d", c.src, err, c.class, c.line, c.col)
		}
	}
}

func TestSyntaxErrors(t *testing.T) {
	for _, c := range []struct {
		src       string
		line, col int
		has       string
	}{
		{"1 +", 1, 4, "too early"},
		{"(1", 1, 3, "expected \")\""},
		{"(1,\n  2]", 2, 4, "invalid syntax at \"]\""},
		{"x = 1", 1, 3, "assignment"},
		{"(a := 1)", 1, 4, "assignment"},
		{"x.__class__", 1, 3, "underscore"},
		{"f'ü{a +}'", 1, 8, "invalid syntax at \"}\""},
		{"'abc", 1, 1, "unterminated"},
		{"b'abc'", 1, 1, "bytes"},
		{"'\\N{BULLET}'", 1, 2, "\\N"},
		{"...", 1, 1, "invalid syntax"},
		{"1j", 1, 2, "invalid number"},
		{"a @ b", 1, 3, "invalid character"},
		{"lambda: (yield)", 1, 10, "invalid syntax"},
		{"'\\ud800'", 1, 2, "unsupported escape"},
		{"\xff", 1, 1, "UTF-8"},
	} {
		_, err := Compile(c.src)
		var syn *SyntaxError
		if !errors.As(err, &syn) || syn.Line != c.line || syn.Col != c.col || !strings.Contains(syn.Msg, c.has) {
			t.Errorf("%q: %v, want %q at line %d, column %d", c.src, err, c.has, c.line, c.col)
		}
	}
}

// TestRefused holds that what CPython has and a formula has not is refused with
// the nearest thing that there is.
func TestRefused(t *testing.T) {
	for src, cure := range map[string]string{
		"[1].append(2)":                     "use xs + [x]",
		"[1].sort()":                        "use sorted(xs)",
		"{'a': 1}.pop('a')":                 "use an index or a comprehension",
		"{'a': 1}.update(b=2)":              "use {**d, key: value}",
		"{1}.add(2)":                        "use s | {x}",
		"date.today()":                      "pass the day as an input",
		"datetime.now()":                    "pass the day as an input",
		"(-8) ** 0.5":                       "complex",
		"'a'.swapcase()":                    "use upper or lower",
		"'a b'.title()":                     "use upper or lower",
		"'1'.isnumeric()":                   "use isdigit",
		"'²'.isdigit()":                     "use re.fullmatch",
		"'a'.encode()":                      "it has casefold, count",
		"'%s' % 'a'":                        "use an f-string",
		"Counter('a') + Counter('b')":       "Counter([*xs, *ys])",
		"-Counter('a')":                     "use a dict comprehension",
		"Counter('a') < Counter('b')":       "compare their counts",
		"Counter('a').elements()":           "use [k for k, n in c.items()",
		"sorted([{1}, {2}])":                "leave it out",
		"sorted([1.0, float('nan')])":       "leave it out",
		"date(2024, 5, 1).isocalendar()":    "weekday()",
		"datetime.combine(1, 2)":            "write it out",
		"datetime.min":                      "write it out",
		"list(next(iter([])) for i in [1])": "give next a default",
		"statistics.multimode('aab')":       "it has fmean, mean, median",
		"'a'.lstripp()":                     `did you mean "lstrip"?`,
		"math.sqr(2)":                       `did you mean "sqrt"?`,
		"(1.5).hex()":                       "it has is_integer",
		"'{0.__x__}'.format(1)":             "use an f-string",
		"'{0[1]}'.format([1, 2])":           "use an f-string",
		"'a'.center(5)":                     "use an f-string such as f'{s:>10}'",
		"f'{1.0:#g}'":                       "want [[fill]align][sign][0][width][,][.precision][type]",
		"date.fromisoformat('2024-W18-3')":  "write YYYY-MM-DD",
		"date(2024, 5, 1).strftime('%U')":   "use %Y %m %d",
		"datetime.strptime('1', '%j')":      "unsupported directive",
		"int('1f', 16)":                     "int(x): too many arguments",
		"int('1_000')":                      "invalid literal",
		"'a b'.splitlines(True)":            "use split('\\n')",
		"Counter('a').update('b')":          "count once, as in",
		"Counter.fromkeys('a')":             "use Counter(xs)",
		"type(1)":                           "use isinstance(x, str)",
		"mean([1])":                         "use statistics.mean",
		"defaultdict(int)":                  "use a dict comprehension, Counter",
		"np.mean([1])":                      "use sum, statistics and comprehensions",
		"json.loads('1')":                   "pass the data as an input",
		"sorte([1])":                        `did you mean "sorted"?`,
		"statistics.quantiles([1, 2])":      "it has fmean, mean, median",
		"collections.deque()":               "it has Counter",
		"re.compile('a')":                   "it has DOTALL, I, IGNORECASE",
		"re.search('a', 'a', 64)":           "use re.I, re.M and re.S",
		"chr(0xd800)":                       "a lone surrogate is not supported",
		"iter(len, 1)":                      "use iter(xs)",
		"next([1])":                         "use next(iter(xs))",
		"next(iter([]))":                    "give next a default",
		"f\"{'a':+}\"":                      "Sign not allowed in string format specifier",
		"sorted([1], cmp=len)":              "sorted(iterable, key, reverse): there is no parameter 'cmp'",
	} {
		_, err := compile(t, src).Eval(t.Context(), nil, Limits{})
		if err == nil || !strings.Contains(err.Error(), cure) {
			t.Errorf("%s: %v, want an error that says %q", src, err, cure)
		}
	}
	for src, cure := range map[string]string{
		"re.search('a*+b', 'a')":            "a possessive quantifier such as *+ in a pattern is not supported: use * + ?",
		"re.search('(?>a)', 'a')":           "use (?:…)",
		"re.search('(a)?(?(1)b|c)', 'a')":   "use two patterns",
		"re.search('(?x) a', 'a')":          "the flag x in a pattern is not supported: use i, m or s",
		"re.findall('nut(?!meg)', 'a')":     "a look-ahead (?=…) (?!…) in a pattern is not supported: use two patterns",
		"re.sub('(?<!no )nuts', '', 'a')":   "a look-behind (?<=…) (?<!…) in a pattern is not supported",
		"re.search(r'(a)\\1', 'aa')":        "compare the groups of the match",
		"re.search('(?P<k>a)(?P=k)', 'aa')": "compare the groups of the match",
		"re.search('(?i:a)', 'aa')":         "put flags in front",
		"re.search('(a*)*', 'aa')":          "a repetition of what may be empty",
		"re.search('a{2000}', 'aa')":        "use counts of at most 1000",
		"re.search(r'\\101', 'aa')":         "an octal escape, in a pattern is not supported",
		"1 << 2":                            "multiply or divide by 2**n",
		"f'{n=}'":                           "write f'x={x}'",
		"f'{n!a}'":                          "use !r or !s",
		"lambda *, k: k":                    "use names and defaults",
		"lambda **k: k":                     "use names and defaults",
		"1\n+ 1":                            "put it in parentheses",
		"1if x else 2":                      "invalid number",
	} {
		if _, err := Compile(src); err == nil || !strings.Contains(err.Error(), cure) {
			t.Errorf("%s: %v, want an error that says %q", src, err, cure)
		}
	}
}

func fromJSON(text string) (Value, error) {
	var x any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&x); err != nil {
		return nil, err
	}
	return FromGo(x)
}

func TestValues(t *testing.T) {
	huge, _ := new(big.Int).SetString("123456789012345678901234567890", 10)
	for _, c := range []struct {
		json, repr string
		back       any
	}{
		{`null`, "None", nil},
		{`true`, "True", true},
		{`3`, "3", int64(3)},
		{`3.0`, "3.0", 3.0},
		{`-1e400`, "-inf", nil},
		{`123456789012345678901234567890`, "123456789012345678901234567890", huge},
		{`"it's"`, `"it's"`, "it's"},
		{`[1,[2,{}]]`, "[1, [2, {}]]", []any{int64(1), []any{int64(2), map[string]any{}}}},
		{`{"b":1,"a":2,"b":3}`, "{'a': 2, 'b': 3}", map[string]any{"a": int64(2), "b": int64(3)}},
	} {
		v, err := fromJSON(c.json)
		if err != nil {
			t.Fatal(err)
		}
		if s, err := Repr(v); err != nil || s != c.repr {
			t.Errorf("repr of %s: %s, %v, want %s", c.json, s, err, c.repr)
		}
		if got, err := ToGo(v); err != nil || c.repr != "-inf" && !reflect.DeepEqual(got, c.back) {
			t.Errorf("ToGo of %s: %#v, %v, want %#v", c.json, got, err, c.back)
		}
	}
}

func TestOtherValues(t *testing.T) {
	for _, bad := range []string{strings.Repeat("[", 200) + strings.Repeat("]", 200), strings.Repeat("9", 5000)} {
		if v, err := fromJSON(bad); err == nil {
			t.Errorf("FromGo of %.20q is %v, want an error", bad, v)
		}
	}
	v, err := FromGo(map[string]any{"b": []any{"x"}, "a": 1.5, "c": json.Number("7"), "d": int64(1 << 62), "e": []Value{None{}}})
	if err != nil {
		t.Fatal(err)
	}
	if s, _ := Repr(v); s != "{'a': 1.5, 'b': ['x'], 'c': 7, 'd': 4611686018427387904, 'e': [None]}" {
		t.Errorf("FromGo: %s", s)
	}
	if _, err := FromGo(struct{}{}); err == nil {
		t.Error("FromGo of a struct: no error")
	}
	for _, src := range []string{"len", "lambda: 1", "(i for i in [1])", "int"} {
		v, err := compile(t, src).Eval(t.Context(), nil, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := ToGo(v); err == nil {
			t.Errorf("ToGo of %s: %v, want an error", src, got)
		}
	}
}

// TestConcurrent evaluates one expression over one environment many times at
// once; the race detector watches.
func TestConcurrent(t *testing.T) {
	env := map[string]Value{"extractions": extractionList(t, 300)}
	e := compile(t, "sorted({e['a']: e['stars'] for e in extractions if e['b'] == 'y'}.items(), key=lambda p: p[0])")
	var wg sync.WaitGroup
	results := make([]string, 16)
	for i := range results {
		wg.Go(func() {
			v, err := e.Eval(t.Context(), env, Limits{})
			if err != nil {
				results[i] = err.Error()
				return
			}
			results[i], _ = Repr(v)
		})
	}
	wg.Wait()
	for _, r := range results {
		if r != "[('mild', 5), ('none', 4), ('x', 3)]" {
			t.Errorf("a result of its own: %q", r)
		}
	}
}

func TestEnvironmentComesFirst(t *testing.T) {
	v, err := compile(t, "max + len([1])").Eval(t.Context(), map[string]Value{"max": Int(5)}, Limits{})
	if err != nil || v != Value(Int(6)) {
		t.Errorf("max from the environment: %v, %v", v, err)
	}
	if names := compile(t, "max(a)").Names(); !slices.Equal(names, []string{"a"}) {
		t.Errorf("names: %q", names)
	}
}

func ExampleCompile() {
	e, err := Compile("sum(1 for e in extractions if e['severity'] == 'mild') * 2 + base")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(e.Names(), e.Fields("extractions")[0].Name)
	mild, severe := map[string]any{"severity": "mild"}, map[string]any{"severity": "severe"}
	extractions, _ := FromGo([]any{mild, severe, mild})
	v, err := e.Eval(context.Background(), map[string]Value{"extractions": extractions, "base": Float(0.5)}, Limits{})
	if err != nil {
		fmt.Println(err)
		return
	}
	text, _ := Repr(v)
	fmt.Println(text)
	_, err = Compile("sum(1 for e in")
	fmt.Println(err)
	// Output:
	// [base extractions] severity
	// 4.5
	// parse expression: line 1, column 15: the expression ends too early
}
