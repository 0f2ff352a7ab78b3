package record

import (
	"strings"
	"testing"
)

// TestFindTrial: names may hold slashes, and an error names what is missing.
func TestFindTrial(t *testing.T) {
	run := &Run{ID: "r", Config: Config{Epochs: 2, Methods: []Method{{Label: "anot"}, {Label: "my/own"}}, Task: Task{Samples: []string{"R01", "a/b"}}}}
	for name, want := range map[string]string{
		"anot/R01":     "anot/R01/1",
		"my/own/a/b/2": "my/own/a/b/2",
		"anto/R01":     `run r has no method "anto", did you mean "anot"?: its methods are anot, my/own`,
		"anot/R011":    `run r has no sample "R011", did you mean "R01"?`,
		"anot/R01/3":   `run r has no epoch "3": it has 2`,
		"R01":          "use METHOD/SAMPLE or METHOD/SAMPLE/EPOCH, as in anot/R01/1",
	} {
		id, err := run.FindTrial(name)
		if err == nil && id.String() != want || err != nil && !strings.HasSuffix(err.Error(), ": "+want) {
			t.Errorf("%s: %v, %v, want %s", name, id, err, want)
		}
	}
}
