package attack

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"noema/kernel/task"
	"noema/kernel/task/policy"
	"noema/methods"
)

// longReviews is a task with reviews as people write them: long, and most of them
// with a word of the request.
func longReviews(t *testing.T) *task.Task {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "reviews.txt"))
	if err != nil {
		t.Fatal(err)
	}
	type review map[string]any
	type item struct {
		Name    string   `json:"name"`
		Reviews []review `json:"reviews"`
	}
	var items []item
	for i, text := range strings.Split(strings.TrimSpace(string(raw)), "\n\n") {
		if i%3 == 0 {
			items = append(items, item{Name: fmt.Sprintf("Place %d", i/3+1)})
		}
		at := &items[len(items)-1]
		at.Reviews = append(at.Reviews, review{"author": fmt.Sprintf("P%d", i), "stars": 1 + i%5, "text": strings.ReplaceAll(text, "\n", " ")})
	}
	context, err := json.Marshal(map[string]any{task.ItemsKey: items})
	if err != nil {
		t.Fatal(err)
	}
	out := &task.Task{Name: "long"}
	for i, query := range []string{"Somewhere quiet to work with strong coffee", "A place with vegan brunch and a terrace", "Live music and late opening"} {
		out.Samples = append(out.Samples, task.Sample{ID: fmt.Sprint(i), Problem: methods.Problem{
			Query: query, Context: context, Answer: methods.AnswerSpec{Kind: methods.Ranking, N: len(items), K: 1}}, Target: json.RawMessage("[1]")})
	}
	return out
}

// TestTheRateIsThatOfWhatMayChange: on generated and on long reviews, with both
// scopes, and the real share of all text is said for the table and each sample.
func TestTheRateIsThatOfWhatMayChange(t *testing.T) {
	for _, clean := range append(tasks(t), longReviews(t)) {
		for _, name := range Names() {
			spared := map[bool]int{}
			for _, all := range []bool{false, true} {
				a := Attack{name, 0.3, all}
				var e Extent
				for i, s := range clean.Samples {
					w := work{Attack: a, rng: seeded(uint64(i)), decides: deciderOf(s.Problem.Query)}
					if _, err := w.context(s.Problem.Context); err != nil {
						t.Fatal(err)
					}
					e.add(w.extent)
				}
				if e.Spared+e.May > e.All || e.Changed > e.May || e.All == 0 {
					t.Errorf("%s on %s: %+v", a, clean.Name, e)
				}
				rate, noise := float64(e.Changed)/float64(e.May), 4*math.Sqrt(0.3*0.7/float64(e.May))
				if math.Abs(rate-0.3) > noise+0.02 {
					t.Errorf("%s on %s: changed %.3f of what may change: %+v", a, clean.Name, rate, e)
				}
				spared[all] = e.Spared
				t.Logf("%-24s %-7s %s", a, clean.Name, e.text(a))
			}
			if spared[true] >= spared[false] && !(name == "duplicate" && clean.Name == policy.Name) {
				t.Errorf("%s on %s: scope=all spares %d, and without it %d", name, clean.Name, spared[true], spared[false])
			}
		}
	}
}

// TestExtentIsSaid in the notes of the task and the metadata of each sample.
func TestExtentIsSaid(t *testing.T) {
	clean := longReviews(t)
	out, err := Attack{"typo", 0.3, false}.Apply(clean, 1)
	if err != nil {
		t.Fatal(err)
	}
	if n := out.Notes[len(out.Notes)-1]; !strings.HasPrefix(n, "attack typo:0.3: changed ") || !strings.Contains(n, "that may change), spared") {
		t.Errorf("note %q", n)
	}
	for _, s := range out.Samples {
		if !strings.Contains(s.Metadata["attack"], "words") {
			t.Errorf("sample %s: %q", s.ID, s.Metadata["attack"])
		}
	}
	if d, err := clean.Digest(); err != nil || out.SeedDigest != d || clean.Samples[0].Metadata != nil {
		t.Errorf("seeds come from %q, want %q (%v)", out.SeedDigest, d, err)
	}
}

// TestScopeAllKeepsWhatDecides: the words shared with the request stay.
func TestScopeAllKeepsWhatDecides(t *testing.T) {
	clean := longReviews(t)
	out, err := Attack{"typo", 1, true}.Apply(clean, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range out.Samples {
		d := deciderOf(s.Problem.Query)
		before, after := d.counts(string(clean.Samples[i].Problem.Context)), d.counts(string(s.Problem.Context))
		for word := range d.asked {
			if before[word] != after[word] {
				t.Errorf("sample %s: %q occurs %d times, and %d before", s.ID, word, after[word], before[word])
			}
		}
		if bytes.Equal(s.Problem.Context, clean.Samples[i].Problem.Context) {
			t.Errorf("sample %s is as before", s.ID)
		}
	}
}

// TestAnExtentIsSaidInWords has thousands separated, and nothing spared said so.
func TestAnExtentIsSaidInWords(t *testing.T) {
	got := Extent{All: 12345, May: 12000, Changed: 6000}.text(Attack{Name: "duplicate", All: true})
	if want := "changed 49 % of 12,345 reviews (50 % of the 12,000 that may change), none spared"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
