package predictions

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const head = `{"version":2,"status":"success","eval":{"task":"t","model":"m"},"plan":{},"stats":{},`

// log is an Inspect log in JSON with these samples.
func log(samples string) string { return head + `"samples":[` + samples + `]}` }

// pack is an .eval file of name, content, name, content.
func pack(t *testing.T, parts ...string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i < len(parts); i += 2 {
		e, err := w.Create(parts[i])
		if err == nil {
			_, err = e.Write([]byte(parts[i+1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

const good = `{"id":"a","epoch":1,"input":"q","scores":{"m":{"answer":"1"}}}`

// TestHostileFiles: each is an error that names the place, and nothing is written.
func TestHostileFiles(t *testing.T) {
	real, err := os.ReadFile("testdata/sums.eval")
	if err != nil {
		t.Fatal(err)
	}
	header := head + `"x":1}`
	damaged := slices.Clone(real)
	damaged[bytes.Index(damaged, []byte("samples/q1_epoch_1.json"))+60] ^= 0xff
	method := []byte(pack(t, "header.json", header, "samples/a_epoch_1.json", good))
	for i := 0; ; i++ { // bzip2 in the central directory
		if at := bytes.Index(method[i:], []byte("PK\x01\x02")); at >= 0 {
			i += at
			method[i+10] = 12
			continue
		}
		break
	}
	zeros := strings.Repeat("0", maxSample+1<<20)
	for name, c := range map[string]struct{ file, content, want string }{
		"empty":                     {"a.jsonl", "", "a.jsonl is empty"},
		"junk":                      {"a.jsonl", "\x00\x01\x02junk", "a.jsonl:1"},
		"half a line":               {"a.jsonl", `{"id":"a","answer":1}` + "\n" + `{"id":"b","ans`, "a.jsonl:2"},
		"not UTF-8":                 {"a.jsonl", "{\"id\":\"a\",\"answer\":\"\xff\"}", "invalid UTF-8"},
		"no id":                     {"a.jsonl", `{"name":"a","answer":1}`, `no column of ids: its columns are answer, name: name one of them "id"`},
		"no answer":                 {"a.jsonl", `{"id":"a","text":1}`, "no column of answers"},
		"two answers":               {"a.jsonl", `{"id":"a","response":1,"output":2}`, "may each be the prediction: write which"},
		"id is an object":           {"a.jsonl", `{"id":{},"answer":1}`, "want a text or a number"},
		"id is empty":               {"a.jsonl", `{"id":" ","answer":1}`, "a.jsonl:1: the id is empty"},
		"id is null":                {"a.jsonl", `{"id":null,"answer":1}`, "a.jsonl:1:1: the row has no id"},
		"twice":                     {"a.jsonl", `{"id":"a","answer":1}` + "\n" + `{"id":"a","answer":2}`, `a.jsonl:2: id "a" has an answer already, at a.jsonl:1`},
		"epoch 0":                   {"a.jsonl", `{"id":"a","answer":1,"epoch":0}`, "epoch 0"},
		"epoch too large":           {"a.jsonl", `{"id":"a","answer":1,"epoch":99999}`, "not within 1..1000"},
		"epoch not a number":        {"a.jsonl", `{"id":"a","answer":1,"epoch":"x"}`, "is not a number of 0 or more"},
		"tokens below 0":            {"a.jsonl", `{"id":"a","answer":1,"calls":-1}`, "is not a number of 0 or more"},
		"cost alone":                {"a.jsonl", `{"id":"a","answer":1,"cost_usd":1}`, "need a column calls"},
		"gigantic answer":           {"a.jsonl", `{"id":"a","answer":"` + zeros[:maxAnswer+1] + `"}`, `a.jsonl:1: the answer of "a" has more than 1024 KiB`},
		"gzip by another name":      {"a.jsonl", "\x1f\x8b\x08", "packed with gzip"},
		"truncated gzip":            {"a.jsonl.gz", "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03", "a.jsonl.gz"},
		"lm-eval: no replies":       {"s.jsonl", `{"doc_id":0,"doc":{},"filtered_resps":[]}`, "the list is empty"},
		"lm-eval: replies":          {"s.jsonl", `{"doc_id":0,"doc":{},"filtered_resps":["a","b"]}`, "2 replies to one document"},
		"lm-eval: likelihood":       {"s.jsonl", `{"doc_id":0,"doc":{},"filtered_resps":[["x","y"]]}`, "is not a log likelihood"},
		"lm-eval: doc":              {"s.jsonl", `{"doc_id":0,"doc":7,"filtered_resps":["a"]}`, "s.jsonl:1"},
		"log: cut short":            {"a.json", log(good)[:150], "cut short"},
		"log: goes on":              {"a.json", log(good) + "{}", "something follows the log"},
		"log: version 3":            {"a.json", strings.Replace(log(good), `"version":2`, `"version":3`, 1), "a log of version 3"},
		"log: no samples":           {"a.json", log(""), "holds no predictions"},
		"log: samples a text":       {"a.json", head + `"samples":"x"}`, `"samples" is not a list`},
		"log: our own":              {"a.json", strings.Replace(log(good), `"model":"m"`, `"metadata":{"noema_config_digest":"x"}`, 1), "noema itself wrote this log"},
		"log: no id":                {"a.json", log(`{"epoch":1}`), "a.json: sample 1: id: it is missing"},
		"log: id a list":            {"a.json", log(`{"id":[1],"epoch":1}`), "sample 1: id: want a text or a number"},
		"log: twice":                {"a.json", log(good + "," + good), `sample 2: id "a" has an answer already`},
		"log: input a number":       {"a.json", log(`{"id":1,"epoch":1,"input":7}`), "sample 1: input: want a text or a list"},
		"log: scores a text":        {"a.json", log(`{"id":1,"epoch":1,"scores":"x"}`), "sample 1"},
		"log: negative tokens":      {"a.json", log(`{"id":1,"epoch":1,"model_usage":{"m":{"input_tokens":-5}}}`), "-5 tokens"},
		"log: deep":                 {"a.json", log(`{"id":1,"epoch":1,"store":` + strings.Repeat("[", 20_000)), "a.json"},
		"log: large sample":         {"a.json", log(`{"id":1,"epoch":1,"input":"` + zeros + `"}`), "more than 64 MiB"},
		"eval: cut short":           {"a.eval", string(real[:len(real)/2]), "not a whole zip archive"},
		"eval: not a zip":           {"a.eval", "hello", "not a whole zip archive"},
		"eval: damaged":             {"a.eval", string(damaged), `entry "samples/q1_epoch_1.json"`},
		"eval: method":              {"a.eval", string(method), "packed by method 12: deflate and zstd are read"},
		"eval: no header":           {"a.eval", pack(t, "samples/a_epoch_1.json", good), "neither header.json"},
		"eval: bomb":                {"a.eval", pack(t, "header.json", header, "samples/a_epoch_1.json", zeros), `entry "samples/a_epoch_1.json": it has more than 64 MiB`},
		"eval: header a bomb":       {"a.eval", pack(t, "header.json", zeros), "more than 64 MiB"},
		"eval: names that lead out": {"a.eval", pack(t, "header.json", header, "samples/../../../tmp/x.json", good, "/etc/passwd", "x"), "holds no predictions"},
		"eval: one id twice":        {"a.eval", pack(t, "header.json", header, "samples/a_epoch_1.json", good, "samples/b_epoch_1.json", good), `id "a" has an answer already`},
		"eval: not JSON":            {"a.eval", pack(t, "header.json", header, "samples/a_epoch_1.json", "{"), `entry "samples/a_epoch_1.json"`},
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, c.file, c.content)
			f, err := Read(t.Context(), path, Options{})
			if err == nil || !strings.Contains(err.Error(), c.want) || len(err.Error()) > 600 {
				t.Errorf("%.300v, want %s (read %t)", err, c.want, f != nil)
			}
			if rest, err := os.ReadDir(filepath.Dir(path)); err != nil || len(rest) != 1 {
				t.Errorf("beside the file there is %v, %v", rest, err)
			}
		})
	}
	if _, err := Read(t.Context(), t.TempDir(), Options{}); err == nil || !strings.Contains(err.Error(), "name a file") {
		t.Error(err)
	}
}

// TestManyBombs: entries that are small each are bounded together.
func TestManyBombs(t *testing.T) {
	f := &File{Name: "a.eval"}
	raw := pack(t, "a", `{"version":2,"status":"`+strings.Repeat("x", 1000)+`"}`)
	archive, err := zip.NewReader(strings.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	left := int64(2500)
	var h inspectHeader
	for i := range 3 {
		if err = f.entry(archive.File[0], &h, &left); (err != nil) != (i == 2) {
			t.Fatalf("entry %d: %v", i, err)
		}
	}
	if !strings.Contains(err.Error(), "far more than such a file holds") {
		t.Error(err)
	}
}

// TestNaN: what Python writes is read; words within texts stay.
func TestNaN(t *testing.T) {
	samples := `{"id":"a","epoch":1,"input":"NaN \" Infinity","x":[NaN,-Infinity,Infinity,-1e-3],"scores":{"m":{"value":NaN,"answer":"-Infinity"}}}`
	f, err := Read(t.Context(), write(t, "a.json", log(samples)), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if p := f.All[0]; p.Questions[0] != `NaN " Infinity` || p.Text != "-Infinity" {
		t.Errorf("%+v", p)
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, name := range []string{"sums.eval", "sums.json", "samples_pick_2026-11-22T18-15-42.885962.jsonl"} {
		if _, err := Read(ctx, filepath.Join("testdata", name), Options{}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, name := range []string{"sums.eval", "sums.json", "samples_pick_2026-11-22T18-15-42.885962.jsonl"} {
		raw, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(filepath.Ext(name), raw)
	}
	f.Fuzz(func(t *testing.T, ext string, raw []byte) {
		if !slices.Contains([]string{".eval", ".json", ".jsonl", ".csv"}, ext) {
			ext = ".jsonl"
		}
		path := filepath.Join(t.TempDir(), "f"+ext)
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := Read(t.Context(), path, Options{})
		if err != nil {
			return
		}
		for _, p := range file.All {
			if a, err := p.To(sums()[0].Problem.Answer); err == nil && a.Value != nil && !json.Valid(a.Value) {
				t.Errorf("%s: %q is not JSON", p.Place, a.Value)
			}
		}
	})
}
