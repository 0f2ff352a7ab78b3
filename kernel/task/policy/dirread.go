package policy

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"noema/kernel/task/internal/public"
	"noema/kernel/task/internal/words"
)

// data is a folder as read.
type data struct {
	public.Data
	task       string
	k          int
	policy     string
	places     []dirPlace
	primitives []string // sorted
	unjudged   []string // ids of restaurants without a ground truth
	fewer      int      // restaurants with fewer than k reviews
}

// dirPlace is a restaurant with its ground truth.
type dirPlace struct {
	id      string
	place   place
	reviews []review
	verdict string
	truth   map[string]json.RawMessage
}

func (d *data) read(dir string, o DirOptions) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	dataset, err := d.chooseDataset(names, o.K)
	if err != nil {
		return err
	}
	truth, err := d.chooseTruth(names, o.Task)
	if err != nil {
		return err
	}
	if err := d.readPolicy(dir); err != nil {
		return err
	}
	golds, err := d.readTruth(filepath.Join(dir, truth))
	if err != nil {
		return err
	}
	if err := d.readDataset(filepath.Join(dir, dataset), golds); err != nil {
		return err
	}
	if len(d.places) == 0 {
		return fmt.Errorf("no restaurant of %s has a ground truth in %s", dataset, truth)
	}
	d.choosePrimitives()
	return nil
}

// chooseDataset finds the data set of k reviews, or the only one.
func (d *data) chooseDataset(names []string, k int) (string, error) {
	var found []string
	for _, name := range names {
		m := regexp.MustCompile(`^dataset_K(\d+)\.jsonl$`).FindStringSubmatch(name)
		if m == nil {
			continue
		}
		n, err := strconv.Atoi(m[1])
		if err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
		if k == n || k == 0 {
			d.k = n
			found = append(found, name)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return "", fmt.Errorf("several datasets found (%s): choose one, as in k=%d", strings.Join(found, ", "), d.k)
	case k > 0:
		return "", fmt.Errorf("dataset_K%d.jsonl is missing", k)
	}
	return "", errors.New("the dataset is missing: restaurants with K reviews each, in a file such as dataset_K50.jsonl")
}

// chooseTruth finds the ground truth of the task, or the only one.
func (d *data) chooseTruth(names []string, want string) (string, error) {
	suffix := fmt.Sprintf("_K%d_groundtruth.json", d.k)
	var tasks []string
	for _, name := range names {
		if t, ok := strings.CutSuffix(name, suffix); ok && (want == "" || want == t) {
			tasks = append(tasks, t)
		}
	}
	if len(tasks) > 1 {
		return "", fmt.Errorf("several ground truths found, of the tasks %s: choose one, as in task=%s", strings.Join(tasks, ", "), tasks[0])
	}
	if len(tasks) == 0 {
		want = cmp.Or(want, "TASK")
		return "", fmt.Errorf("%s%s is missing: it holds the verdicts and primitives", want, suffix)
	}
	d.task = tasks[0]
	return d.task + suffix, nil
}

// readPolicy reads the first file there is of those that can hold the policy.
func (d *data) readPolicy(dir string) error {
	candidates := []string{
		fmt.Sprintf("%s_K%d_prompt.txt", d.task, d.k), d.task + "_prompt.txt", d.task + ".md", d.task + ".txt",
		"policy.md", "policy.txt", "formula.md", "formula.txt",
	}
	for _, name := range candidates {
		raw, err := d.File(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if d.policy = strings.TrimSpace(string(raw)); d.policy == "" {
			return fmt.Errorf("%s:1: the policy is empty", name)
		}
		return nil
	}
	return fmt.Errorf("the policy's text is missing: put it into one of %s", strings.Join(candidates, ", "))
}

// readTruth reads the ground truth of each restaurant by its id.
func (d *data) readTruth(path string) (map[string]map[string]json.RawMessage, error) {
	raw, err := d.File(path)
	if err != nil {
		return nil, err
	}
	name := filepath.Base(path)
	var file struct {
		K           int `json:"k"`
		Restaurants map[string]struct {
			Truth map[string]json.RawMessage `json:"ground_truth"`
		} `json:"restaurants"`
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		return nil, words.At(name, raw, err)
	}
	if file.K != 0 && file.K != d.k {
		return nil, fmt.Errorf("%s:%d: k is %d, but the dataset has k=%d", name, words.Line(raw, bytes.Index(raw, []byte(`"k"`))), file.K, d.k)
	}
	out := map[string]map[string]json.RawMessage{}
	for _, id := range slices.Sorted(maps.Keys(file.Restaurants)) {
		truth := file.Restaurants[id].Truth
		var verdict string
		if err := json.Unmarshal(truth[VerdictName], &verdict); err != nil || verdict == "" {
			return nil, fmt.Errorf("%s:%d: restaurant %q has no verdict", name, words.Line(raw, bytes.Index(raw, []byte(`"`+id+`"`))), id)
		}
		out[id] = truth
	}
	return out, nil
}

// choosePrimitives takes what every ground truth has as a number or boolean.
func (d *data) choosePrimitives() {
	count := map[string]int{}
	for _, p := range d.places {
		for name, raw := range p.truth {
			if scalar(raw) {
				count[name]++
			} else if name != VerdictName {
				d.Drop("ground_truth." + name)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(count)) {
		if count[name] == len(d.places) {
			d.primitives = append(d.primitives, name)
		} else {
			d.Drop("ground_truth." + name)
		}
	}
}

// scalar reports whether raw is a number or a boolean.
func scalar(raw json.RawMessage) bool {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return false
	}
	switch v.(type) {
	case float64, bool:
		return true
	}
	return false
}
