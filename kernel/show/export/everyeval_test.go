package export

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"noema/kernel/base/redact"
	"noema/kernel/result/record"
)

// published are the schemas of every-eval-ever 0.3.0 as they were published.
func published(t *testing.T) (aggregate, instance *jsonschema.Schema) {
	t.Helper()
	c := jsonschema.NewCompiler()
	var found [2]*jsonschema.Schema
	for i, name := range []string{"eval.schema.json", "instance_level_eval.schema.json"} {
		var err error
		if found[i], err = c.Compile("testdata/every-eval-ever/" + name); err != nil {
			t.Fatal(err)
		}
	}
	return found[0], found[1]
}

// everyEvalOf is the record of a method and its rows, both valid by the schemas.
func everyEvalOf(t *testing.T, s Source, method string) (files map[string][]byte, aggregate map[string]any, rows []map[string]any) {
	t.Helper()
	files, err := s.EveryEval(method, Evaluator{"A Lab", "third_party"})
	if err != nil {
		t.Fatal(err)
	}
	whole, instance := published(t)
	for name, raw := range files {
		schema := map[bool]*jsonschema.Schema{true: instance, false: whole}[strings.HasSuffix(name, "l")]
		for lines := json.NewDecoder(bytes.NewReader(raw)); ; {
			var v map[string]any
			if err := lines.Decode(&v); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			if err := schema.Validate(v); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if aggregate = v; schema == instance {
				rows = append(rows, v)
			}
		}
	}
	base, _, _ := strings.Cut(slices.Sorted(maps.Keys(files))[0], ".")
	if err := json.Unmarshal(files[base+".json"], &aggregate); err != nil {
		t.Fatal(err)
	}
	return files, aggregate, rows
}

// TestEveryEval: a record and its rows say what the run knows, by the published schemas.
func TestEveryEval(t *testing.T) {
	s := source(t)
	files, o, rows := everyEvalOf(t, s, "anot")
	detail := o["detailed_evaluation_results"].(map[string]any)
	sum := sha256.Sum256(files[detail["file_path"].(string)])
	if detail["checksum"] != hex.EncodeToString(sum[:]) || detail["total_rows"] != float64(len(rows)) {
		t.Errorf("%d rows of digest %x, and the record says %v", len(rows), sum, detail)
	}
	var names []string
	for _, r := range o["evaluation_results"].([]any) {
		names = append(names, r.(map[string]any)["evaluation_result_id"].(string))
	}
	if fmt.Sprint(names) != "[hits@1 hits@3 hits@5 mrr ndcg@5]" || len(rows) != 5*len(names) {
		t.Errorf("measures %v, %d rows of 5 trials", names, len(rows))
	}
	first := s.Result.Trials[0]
	if first.ID.Method != "anot" {
		first = s.Result.Trials[len(s.Result.Trials)/2]
	}
	row := rows[0]
	said := row["evaluation"].(map[string]any)
	if row["sample_id"] != first.ID.Sample || said["score"] != first.Score.Values["hits@1"] || said["num_turns"] != float64(first.Usage.Calls) || row["interaction_type"] != "multi_turn" {
		t.Errorf("trial %v is the row %v", first.ID, row)
	}
	if turns := row["messages"].([]any); len(turns) < 2*first.Usage.Calls || turns[0].(map[string]any)["role"] == "assistant" {
		t.Errorf("%d messages of %d calls", len(turns), first.Usage.Calls)
	}
	if again, err := s.EveryEval("anot", Evaluator{"A Lab", "third_party"}); err != nil || !maps.EqualFunc(files, again, bytes.Equal) {
		t.Errorf("a second export differs (%v)", err)
	}
	if _, _, rows = everyEvalOf(t, s, "direct"); rows[0]["interaction_type"] != "single_turn" || rows[0]["messages"] != nil {
		t.Errorf("one call is %v", rows[0])
	}
}

// TestEveryEvalLeavesOut: what is not known is absent, what failed has no row, and keys
// do not leave.
func TestEveryEvalLeavesOut(t *testing.T) {
	s := source(t)
	s.Redactor = redact.New([]string{"correct-horse-battery"})
	s.Result.Trials[0].Infra, s.Result.Trials[1].Usage.Unmetered = true, 1
	s.Result.Trials[1].Answer.Reason = "the key correct-horse-battery"
	s.Run.Source = "hf/org/sums@0123abc?config=main&split=test"
	files, o, rows := everyEvalOf(t, s, s.Result.Trials[0].ID.Method)
	if len(rows) != 4*5 || rows[0]["token_usage"] != nil || rows[5]["token_usage"] == nil {
		t.Errorf("%d rows, tokens %v", len(rows), rows[0]["token_usage"])
	}
	for name, raw := range files {
		if bytes.Contains(raw, []byte("correct-horse")) {
			t.Errorf("%s has the key", name)
		}
	}
	result := o["evaluation_results"].([]any)[0].(map[string]any)
	if data := result["source_data"].(map[string]any); data["hf_repo"] != "org/sums" || data["hf_split"] != "test" || data["samples_number"] != 5.0 {
		t.Errorf("data %v", data)
	}
	if got := o["model_info"].(map[string]any)["additional_details"].(map[string]any); got["simulated"] != "true" || got["deployment_type"] != "unknown" {
		t.Errorf("model %v", got)
	}
	s.Read = nil
	if files, o, _ = everyEvalOf(t, s, "anot"); len(files) != 1 || o["detailed_evaluation_results"] != nil {
		t.Errorf("without contents there are %d files", len(files))
	}
	for want, change := range map[string]func(){
		`no method "nobody"`: nil, "--organization": func() {}, "is unfinished": func() { s.Run.Status = record.Unfinished },
	} {
		method, status := "anot", s.Run.Status
		if change == nil {
			method = "nobody"
		} else {
			change()
		}
		if _, err := s.EveryEval(method, Evaluator{"", "third_party"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q in it", err, want)
		}
		s.Run.Status = status
	}
}

// TestEveryEvalValidates has the package's own validator read records, which also
// checks what no schema can: paths, digests and bounds.
func TestEveryEvalValidates(t *testing.T) {
	py := python(t, "every_eval_ever.validator")
	s, dir := source(t), t.TempDir()
	var paths []string
	for _, method := range []string{"anot", "direct"} {
		files, _, _ := everyEvalOf(t, s, method)
		for name, raw := range files {
			at := filepath.Join(dir, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, raw, 0o600)); err != nil {
				t.Fatal(err)
			}
			paths = append(paths, at)
		}
	}
	if got := runPython(t, py, "import sys\nfrom every_eval_ever.validate import main\nprint('exit', main(sys.argv[1:]))", paths...); !strings.HasSuffix(got, "exit 0") {
		t.Errorf("the validator says %s", got)
	}
}
