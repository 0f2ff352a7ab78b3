package multihoptest

import (
	"encoding/json"
	"net/http/httptest"
	"testing"

	"noema/kernel/task/multihop"
	"noema/methods"
)

// TestOverHTTP asks the wiki in memory and the same wiki behind a real MediaWiki
// server, and must be told the same.
func TestOverHTTP(t *testing.T) {
	o := multihop.Options{Questions: 3, Words: 200}
	handler, err := Handler(o)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	defer server.Close()
	here, err := multihop.New(o)
	if err != nil {
		t.Fatal(err)
	}
	o.Wikipedia = server.URL
	there, err := multihop.New(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, call := range []methods.ToolCall{
		{Name: "search", Arguments: json.RawMessage(`{"query":"Inception director"}`)},
		{Name: "inspect", Arguments: json.RawMessage(`{"url":"wiki/Christopher_Nolan"}`)},
		{Name: "read_section", Arguments: json.RawMessage(`{"url":"Inception","section":"Production"}`)},
		{Name: "read_section", Arguments: json.RawMessage(`{"url":"Inception","section":"Nothing"}`)},
	} {
		a, err := here.Environment.Call(t.Context(), call)
		if err != nil {
			t.Fatal(err)
		}
		b, err := there.Environment.Call(t.Context(), call)
		if err != nil {
			t.Fatal(err)
		}
		if a != b {
			t.Errorf("%s(%s): in memory\n%s\nover HTTP\n%s", call.Name, call.Arguments, a.Content, b.Content)
		}
	}
}
