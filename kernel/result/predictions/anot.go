package predictions

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"noema/kernel/base/files"
	"noema/kernel/result/record"
	"noema/kernel/task/table"
)

// anotConfig is what is read of the config.json beside the results of the original ANoT.
type anotConfig struct {
	Method string `json:"method"`
	LLM    struct {
		Provider string `json:"provider"`
		Model    string `json:"model"`
	} `json:"llm_config"`
	Attack struct {
		Attack string `json:"attack"`
	} `json:"attack_config"`
	Usage struct {
		ByModel map[string]json.RawMessage `json:"by_model"`
	} `json:"usage"`
}

// readFolder reads a folder of results of the original ANoT: that of one run, which
// holds config.json and results_N.jsonl for N candidates, or one of several run_M, each
// of which is an epoch.
func (f *File) readFolder(ctx context.Context, folder string) error {
	runs, err := matching(folder, "run_*")
	if err != nil {
		return err
	}
	if len(runs) == 0 {
		runs = []string{folder}
	}
	for epoch, run := range runs {
		found, err := matching(run, "results*.jsonl")
		switch {
		case err != nil:
			return err
		case len(found) == 0:
			return fmt.Errorf("%s has no results_N.jsonl, as folders of results of ANoT have: name a file", filepath.Base(run))
		case len(found) > 1:
			return fmt.Errorf("%s has results for several numbers of candidates: name one file, such as %s", filepath.Base(run), found[0])
		}
		t, err := table.Open(ctx, found[0])
		if err != nil {
			return err
		}
		if err := f.readANoT(ctx, found[0], t, epoch); err != nil {
			return err
		}
	}
	return nil
}

// matching are the files of a folder with names of a pattern, 2 before 10.
func matching(folder, pattern string) ([]string, error) {
	names, err := fs.Glob(os.DirFS(folder), pattern)
	slices.SortFunc(names, record.ComparePaths)
	for i, name := range names {
		names[i] = filepath.Join(folder, name)
	}
	return names, err
}

// anotLine is a line of results_N.jsonl. Its predictions are numbers of candidates from
// 1, as the data lists them, and gold_idx counts from 0. Tokens, cost and latency are
// not read: requests ran at once, and each line counts calls of others, too.
type anotLine struct {
	Request   string          `json:"request_id"`
	Predicted json.RawMessage `json:"pred_indices"`
	Gold      int             `json:"gold_idx"`
	Error     string          `json:"error"`
}

// readANoT reads the results of one run of the original ANoT.
func (f *File) readANoT(ctx context.Context, path string, t *table.Table, epoch int) error {
	f.Harness = ANoT
	if !slices.Contains(f.Paths, path) {
		f.Paths = append(f.Paths, path)
	}
	if err := f.anotConfig(filepath.Join(filepath.Dir(path), "config.json")); err != nil {
		return err
	}
	return t.Each(func(row table.Row) error {
		var line anotLine
		if err := row.Decode(&line); err != nil {
			return err
		}
		p := Prediction{
			Place: fmt.Sprintf("%s:%d", filepath.Base(path), row.Number), ID: line.Request, Epoch: epoch,
			Gold: line.Gold + 1, Failure: line.Error, Usage: unknown,
		}
		if none := string(line.Predicted); none != "[]" && none != "" && none != "null" {
			p.Value = line.Predicted
		}
		return f.add(ctx, p)
	})
}

// anotConfig takes what config.json says, if there is one.
func (f *File) anotConfig(path string) error {
	raw, err := files.Read(path, files.MaxConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var c anotConfig
	if err := json.Unmarshal(raw, &c); err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(path), words(err))
	}
	if f.Method != "" && f.Method != c.Method {
		return fmt.Errorf("%s: the method is %q, and that of another run %q: name one run", path, c.Method, f.Method)
	}
	model := c.LLM.Model
	if names := slices.Collect(maps.Keys(c.Usage.ByModel)); model == "" && len(names) == 1 {
		model = names[0]
	}
	if f.Method = c.Method; model != "" {
		f.Model = strings.TrimPrefix(c.LLM.Provider+"/"+model, "/")
	}
	if attack := cmp.Or(c.Attack.Attack, "none"); attack != "none" && attack != "clean" {
		note := fmt.Sprintf("ANoT answered under the attack %q, which the task does not have", attack)
		if !slices.Contains(f.Notes, note) {
			f.Notes = append(f.Notes, note)
		}
	}
	return nil
}

// isFolder reports whether path is a folder.
func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
