package cafes

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"noema/methods"
)

// caller calls tools over the items of a sample and returns what they say.
func caller(t *testing.T, p methods.Problem) func(name, arguments string) methods.ToolResult {
	t.Helper()
	e, err := environment().Of(p)
	if err != nil {
		t.Fatal(err)
	}
	return func(name, arguments string) methods.ToolResult {
		t.Helper()
		r, err := e.Call(t.Context(), methods.ToolCall{Name: name, Arguments: json.RawMessage(arguments)})
		if err != nil {
			t.Fatalf("%s(%s): %v", name, arguments, err)
		}
		return r
	}
}

// asCall is the tool call that tests a condition.
func asCall(c Condition) (name, arguments string) {
	switch c.Kind {
	case Hours:
		return "open_items", fmt.Sprintf(`{"day":%q,"from":%q,"to":%q}`, c.Day, clock(c.From), clock(c.To))
	case Review:
		return "find_reviews", fmt.Sprintf(`{"words":[%q]}`, c.Pattern)
	case Social:
		return "find_reviews", fmt.Sprintf(`{"words":[%q],"person":%q,"hops":%d}`, c.Pattern, c.Friend, c.Hops)
	}
	want, _ := json.Marshal(c.Want)
	return "filter_items", fmt.Sprintf(`{"path":%q,"op":"=","value":%s}`, c.Path, want)
}

// TestToolsAgreeWithTheChecker holds every condition of every request against
// what the tools say of the items as a trial presents them.
func TestToolsAgreeWithTheChecker(t *testing.T) {
	w := newWorld(0)
	o := Options{}
	if err := methods.ParseOptions(nil, &o); err != nil {
		t.Fatal(err)
	}
	requests, err := w.requests(o)
	if err != nil {
		t.Fatal(err)
	}
	made, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range made.Samples {
		p, _, err := s.Present(7, true)
		if err != nil {
			t.Fatal(err)
		}
		s.Problem = p
		shown, call := contextOf(t, s), caller(t, p)
		for _, c := range requests[i].tree.Leaves() {
			var want, got []int
			for k, item := range shown.Items {
				if tester(c, shown.Friends)(item) {
					want = append(want, k+1)
				}
			}
			name, arguments := asCall(c)
			r := call(name, arguments)
			if name == "find_reviews" {
				var rows []reviewRow
				if err := json.Unmarshal([]byte(r.Content), &rows); err != nil {
					t.Fatal(err, r)
				}
				for _, row := range rows {
					got = append(got, row.Item)
				}
			} else if err := json.Unmarshal([]byte(r.Content), &got); err != nil {
				t.Fatal(err, r)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s, %s(%s): items %v, want %v", s.ID, name, arguments, got, want)
			}
		}
	}
}

const twoCafes = `{"friends":{"Ada":["Bo"],"Bo":["Ada","Cy"],"Cy":["Bo"]},"items":[
 {"name":"A","categories":["Cafes","Bakeries"],"stars":4.5,"attributes":{"WiFi":"Free","Ambience":{"hipster":true},"a.b":1},"hours":{"Friday":"18:00-2:00","Monday":"0:00-0:00"},
  "reviews":[{"author":"Bo","text":"Ünï <oat milk>!"},{"author":"Cy","text":"Oat. Milk."}]},
 {"name":"B","attributes":{"WiFi":"no","Price":"2"},"hours":{"Saturday":"7:00-19:00","Sunday":"closed"},"reviews":[{"author":"Cy","text":"the oat milk and OAT MILK"},{"text":7},9]},
 {"reviews":{"author":"Bo"},"hours":"daily"}]}`

func TestTools(t *testing.T) {
	call := caller(t, methods.Problem{Context: json.RawMessage(twoCafes)})
	for _, c := range []struct{ name, arguments, want string }{
		{"list_items", ``, `[{"item":1,"name":"A"},{"item":2,"name":"B"},{"item":3,"name":""}]`},
		{"list_attributes", `{"prefix":"attributes.W"}`, `[{"path":"attributes.WiFi","values":[{"value":"Free","items":[1]},{"value":"no","items":[2]}]}]`},
		{"filter_items", `{"path":"attributes.WiFi","op":"=","value":"free"}`, `[1]`},
		{"filter_items", `{"path":"attributes.WiFi","op":"!=","value":"free"}`, `[2,3]`},
		{"filter_items", `{"path":"attributes.Ambience.quiet","op":"=","value":false}`, `[1,2,3]`},
		{"filter_items", `{"path":"attributes.Price","op":"<=","value":2}`, `[2]`},
		{"filter_items", `{"path":"attributes.a.b","op":"=","value":1}`, `[1]`},
		{"filter_items", `{"path":"categories","op":"contains","value":"bakeries"}`, `[1]`},
		{"filter_items", `{"path":"reviews","op":">=","value":3}`, `[2]`},
		{"open_items", `{"day":"Saturday","from":"1:30"}`, `[1]`},
		{"open_items", `{"day":"Friday","from":"23:00","to":"1:00"}`, `[1]`},
		{"open_items", `{"day":"Saturday","from":"2 am"}`, `[]`},
		{"open_items", `{"day":"Saturday","from":"18:00","to":"19:00"}`, `[2]`},
		{"open_items", `{"day":"Monday","from":"0:00","to":"24:00"}`, `[1]`},
		{"open_items", `{"day":"Sunday","from":"9:00"}`, `[]`},
		{"find_reviews", `{"words":["oat milk"]}`, `[{"item":1,"count":1,"excerpts":["Bo: Ünï <oat milk>!"]},{"item":2,"count":1,"excerpts":["Cy: the oat milk and OAT MILK"]}]`},
		{"find_reviews", `{"words":["oat milk"],"person":"Ada"}`, `[{"item":1,"count":1,"excerpts":["Bo: Ünï <oat milk>!"]}]`},
		{"find_reviews", `{"words":["oat milk"],"person":"Ada","hops":2}`, `[{"item":1,"count":1,"excerpts":["Bo: Ünï <oat milk>!"]},{"item":2,"count":1,"excerpts":["Cy: the oat milk and OAT MILK"]}]`},
		{"find_reviews", `{"person":"Cy","hops":0}`, `[{"item":1,"count":1,"excerpts":["Cy: Oat. Milk."]},{"item":2,"count":1,"excerpts":["Cy: the oat milk and OAT MILK"]}]`},
		{"sort_items", `{"path":"stars","descending":true}`, `[{"item":1,"value":4.5}]`},
		{"sort_items", `{"path":"attributes.WiFi"}`, `[{"item":1,"value":"Free"},{"item":2,"value":"no"}]`},
	} {
		if r := call(c.name, c.arguments); r.IsError || r.Content != c.want {
			t.Errorf("%s(%s) = %+v\nwant %s", c.name, c.arguments, r, c.want)
		}
	}
}

func TestToolsRefuseWithTheCure(t *testing.T) {
	call := caller(t, methods.Problem{Context: json.RawMessage(twoCafes)})
	for _, c := range []struct{ name, arguments, want string }{
		{"filter_items", `{"path":"attributes.Wifi","op":"=","value":true}`, ""}, // in a group: false
		{"filter_items", `{"path":"atributes.WiFi","op":"=","value":true}`, `did you mean "attributes.WiFi"?`},
		{"filter_items", `{"path":"attributes","op":"=","value":true}`, `name one of them`},
		{"filter_items", `{"path":"stars","op":"~","value":1}`, "value must be one of"},
		{"filter_items", `{"path":"stars","op":"=","value":1e999}`, "cannot unmarshal number"},
		{"filter_items", `{"op":"=","value":[]}`, "missing propert"},
		{"filter_items", `not JSON`, "wrong arguments"},
		{"filter_items", `[]`, "got array, want object"},
		{"open_items", `{"day":"Monday","from":"25:00"}`, `is not a time of day`},
		{"open_items", `{"day":"Monday","from":"9 10"}`, `is not a time of day`},
		{"open_items", `{"day":"monday","from":"9:00"}`, "Monday"},
		{"find_reviews", `{"person":"Adda"}`, `did you mean "Ada"?`},
		{"find_reviews", `{"hops":1}`, "name the person"},
		{"find_reviews", `{"person":"Ada","hops":3}`, "maximum"},
		{"find_reviews", `{"words":[""]}`, "minLength"},
		{"sort_items", `{"path":"zzzzzzzzz"}`, "list_attributes lists the paths"},
		{"list_attributes", `{"prefix":"q"}`, "no item has the path"},
		{"list_items", `{"prefix":"q"}`, "additional"},
		{"list_items", `{"x":"` + strings.Repeat("x", 70_000) + `"}`, "shorten them"},
	} {
		r := call(c.name, c.arguments)
		if r.IsError != (c.want != "") || c.want != "" && !strings.Contains(r.Content, c.want) {
			t.Errorf("%s(%.60s) = %+v, want an error with %q", c.name, c.arguments, r, c.want)
		}
	}
	if _, err := environment().Call(t.Context(), methods.ToolCall{Name: "list_items"}); err == nil {
		t.Error("the tools ran without a problem")
	}
	for _, context := range []string{`{"items":[null,{}]}`, `{}`} {
		if r := caller(t, methods.Problem{Context: json.RawMessage(context)})("find_reviews", `{}`); r.Content != "[]" {
			t.Errorf("%s: %+v", context, r)
		}
	}
	if _, err := environment().Of(methods.Problem{Context: json.RawMessage(`[1]`)}); err == nil {
		t.Error("a context without items was read")
	}
}

func TestLargeListsAreRefused(t *testing.T) {
	item := map[string]any{}
	for i := range 300 {
		item[fmt.Sprint("a", i)] = strings.Repeat("x", 2000)
	}
	raw, _ := json.Marshal(map[string]any{"items": []any{item}})
	call := caller(t, methods.Problem{Context: raw})
	for arguments, want := range map[string]string{`{}`: "give a longer prefix", `{"prefix":"a1"}`: "", `{"prefix":"a10"}`: ""} {
		r := call("list_attributes", arguments)
		if r.IsError != (want != "") || !strings.Contains(r.Content, want) || len(r.Content) > 256<<10 {
			t.Errorf("list_attributes(%s): %d bytes, %.100s", arguments, len(r.Content), r.Content)
		}
	}
}

// FuzzTools: whatever the arguments and the items, a tool gives JSON within its
// bounds or an error result.
func FuzzTools(f *testing.F) {
	f.Add(0, `{"path":"stars","op":"<","value":"<b>"}`, twoCafes)
	f.Add(2, `{"path":"attributes.WiFi","op":"contains","value":"\u0130"}`, `{"items":[{"attributes":{"WiFi":"\u0130"}}]}`)
	f.Add(3, `{"day":"Friday","from":"0:00","to":"0:00"}`, `{"items":[{"hours":{"Friday":"-1:-1-99:99"}}]}`)
	f.Add(4, `{"words":["\u0130","a"],"person":"A","hops":2}`, `{"friends":{"A":["A","B"]},"items":[{"reviews":[{"author":"B","text":"\u0130\u0130\u0130 a"}]}]}`)
	f.Add(5, `{"path":"x","descending":true}`, `{"items":[{"x":"100"},{"x":"20a"},{"x":3},{"x":null},{"x":[]}]}`)
	f.Fuzz(func(t *testing.T, which int, arguments, context string) {
		e, err := environment().Of(methods.Problem{Context: json.RawMessage(context)})
		if err != nil {
			return
		}
		specs := e.Tools()
		r, err := e.Call(t.Context(), methods.ToolCall{Name: specs[uint(which)%uint(len(specs))].Name, Arguments: json.RawMessage(arguments)})
		if err != nil || !r.IsError && !json.Valid([]byte(r.Content)) || len(r.Content) > 300<<10 {
			t.Errorf("%+v, %v", r, err)
		}
	})
}
