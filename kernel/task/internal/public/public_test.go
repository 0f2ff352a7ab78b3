package public_test

import (
	"testing"

	"noema/kernel/task"
	"noema/kernel/task/internal/public"
)

func TestLine(t *testing.T) {
	type review struct {
		Text string `json:"text"`
		User struct {
			Name string `json:"name"`
		} `json:"user" opaque:"true"`
	}
	type inner struct {
		Stars   int    `json:"stars"`
		Reviews string `json:"reviews"`
	}
	raw := []byte(`{"id":"a","stars":3,"score":9,"gold":"b","reviews":[{"text":"x","user":{"name":"Ann","age":3},"score":1},{"text":"y"}],"of":null}`)
	for what, want := range map[string]string{"places": "places.gold, places.reviews.score, places.score", "": "reviews.score"} {
		var in struct {
			ID string `json:"id"`
			inner
			Gold    string   `json:"gold" hidden:"it is the answer"`
			Reviews []review `json:"reviews"`
			Of      *review  `json:"of"`
		}
		var d public.Data
		if err := d.Line(task.Line{File: "f.jsonl", Number: 1, Raw: raw}, what, &in); err != nil {
			t.Fatal(err)
		}
		if in.Stars != 3 || in.Gold != "b" || in.Reviews[0].User.Name != "Ann" || d.Dropped() != want {
			t.Errorf("%q: read %+v, dropped %q, want %q", what, in, d.Dropped(), want)
		}
	}
	if err := new(public.Data).Line(task.Line{File: "f.jsonl", Number: 2, Raw: []byte(`[]`)}, "places", &struct{}{}); err == nil {
		t.Error("a list was read as an object")
	}
}
