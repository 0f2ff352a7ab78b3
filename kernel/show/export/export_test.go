package export

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/parquet-go/parquet-go"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"noema/cache"
	"noema/kernel/base/redact"
	"noema/kernel/model/provider/sim"
	"noema/kernel/result/record"
	"noema/kernel/run/runner"
	"noema/kernel/task/cafes"
	"noema/methods"
	"noema/methods/anot"
	"noema/methods/baseline"
)

// source is a real run of two methods over five samples.
func source(t *testing.T) Source { return sourceOf(t, 5, baseline.Direct(), anot.New()) }

// sourceOf is a real run over n samples.
func sourceOf(t *testing.T, n int, solvers ...methods.Method) Source {
	t.Helper()
	tk, err := cafes.New(cafes.Options{N: 10, Requests: max(10, n)})
	if err != nil {
		t.Fatal(err)
	}
	model, err := sim.New(sim.Options{Error: 0.1})
	if err != nil {
		t.Fatal(err)
	}
	store, err := cache.Open(t.Context(), t.TempDir(), cache.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	setup := runner.Setup{Task: tk, Provider: model, Experiment: runner.Experiment{Limit: strconv.Itoa(n)}}
	for _, m := range solvers {
		d := m.(methods.Describer).Describe()
		setup.Methods = append(setup.Methods, runner.Method{Label: d.Name, Solver: m, Description: d, Shuffle: true})
	}
	r, err := setup.Run(t.Context(), store, runner.Quiet{})
	if err != nil {
		t.Fatal(err)
	}
	return Source{Result: r, Read: func(id record.TrialID, c record.Call) (runner.Exchange, error) {
		return runner.ReadExchange(context.WithoutCancel(t.Context()), store, r.Run, id, c)
	}}
}

// python returns a Python that has the given modules, or skips the test.
func python(t *testing.T, modules string) string {
	t.Helper()
	path := os.Getenv("NOEMA_TEST_PYTHON")
	if path == "" {
		path = "python3"
	}
	if err := exec.Command(path, "-c", "import "+modules).Run(); err != nil {
		t.Skipf("%s has no %s: install it, or set NOEMA_TEST_PYTHON to a Python that has it", path, modules)
	}
	return path
}

func runPython(t *testing.T, path, program string, args ...string) string {
	t.Helper()
	out, err := exec.Command(path, append([]string{"-c", program}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("python: %v\n%s", err, out)
	}
	return strings.TrimSpace(string(out))
}

func TestJSONLAndCSVHoldEveryTrial(t *testing.T) {
	s := source(t)
	rows := s.Trials()
	var lines, table bytes.Buffer
	if err := rows.JSONL(&lines); err != nil {
		t.Fatal(err)
	}
	if err := rows.CSV(&table); err != nil {
		t.Fatal(err)
	}
	cells, err := csv.NewReader(&table).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(cells) != 11 || len(s.Result.Trials) != 10 {
		t.Fatalf("%d lines of CSV for %d trials", len(cells), len(s.Result.Trials))
	}
	i := 0
	for line := range strings.Lines(lines.String()) {
		var o map[string]any
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatal(err)
		}
		trial := s.Result.Trials[i]
		if o["hash"] != trial.Hash || o["score.hits@1"] != trial.Score.Values["hits@1"] || o["input_tokens"] != float64(trial.Usage.InputTokens) {
			t.Errorf("line %d is %s", i, line)
		}
		i++
	}
	if i != 10 {
		t.Errorf("%d lines of JSON", i)
	}
}

func TestCallsHoldContents(t *testing.T) {
	s := source(t)
	written := func() (rows [][]any) {
		t.Helper()
		for row, err := range s.Calls().Rows {
			if err != nil {
				t.Fatal(err)
			}
			rows = append(rows, row)
		}
		return rows
	}
	rows, want := written(), 0
	for _, trial := range s.Result.Trials {
		want += len(trial.Calls)
	}
	if len(rows) != want {
		t.Fatalf("%d rows for %d calls", len(rows), want)
	}
	last := rows[0]
	if text, _ := last[len(last)-3].(string); !strings.Contains(text, `"role":"user"`) {
		t.Errorf("messages are %q", text)
	}
	s.Read = nil
	if reply := written()[0][len(last)-2]; reply != nil {
		t.Errorf("without contents a reply is %v", reply)
	}
}

func TestWhatIsUndefinedIsNull(t *testing.T) {
	s := source(t)
	s.Result.Trials[0].Usage.Unpriced = 1
	s.Result.Trials[0].Usage.Unmetered = 1
	delete(s.Result.Trials[0].Score.Values, "hits@1")
	var lines bytes.Buffer
	if err := s.Trials().JSONL(&lines); err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(lines.String(), "\n")
	for _, want := range []string{`"cost_usd":null`, `"input_tokens":null`, `"score.hits@1":null`} {
		if !strings.Contains(first, want) {
			t.Errorf("%s is not in %s", want, first)
		}
	}
}

func TestParquet(t *testing.T) {
	s := source(t)
	var file bytes.Buffer
	if err := s.Trials().Parquet(&file); err != nil {
		t.Fatal(err)
	}
	f, err := parquet.OpenFile(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if f.NumRows() != 10 {
		t.Errorf("%d rows", f.NumRows())
	}
	py := python(t, "duckdb")
	path := filepath.Join(t.TempDir(), "trials.parquet")
	if err := os.WriteFile(path, file.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	got := runPython(t, py, `import duckdb, sys
print(duckdb.sql(f"select method, count(*), count(distinct hash), sum(input_tokens)>0, typeof(any_value(epoch)) from '{sys.argv[1]}' group by method order by method").fetchall())`, path)
	if want := `[('anot', 5, 5, True, 'BIGINT'), ('direct', 5, 5, True, 'BIGINT')]`; got != want {
		t.Errorf("DuckDB reads %s, want %s", got, want)
	}
}

func TestEvalLogLoadsInInspect(t *testing.T) {
	s := source(t)
	var file bytes.Buffer
	if err := s.EvalLog(&file, "anot"); err != nil {
		t.Fatal(err)
	}
	if !json.Valid(file.Bytes()) {
		t.Fatal("not JSON")
	}
	if err := s.EvalLog(io.Discard, "nobody"); err == nil {
		t.Error("a log of a method that was not run")
	}
	py := python(t, "inspect_ai.log")
	var detailed bytes.Buffer
	if err := detailedSource(t).EvalLog(&detailed, "direct"); err != nil {
		t.Fatal(err)
	}
	paths := []string{filepath.Join(t.TempDir(), "anot.json"), filepath.Join(t.TempDir(), "detailed.json")}
	for i, b := range []bytes.Buffer{file, detailed} {
		if err := os.WriteFile(paths[i], b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got := runPython(t, py, `import sys
from inspect_ai.log import read_eval_log
log = read_eval_log(sys.argv[1])
s = log.samples[0]
print(log.status, log.eval.solver, len(log.samples), sorted(s.scores)[:2], len(s.events) > 3, s.messages[-1].role, log.results.scores[0].metrics["mean"].name)
log = read_eval_log(sys.argv[2])
u = log.stats.model_usage["test/m"]
p = log.samples[0].output.choices[0].logprobs.content[0]
print(u.input_tokens, u.input_tokens_cache_read, u.input_tokens_cache_write, u.reasoning_tokens, u.total_tokens, p.token, p.logprob, p.bytes, p.top_logprobs[1].bytes)`, paths...)
	if want := "success anot 5 ['first', 'hits@1'] True assistant mean\n30 60 10 40 150 3 -0.25 [51] [195]"; got != want {
		t.Errorf("Inspect reads %q, want %q", got, want)
	}
}

// TestInspectsTools: what Inspect offers to read logs with works on a folder of two
// logs with 200 trials. Its tools find logs by the form of their names, and stop at
// the samples where only the header is asked for.
func TestInspectsTools(t *testing.T) {
	s := sourceOf(t, 100, baseline.Direct(), baseline.CoT())
	logs := t.TempDir()
	for _, m := range []string{"direct", "cot"} {
		var file bytes.Buffer
		if err := s.EvalLog(&file, m); err != nil {
			t.Fatal(err)
		}
		if start := `{"version":2,"status":"success","eval":{`; !strings.HasPrefix(file.String(), start) {
			t.Errorf("%s begins with %.80s, want %s", m, file.String(), start)
		}
		if err := os.WriteFile(filepath.Join(logs, s.EvalLogName(m)), file.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	py := python(t, "inspect_ai.analysis, pandas, pyarrow")
	got := runPython(t, py, `import sys, os, json
from inspect_ai.log import read_eval_log, list_eval_logs, bundle_log_dir
from inspect_ai.analysis import samples_df, evals_df
logs, out = sys.argv[1:]
infos = list_eval_logs(logs)
headers = [read_eval_log(i, header_only=True) for i in infos]
print(len(infos), sorted(h.eval.solver for h in headers), {h.samples is None for h in headers}, {i.task for i in infos})
s, e = samples_df(logs), evals_df(logs)
hits = s.groupby("eval_id")["score_hits@1"].mean()
e = e.set_index("eval_id")
print(len(s), s.sample_id.nunique(), len(e), set(e.score_headline_name), set(e.score_headline_metric), abs(e.score_headline_value - hits).max() < 1e-12)
bundle_log_dir(logs, output_dir=out)
print(len(json.load(open(os.path.join(out, "logs", "listing.json")))))`, logs, filepath.Join(t.TempDir(), "bundle"))
	for _, want := range []string{"2 ['cot', 'direct'] {True} {'cafes'}\n", "\n200 200 2 {'hits@1'} {'mean'} True\n", "\n2\n"} {
		if !strings.Contains(got+"\n", want) {
			t.Errorf("Inspect says %q, want %q in it", got, want)
		}
	}
}

// collector is a server that receives OTLP over HTTP.
type collector struct {
	mu    sync.Mutex
	spans []*tracepb.Span
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	var request tracepb.TracesData
	if err == nil {
		err = proto.Unmarshal(raw, &request)
	}
	if err != nil || r.URL.Path != "/v1/traces" {
		http.Error(w, "no traces", http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, rs := range request.ResourceSpans {
		for _, ss := range rs.ScopeSpans {
			c.spans = append(c.spans, ss.Spans...)
		}
	}
}

func TestSpansReachACollector(t *testing.T) {
	c := &collector{}
	server := httptest.NewServer(c)
	defer server.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL)
	s := source(t)
	to, err := OTLP(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Spans(to); err != nil {
		t.Fatal(err)
	}
	want := len(s.Result.Trials)
	for _, trial := range s.Result.Trials {
		want += len(trial.Calls)
	}
	if len(c.spans) != want {
		t.Fatalf("the collector has %d spans of %d", len(c.spans), want)
	}
	byID := map[string]*tracepb.Span{}
	for _, span := range c.spans {
		byID[string(span.SpanId)] = span
	}
	for _, span := range c.spans {
		if len(span.ParentSpanId) == 0 {
			continue
		}
		parent := byID[string(span.ParentSpanId)]
		if parent == nil || parent.StartTimeUnixNano > span.StartTimeUnixNano || parent.EndTimeUnixNano < span.EndTimeUnixNano {
			t.Errorf("span %s is not within its parent", span.Name)
		}
	}
}

// TestCollectorsAreAskedTwice: what the variables say is sent, a busy collector is
// asked once more, and one that refuses is not.
func TestCollectorsAreAskedTwice(t *testing.T) {
	var codes []int
	var last http.Header
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		last = r.Header
		w.Header().Set("Retry-After", "0")
		w.WriteHeader(codes[asked])
		asked++
	}))
	defer server.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", server.URL+"/in")
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-key=a%20b,team=noema")
	t.Setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip")
	for _, c := range []struct {
		codes []int
		asked int
		says  string
	}{
		{[]int{503, 200}, 2, ""}, {[]int{429, 503}, 2, "503"}, {[]int{401}, 1, "401"},
	} {
		codes, asked = c.codes, 0
		send, err := OTLP(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		err = send(&tracepb.TracesData{})
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) || asked != c.asked {
			t.Errorf("%v: asked %d times, error %v", c.codes, asked, err)
		}
		if last.Get("X-Key") != "a b" || last.Get("Team") != "noema" || last.Get("Content-Encoding") != "gzip" {
			t.Errorf("header %v", last)
		}
	}
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "nonsense")
	if _, err := OTLP(t.Context()); err == nil || !strings.Contains(err.Error(), "NAME=VALUE") {
		t.Errorf("error %v", err)
	}
}

func TestSpansInAFileAreTheSameTwice(t *testing.T) {
	s := source(t)
	var files [2]bytes.Buffer
	for i := range files {
		if err := s.Spans(OTLPFile(&files[i])); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(files[0].Bytes(), files[1].Bytes()) {
		t.Error("two exports differ")
	}
	var message struct {
		ResourceSpans []struct {
			ScopeSpans []struct {
				Spans []struct{ TraceID, SpanID string }
			}
		}
	}
	if err := json.NewDecoder(&files[0]).Decode(&message); err != nil {
		t.Fatal(err)
	}
	if id := message.ResourceSpans[0].ScopeSpans[0].Spans[0].TraceID; len(id) != 32 || strings.Trim(id, "0123456789abcdef") != "" {
		t.Errorf("trace id %q is not in hex", id)
	}
}

func TestKeysDoNotLeave(t *testing.T) {
	s := Source{Redactor: redact.New([]string{"correct-horse-battery"})}
	for text, want := range map[string]string{
		"use sk-abcdefghijklmnopqrstuvwx now":              "use [redacted] now",
		"Authorization: Bearer abcdefghijklmnopqrstuvwxyz": "[redacted]",
		"my correct-horse-battery":                         "my [redacted]",
		"?k=correct%2Dhorse%2Dbattery":                     "?k=[redacted]",
		"the task-specific wording of risk-averse methods": "the task-specific wording of risk-averse methods",
	} {
		if got := s.clean(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

func TestSpreadsheetsRunNothing(t *testing.T) {
	r := Rows{Columns: []Column{{"a", String, nil}}, Rows: func(yield func([]any, error) bool) {
		_ = yield([]any{"=HYPERLINK(1)"}, nil) && yield([]any{"-5"}, nil) && yield([]any{nil}, nil)
	}}
	var out bytes.Buffer
	if err := r.CSV(&out); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), "a\n'=HYPERLINK(1)\n-5\n\n"; got != want && got != "a\n'=HYPERLINK(1)\n-5\n\"\"\n" {
		t.Errorf("CSV is %q", got)
	}
}
