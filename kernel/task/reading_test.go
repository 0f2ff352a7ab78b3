package task

import (
	"context"
	"encoding/json"
	"testing"

	"noema/methods"
)

// finder is an environment whose tools find articles.
type finder struct{}

func (finder) Tools() []methods.ToolSpec { return []methods.ToolSpec{{Name: SearchTool}} }
func (finder) Call(context.Context, methods.ToolCall) (methods.ToolResult, error) {
	return methods.ToolResult{}, nil
}

func TestWhoSearchesIsNotShownTheReading(t *testing.T) {
	reading := &Reading{Key: "articles", What: "2 articles"}
	of := func(tools ...string) methods.Description { return methods.Description{Tools: tools} }
	for _, c := range []struct {
		task         Task
		method       methods.Description
		given, shown string
		data         string
	}{
		{Task{Reading: reading, Environment: finder{}}, of(), `{"articles":[1],"b":2}`, `{"articles":[1],"b":2}`, "reads 2 articles"},
		{Task{Reading: reading, Environment: finder{}}, of("search", "inspect"), `{"articles":[1],"b":2}`, `{"b":2}`, "searches"},
		{Task{Reading: reading, Environment: finder{}}, of(methods.AnyTool), `{"articles":[1]}`, "", "searches"},
		{Task{Reading: reading, Environment: finder{}}, of("similarity"), `{"articles":[1]}`, `{"articles":[1]}`, "reads 2 articles"},
		{Task{Reading: reading, Environment: finder{}}, of("search"), "", "", "searches"},
		{Task{Reading: reading}, of("search"), `{"articles":[1]}`, `{"articles":[1]}`, ""},
		{Task{Environment: finder{}}, of("search"), `{"articles":[1]}`, `{"articles":[1]}`, ""},
	} {
		p, err := c.task.Shown(methods.Problem{Context: json.RawMessage(c.given)}, c.method)
		if err != nil || string(p.Context) != c.shown || c.task.Data(c.method) != c.data {
			t.Errorf("tools %v are shown %s and %q (%v), want %s and %q", c.method.Tools, p.Context, c.task.Data(c.method), err, c.shown, c.data)
		}
	}
	with, without := Task{Reading: reading, Environment: finder{}}, Task{Environment: finder{}}
	a, err := with.Digest()
	if err != nil {
		t.Fatal(err)
	}
	if b, err := without.Digest(); err != nil || a == b {
		t.Errorf("what methods are shown does not enter the digest (%v)", err)
	}
	if _, err := with.Shown(methods.Problem{ID: "s", Context: json.RawMessage(`[]`)}, of("search")); err == nil {
		t.Error("a context that is no object is no error")
	}
}
