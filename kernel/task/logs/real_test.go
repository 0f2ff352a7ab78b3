package logs

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"noema/methods"
)

// folder writes a task over a log of one's own.
func folder(t *testing.T, log, content, config string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{log: content, ConfigName: "file: " + log + "\n" + config} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func loaded(t *testing.T, log, content, config string) Environment {
	t.Helper()
	made, err := LoadDir(folder(t, log, content, config))
	if err != nil {
		t.Fatal(err)
	}
	return made.Environment.(Environment)
}

const records = "time,severity,host\n2024-03-01,INFO,web1\n2024-03-02,ERROR,web2\n2024-03-03,ERROR,web2\n"

func gzipped(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(text))
	w.Close()
	return b.String()
}

func zstandard(t *testing.T, text string) string {
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(w.EncodeAll([]byte(text), nil))
}

// command packs a text with a program, as an administrator would.
func command(t *testing.T, name, text string) string {
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not installed", name)
	}
	c := exec.Command(path, "-c")
	c.Stdin = strings.NewReader(text)
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestPackedLogs(t *testing.T) {
	for _, name := range []string{"gzip", "zstd", "bzip2"} {
		t.Run(name, func(t *testing.T) {
			whole := command(t, name, records)
			if r, _ := call(t, loaded(t, "app.csv."+name, whole, "format: csv\n"), "filter_by_severity", `{"severities":["ERROR"]}`); r.Count != 2 {
				t.Errorf("%d records", r.Count)
			}
			for _, cut := range []int{len(whole) / 2, len(whole) - 3} {
				_, err := LoadDir(folder(t, "app.csv", whole[:cut], ""))
				if err == nil || !strings.Contains(err.Error(), "cut off") {
					t.Errorf("cut to %d of %d bytes: %v", cut, len(whole), err)
				}
			}
		})
	}
}

// TestCutBehindTheHead cuts an archive where only a whole scan can see it.
func TestCutBehindTheHead(t *testing.T) {
	long := records + strings.Repeat("2024-03-03,ERROR,web3\n", 400_000)
	packed := gzipped(long)
	e := loaded(t, "app.csv.gz", packed[:len(packed)-100], "")
	got, err := e.Call(t.Context(), methods.ToolCall{Name: "get_log_count", Arguments: json.RawMessage(`{}`)})
	if err != nil || !got.IsError || !strings.Contains(got.Content, "cut off") {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestWhatIsNotRead(t *testing.T) {
	for says, content := range map[string]string{
		"xz files are not supported: unpack it with xz -dk": "\xfd7zXZ\x00rest", "unzip": "PK\x03\x04rest", "7z x": "7z\xbc\xaf\x27\x1crest", "CSV or JSON Lines": "PAR1rest",
		"packed twice, as gzip in gzip": gzipped(gzipped(records)), "packed twice, as zstd in gzip": gzipped(zstandard(t, records)),
		"packed twice, as xz in zstd": zstandard(t, "\xfd7zXZ\x00rest"),
	} {
		if _, err := LoadDir(folder(t, "app.csv", content, "")); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
}

// growing appends to a file while it is read.
type growing struct {
	io.ReadCloser
	path string
	done bool
}

func (g *growing) Read(p []byte) (int, error) {
	if !g.done {
		g.done = true
		f, err := os.OpenFile(g.path, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			return 0, err
		}
		if _, err := f.WriteString("2024-03-04,ERROR,web9\n"); err != nil {
			return 0, err
		}
		if err := f.Close(); err != nil {
			return 0, err
		}
	}
	return g.ReadCloser.Read(p)
}

func TestLogThatGrowsWhileItIsRead(t *testing.T) {
	dir := folder(t, "app.csv", records, "")
	made, err := LoadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	e := made.Environment.(Environment)
	open := e.log.open
	e.log.open = func() (io.ReadCloser, error) {
		r, err := open()
		return &growing{ReadCloser: r, path: filepath.Join(dir, "app.csv")}, err
	}
	if r, err := e.Call(t.Context(), methods.ToolCall{Name: "get_log_count", Arguments: json.RawMessage(`{}`)}); !errors.Is(err, errChanged) {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestTimesOfRealLogs(t *testing.T) {
	want := time.Date(2024, 3, 1, 11, 0, 5, 0, time.UTC)
	for _, text := range []string{
		"2024-03-01T11:00:05Z", "2024-03-01T12:00:05+0100", "2024-03-01T12:00:05+01:00", "2024-03-01 12:00:05 +0100", "01/Mar/2024:12:00:05 +0100", "[01/Mar/2024:12:00:05 +0100]",
		"1709290805", "1709290805000", "1709290805000000", "1709290805000000000", "2024/03/01 11:00:05", "Fri Mar  1 11:00:05 2024", "Fri, 01 Mar 2024 11:00:05 GMT", "20240301T110505Z"[:11] + "0005Z", "Mar  1 11:00:05",
	} {
		c := clock{year: 2024}
		if got, err := c.read(text); err != nil || !got.Equal(want) {
			t.Errorf("%q is %v (%v)", text, got, err)
		}
	}
	for _, text := range []string{"2024-03-01 11:00:05,250", "2024-03-01T11:00:05.25Z", "1709290805.25"} {
		if got, err := new(clock).read(text); err != nil || !got.Equal(want.Add(250*time.Millisecond)) {
			t.Errorf("%q is %v (%v)", text, got, err)
		}
	}
	for text, says := range map[string]string{"": "not a time", "yesterday": "not a time", "12": "not a time", "Mar  1 11:00:05": "year: 2024", "1709290805.x": "not a time", "-1709290805": "not a time", strings.Repeat("9", 400): "not a time"} {
		if got, err := new(clock).read(text); err == nil || !strings.Contains(err.Error(), says) || len(err.Error()) > 300 {
			t.Errorf("%.40q is %v (%v)", text, got, err)
		}
	}
}

func TestRecordsWithoutATimeAreCounted(t *testing.T) {
	e := environment(t, "time,severity\n2024-03-01,INFO\nsoon,INFO\n,ERROR\n2024-03-05,INFO\n")
	r, _ := call(t, e, "filter_by_time", `{"start":"2024-03-02"}`)
	if r.Count != 1 || r.Skipped == nil || r.Skipped.Rows != 2 || r.Skipped.Examples[0].Line != 3 || !strings.Contains(r.Skipped.Examples[0].Reason, `"soon" is not a time`) {
		t.Errorf("%+v, skipped %+v", r, r.Skipped)
	}
}

func TestJSONInAColumn(t *testing.T) {
	csv := loaded(t, "a.csv", "when,Details\n2024-03-01,\"{\"\"Severity\"\":\"\"ERROR\"\",\"\"from\"\":[{\"\"host\"\":\"\"web7\"\"}]}\"\n2024-03-02,broken\n",
		"time: when\nseverity: Details.Severity\nentities: {host: {aliases: [hosts], column: Details.from.0.host}}\n")
	jsonl := loaded(t, "a.jsonl", `{"at":{"ms":1709290805000},"details":{"level":"error","host":"web7","codes":[1,2]}}`+"\n"+`{"at":null,"details":null}`+"\n",
		"time: at.ms\nseverity: details.level\nentities: {host: {aliases: [hosts], column: details.host}}\n")
	for name, e := range map[string]Environment{"csv": csv, "jsonl": jsonl} {
		r, _ := call(t, e, "extract_entities", `{"entity_types":["host"],"selection":{"severities":["ERROR"]}}`)
		if fmt.Sprint(r.Count, r.Entities) != "1 map[host:[web7]]" {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if r, _ := call(t, jsonl, "filter_by_time", `{"start":"2024-03-01T11:00:00Z"}`); r.Count != 1 || r.Skipped.Rows != 1 {
		t.Errorf("by time: %+v", r)
	}
}

// TestConfigurationsAreTriedOnTheLog names the columns that a log lacks before
// anything runs, and tells what none of its records has.
func TestConfigurationsAreTriedOnTheLog(t *testing.T) {
	for config, says := range map[string]string{
		"severity: level\n": `severity: the log has no column "level": it has host, severity, time`,
		"time: tme\n":       `time: the log has no column "tme", did you mean "time"?`,
		"entities: {host: {aliases: [hosts], column: hots}}\n": `entity host: the log has no column "hots", did you mean "host"?`,
		"entities: {host: {aliases: [hosts], column: h.x}}\n":  `entity host: the log has no column "h.x"`,
	} {
		if _, err := LoadDir(folder(t, "app.csv", records, config)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s gives %v, want %q", config, err, says)
		}
	}
	made, err := LoadDir(folder(t, "app.jsonl", `{"level":"INFO","time":"noon"}`+"\njunk\n", "entities: {host: {aliases: [hosts], column: host}}\nqueries: [{query: count all logs, target: two}, {query: who?, answer: text}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	notes := strings.Join(made.Notes, "\n")
	for _, says := range []string{"lines skipped: 1 of the first 2; the first is line 2", `"noon" is not a time`, `has the entity "host"`, `has the severity column "severity"`, "1 of 2 samples have no target"} {
		if !strings.Contains(notes, says) {
			t.Errorf("no word of %q in\n%s", says, notes)
		}
	}
	if s := made.Samples[0]; s.Problem.Answer.Kind != methods.Text || string(s.Target) != `"two"` {
		t.Errorf("a text target makes %+v", s)
	}
}

func TestToolErrorsAreBounded(t *testing.T) {
	var header strings.Builder
	for i := range 50_000 {
		fmt.Fprintf(&header, "column_%d,", i)
	}
	e := environment(t, header.String()+"last\n")
	got, err := e.Call(t.Context(), methods.ToolCall{Name: "filter_by_severity", Arguments: json.RawMessage(`{"severities":["x"]}`)})
	if err != nil || !got.IsError || len(got.Content) > 2100 || !strings.Contains(got.Content, "more") {
		t.Errorf("%d bytes: %.300s (%v)", len(got.Content), got.Content, err)
	}
	got, err = e.Call(t.Context(), methods.ToolCall{Name: "search_logs", Arguments: json.RawMessage(`{"` + strings.Repeat("é", 1<<20) + `":1}`)})
	if err != nil || !got.IsError || len(got.Content) > 2100 {
		t.Errorf("%d bytes (%v)", len(got.Content), err)
	}
}

// TestCheckIsSplit holds the quick check of lines to the full one.
func TestCheckIsSplit(t *testing.T) {
	dice := []string{`a`, `,`, `"`, `""`, ` `, `{`, `}`, `"k":1`, `[`, `]`, `é`, "\xff", `null`, `:`, `x=1`}
	csv := &csvFormat{}
	if _, err := csv.header([]byte("a,b,c")); err != nil {
		t.Fatal(err)
	}
	n := 0
	var line func(prefix string, depth int)
	line = func(prefix string, depth int) {
		for _, f := range []format{csv, jsonFormat{}} {
			_, slow := f.split([]byte(prefix))
			if quick := f.check([]byte(prefix)); fmt.Sprint(quick) != fmt.Sprint(slow) {
				t.Fatalf("%T on %q: %v, want %v", f, prefix, quick, slow)
			}
			n++
		}
		if depth > 0 {
			for _, d := range dice {
				line(prefix+d, depth-1)
			}
		}
	}
	line("", 4)
	if n < 100_000 {
		t.Errorf("only %d lines", n)
	}
}
