package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"noema/kernel/lab"
	"noema/kernel/session/builtin"
)

// TestPlanRunKeepsItems runs an LWT of one's own on samples: the items that its prompts
// show have the numbers that they have in the task.
func TestPlanRunKeepsItems(t *testing.T) {
	const name = "cafes?n=5&requests=6"
	tk, err := lab.Open(lab.Options{Catalog: builtin.Catalog{}}).Task(name, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := newCLI(t, "NOEMA_DEBUG=3")
	program := ""
	for i := range 5 {
		program += fmt.Sprintf(`<%d={(context)}[%d][name]>`, i+1, i+1)
	}
	c.write("names.lwt", `(final)=LLM("`+program+`")`)
	for _, s := range tk.Samples[:3] {
		var data struct{ Items []struct{ Name string } }
		if err := json.Unmarshal(s.Problem.Context, &data); err != nil {
			t.Fatal(err)
		}
		want := ""
		for i, item := range data.Items {
			want += fmt.Sprintf("<%d=%s>", i+1, item.Name)
		}
		if r := c.run(0, "plan", "run", "names.lwt", "--task", name, "--sample-id", s.ID, "--model", "sim"); !strings.Contains(r.stderr, want) {
			t.Errorf("%s: want the prompt %s\n%s", s.ID, want, r.stderr)
		}
	}
}
