package verbatim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"noema/methods"
)

// someJSON is a value with white space between its parts, and some names twice in different objects.
func someJSON(r *rand.Rand, depth int) string {
	space := func() string { return []string{"", " ", "\n\t"}[r.IntN(3)] }
	switch n := r.IntN(6); {
	case depth == 0 || n < 3:
		return []string{`"a,]}\"{["`, "1", "-0.10", "1e9", "true", "null", `"\\"`, `"é\u00e9\ud83d\ude00"`, `""`, `"a\\\""`}[r.IntN(10)]
	case n == 3:
		var all []string
		for range r.IntN(4) {
			all = append(all, space()+someJSON(r, depth-1)+space())
		}
		return "[" + strings.Join(all, ",") + "]"
	}
	var all []string
	for _, i := range r.Perm(4)[:r.IntN(5)] {
		all = append(all, space()+[]string{`"a"`, `"b\""`, `"\u0063"`, `"d"`}[i]+space()+":"+space()+someJSON(r, depth-1)+space())
	}
	return "{" + strings.Join(all, ",") + "}"
}

// TestRewrite: nothing is changed where nothing is asked for; what is cut or set is what a decoder
// finds cut or set, and no other value is written in another way.
func TestRewrite(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		raw := " " + someJSON(r, 4) + "\n"
		name := []string{"a", "b\"", "c", "d"}[r.IntN(4)]
		touched := 0
		same, err := Rewrite([]byte(raw), &Node{In: map[string]*Node{name: {Do: func(v []byte) []byte { touched++; return v }}}})
		if err != nil || string(same) != raw {
			t.Fatalf("%s became %s, %v", raw, same, err)
		}
		var was map[string]json.RawMessage
		if json.Unmarshal([]byte(raw), &was) != nil || was == nil {
			continue
		}
		if _, has := was[name]; has != (touched > 0) {
			t.Fatalf("%q of %s was touched %d times", name, raw, touched)
		}
		set, err := Set([]byte(raw), name, []byte(`"new"`))
		is := members(t, set, err)
		was[name] = json.RawMessage(`"new"`)
		if !reflect.DeepEqual(was, is) {
			t.Fatalf("%s with %q is %s", raw, name, set)
		}
		cut, err := Rewrite([]byte(raw), &Node{In: map[string]*Node{name: Cut()}})
		delete(was, name)
		if is := members(t, cut, err); !reflect.DeepEqual(was, is) {
			t.Fatalf("%s without %q is %s", raw, name, cut)
		}
	}
}

// members lists the members of an object as they are written.
func members(t *testing.T, raw []byte, err error) map[string]json.RawMessage {
	t.Helper()
	is := map[string]json.RawMessage{}
	if err == nil {
		err = json.Unmarshal(raw, &is)
	}
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return is
}

// TestSame: requests that differ in what is drawn anew, at its place, are known as the same one;
// those that differ in any word of a text are not, and ids that stand for each other stay apart.
func TestSame(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	body := func(id func(int) string, word, user string) []byte {
		return fmt.Appendf(nil, `{"messages":[{"role":"user","content":"%s call_1 %s"},{"role":"assistant","tool_calls":[{"id":%q,"function":{"name":"call_function","arguments":"{\"id\":\"item_category\"}"}},{"id":%q}]},
			{"role":"tool","tool_call_id":%q,"content":"x"},{"role":"user","content":[{"type":"tool_result","tool_use_id":%q}]}],"user":%q,"metadata":{"user_id":%q,"run":"a"}}`, word, word, id(0), id(1), id(1), id(0), user, user)
	}
	same := func(b []byte, noise ...string) string {
		return string(Same(methods.Raw{Wire: "w", Body: b, Rules: Rules, Noise: noise}))
	}
	for range 2000 {
		drawn := func() func(int) string {
			n := r.Uint64()
			return func(i int) string { return fmt.Sprintf("call_%x", n+uint64(i)) }
		}
		one, two := body(drawn(), "item_category", "u1"), body(drawn(), "item_category", "u2")
		if same(one) != same(two) {
			t.Fatalf("%s\n%s\nare\n%s\n%s", one, two, same(one), same(two))
		}
		if other := body(drawn(), "run_experiment", "u1"); same(one) == same(other) {
			t.Fatalf("%s\n%s\nare the same", one, other)
		}
		swapped := bytes.Replace(one, []byte(`"tool_use_id":`), []byte(`"tool_use_id":"other","x":`), 1)
		if same(one) == same(swapped) {
			t.Fatalf("%s\n%s\nare the same", one, swapped)
		}
		a, b := body(drawn(), "on 2026-11-26", "u"), body(drawn(), "on 2026-11-27", "u")
		if same(a) == same(b) || same(a, `\d{4}-\d{2}-\d{2}`) != same(b, `\d{4}-\d{2}-\d{2}`) {
			t.Fatalf("noise: %s", same(a, `\d{4}-\d{2}-\d{2}`))
		}
	}
}

// TestRulesAreListed: what is left out of keys stands in the README of programs.
func TestRulesAreListed(t *testing.T) {
	raw, err := os.ReadFile("../../../plugins/program/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Concat(aside, ids, []string{fmt.Sprintf("Rules (version %d)", Rules)}) {
		if !strings.Contains(string(raw), name) {
			t.Errorf("%q is not listed", name)
		}
	}
}

func FuzzRewrite(f *testing.F) {
	f.Add([]byte(`{"messages":[{"id":"a","content":[{"id":1}]}],"metadata":{"user_id":[]}}`))
	f.Add([]byte(` [ ] `))
	f.Fuzz(func(t *testing.T, body []byte) {
		same := Same(methods.Raw{Body: body, Rules: Rules})
		if json.Valid(body) != json.Valid(same) {
			t.Errorf("%q became %q", body, same)
		}
		if again := Same(methods.Raw{Body: same, Rules: Rules}); !bytes.Equal(again, same) {
			t.Errorf("%q, then %q", same, again)
		}
	})
}
