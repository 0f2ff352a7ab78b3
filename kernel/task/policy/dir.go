package policy

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"noema/kernel/task"
	"noema/methods"
)

// DirOptions choose what LoadDir takes of the data.
type DirOptions struct {
	Task     string `json:"task" doc:"which ground truth to use, such as G1_allergy_V2; needed if there are several"`
	K        int    `json:"k" default:"0" min:"0" doc:"reviews of each restaurant; needed if there are several data sets"`
	Limit    int    `json:"limit" default:"0" min:"0" doc:"only the first so many restaurants; 0 for all"`
	Verdicts string `json:"verdicts" doc:"the verdict's levels, mildest first, separated by commas; default: as the policy names them"`
}

// LoadDir reads a folder in the data format of the public benchmark that
// General ANoT was measured on:
//
//	dataset_K25.jsonl                 {"business_id", "business": {"name", "categories", …},
//	                                   "reviews": [{"user": {"name"}, "stars", "date", "useful", "text", …}]}
//	TASK_K25_groundtruth.json         {"restaurants": {BUSINESS_ID: {"ground_truth": {"verdict", PRIMITIVE: …}}}}
//	TASK_K25_prompt.txt               the policy; also TASK_prompt.txt, TASK.md, TASK.txt,
//	                                  policy.md, policy.txt, formula.md or formula.txt
//
// The primitives are what the ground truth of every restaurant has as a
// number or as true or false. Only what the lines above name reaches a
// problem, dates without the time of day; the task's notes say what was left
// out. Errors name file and line.
//
// Source: the public data's own files. Differs: that project keeps the three
// kinds of files in folders of their own; here they stand in one.
func LoadDir(dir string, o DirOptions) (*task.Task, error) {
	base := filepath.Base(filepath.Clean(dir))
	d := &data{}
	if err := d.read(dir, o); err != nil {
		return nil, fmt.Errorf("load %s: %w", base, err)
	}
	verdicts, err := d.levels(o.Verdicts)
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", base, err)
	}
	t := &task.Task{
		Name:    base,
		Version: version, // the tools are the same
		Summary: "apply the policy " + d.task + " to the reviews of a restaurant (General ANoT data format)",
		Config:  fmt.Sprintf("k=%d&limit=%d&task=%s&verdicts=%s", d.k, o.Limit, d.task, strings.Join(verdicts, ",")),
		Source:  d.Source(),
		Notes:   d.notes(verdicts),

		Environment: environment(),
	}
	for i, p := range d.places {
		if o.Limit > 0 && i == o.Limit {
			break
		}
		t.Samples = append(t.Samples, d.sample(p, verdicts))
	}
	return t, nil
}

// sample is one restaurant under the policy.
func (d *data) sample(p dirPlace, verdicts []string) task.Sample {
	gold := map[string]json.RawMessage{VerdictName: p.truth[VerdictName]}
	for _, name := range d.primitives {
		gold[name] = p.truth[name]
	}
	return task.Sample{
		ID:    p.id,
		Group: d.task,
		Problem: methods.Problem{
			Query:   d.policy,
			Context: encode(p.place, p.reviews),
			Answer: methods.AnswerSpec{
				Kind:   methods.Fields,
				Names:  append(slices.Clone(d.primitives), VerdictName),
				Labels: verdicts,
			},
		},
		Target:   methods.Must(json.Marshal(gold)), // values read from JSON
		Metadata: map[string]string{"restaurant": p.place.Name, "verdict": p.verdict, "reviews": strconv.Itoa(len(p.reviews))},
	}
}

// levels are the verdict's levels, mildest first. Given ones must hold every
// verdict of the ground truth; otherwise they are the found ones in the order
// in which the policy first names them.
func (d *data) levels(list string) ([]string, error) {
	var given []string
	for v := range strings.SplitSeq(list, ",") {
		if v = strings.TrimSpace(v); v != "" {
			given = append(given, v)
		}
	}
	var found []string
	for _, p := range d.places {
		if !slices.Contains(found, p.verdict) {
			found = append(found, p.verdict)
		}
	}
	if len(given) > 0 {
		for _, v := range found {
			if !slices.Contains(given, v) {
				return nil, fmt.Errorf("the ground truth has the verdict %q, which is not among the levels %s", v, strings.Join(given, ", "))
			}
		}
		return given, nil
	}
	for _, v := range found {
		if !strings.Contains(d.policy, v) {
			return nil, fmt.Errorf("the policy does not name the verdict %q of the ground truth: give the levels, mildest first, as verdicts=A,B,C", v)
		}
	}
	slices.SortFunc(found, func(a, b string) int { return strings.Index(d.policy, a) - strings.Index(d.policy, b) })
	return found, nil
}

// notes say what a reader of results must know.
func (d *data) notes(verdicts []string) []string {
	notes := []string{
		"verdicts and primitives are the data's claim; they were not checked against the reviews",
		"levels of the verdict, mildest first: " + strings.Join(verdicts, ", "),
	}
	if dropped := d.Dropped(); dropped != "" {
		notes = append(notes, "fields left out: "+dropped)
	}
	if len(d.unjudged) > 0 {
		notes = append(notes, "restaurants left out because they have no ground truth: "+strings.Join(d.unjudged, ", "))
	}
	if d.fewer > 0 {
		notes = append(notes, fmt.Sprintf("%d restaurants have fewer than %d reviews", d.fewer, d.k))
	}
	return notes
}
