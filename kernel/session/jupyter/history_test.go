package jupyter

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"noema/kernel/session/cell"
	"noema/methods/methodtest"
)

func openHistory(t *testing.T, file string) *cell.History {
	t.Helper()
	h, err := cell.OpenHistory(file, maxHistory)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func keep(t *testing.T, h *cell.History, line int, source string) {
	t.Helper()
	if err := h.Add(line, source); err != nil {
		t.Fatal(err)
	}
}

// sources are the cells that a request finds, as one text.
func sources(t *testing.T, h *cell.History, r historyRequest) string {
	t.Helper()
	entries, err := r.find(h)
	if err != nil {
		t.Error(err)
	}
	var s []string
	for _, e := range entries {
		s = append(s, fmt.Sprintf("%d/%d %s", e.Session, e.Line, e.Source))
	}
	return strings.Join(s, "; ")
}

func TestHistory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "h.jsonl")
	h := openHistory(t, file)
	keep(t, h, 1, "a := 1")
	keep(t, h, 2, "f(a)/2")
	if err := appendTo(file, "damaged\n{\"session\":-4}\n"); err != nil {
		t.Fatal(err)
	}
	h = openHistory(t, file) // as the next kernel does
	keep(t, h, 1, "a := 1")
	keep(t, h, 2, "é\n*")
	for _, x := range []struct {
		r    historyRequest
		want string
	}{
		{historyRequest{Access: "tail", N: 2}, "2/1 a := 1; 2/2 é\n*"},
		{historyRequest{Access: "tail"}, "1/1 a := 1; 1/2 f(a)/2; 2/1 a := 1; 2/2 é\n*"},
		{historyRequest{Access: "range", Start: 1, Stop: 2}, "2/1 a := 1"},
		{historyRequest{Access: "range", Session: -1, Start: 1}, "1/1 a := 1; 1/2 f(a)/2"},
		{historyRequest{Access: "range", Session: 1, Start: 2, Stop: 9}, "1/2 f(a)/2"},
		{historyRequest{Access: "range", Session: 77}, ""},
		{historyRequest{Access: "search", Pattern: "a*"}, "1/1 a := 1; 2/1 a := 1"},
		{historyRequest{Access: "search", Pattern: "a*", Unique: true}, "2/1 a := 1"},
		{historyRequest{Access: "search", Pattern: "*1", N: 1}, "2/1 a := 1"},
		{historyRequest{Access: "search", Pattern: "f(?)/?"}, "1/2 f(a)/2"},
		{historyRequest{Access: "search", Pattern: "?\n*"}, "2/2 é\n*"},
		{historyRequest{Access: "search", Pattern: "[a-f]*"}, ""},
		{historyRequest{Access: "search", Pattern: "a"}, ""},
		{historyRequest{Access: "search", Pattern: "\xff"}, ""},
	} {
		if got := sources(t, h, x.r); got != x.want {
			t.Errorf("%+v finds %q, want %q", x.r, got, x.want)
		}
	}
}

func appendTo(file, text string) error {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString(text)
	return err
}

// TestHostilePattern searches with a pattern that naive matching never ends on.
func TestHostilePattern(t *testing.T) {
	h := openHistory(t, "")
	keep(t, h, 1, strings.Repeat("a", 10_000))
	var found string
	took := methodtest.CPU(func() {
		found = sources(t, h, historyRequest{Access: "search", Pattern: strings.Repeat("*a", 60) + "b"})
	})
	if found != "" {
		t.Errorf("it finds %s", found)
	}
	if took > 2*time.Second {
		t.Errorf("the search takes %v", took)
	}
}

func TestHistoryIsBounded(t *testing.T) {
	var b bytes.Buffer
	for i := range 2*maxHistory + 1 {
		fmt.Fprintf(&b, "{\"session\":3,\"line\":%d,\"source\":\"x\"}\n", i)
	}
	file := write(t, "h.jsonl", b.String())
	openHistory(t, file)
	raw, err := os.ReadFile(file)
	if err != nil || bytes.Count(raw, []byte("\n")) != maxHistory || !bytes.HasSuffix(raw, []byte("\"line\":20000,\"source\":\"x\"}\n")) {
		t.Errorf("the file has %d lines, want the last %d (%v)", bytes.Count(raw, []byte("\n")), maxHistory, err)
	}
	if h := openHistory(t, file); len(h.Entries()) != maxHistory || h.Session() != 4 {
		t.Errorf("%d entries, session %d", len(h.Entries()), h.Session())
	}
}

// TestHistoryThatCannotBeWritten runs a cell whose history has no place.
func TestHistoryThatCannotBeWritten(t *testing.T) {
	r := start(t, filepath.Join(t.TempDir(), "nothere", "h.jsonl"))
	if _, shown := r.client("a").run("value 1"); shown != "[execute_result 1]" || r.log.count("keep history") != 1 {
		t.Errorf("the cell shows %q, the log has %d lines", shown, r.log.count("keep history"))
	}
}

func TestInstall(t *testing.T) {
	prefix := t.TempDir()
	data := t.TempDir()
	t.Setenv("JUPYTER_DATA_DIR", data)
	for want, place := range map[string]Place{
		filepath.Join(prefix, "share", "jupyter", "kernels", "noema"): {Prefix: prefix},
		filepath.Join(data, "kernels", "noema"):                       {},
	} {
		if _, err := Uninstall(place); err == nil || !strings.Contains(err.Error(), "no kernel in") {
			t.Errorf("uninstalling nothing: %v", err)
		}
		var dir string
		for range 2 { // the second time it is replaced
			var err error
			if dir, err = Install(place, "/bin/a b", "jupyter", "run", "-f"); err != nil || dir != want {
				t.Fatalf("installed in %s (%v), want %s", dir, err, want)
			}
		}
		var spec struct {
			Argv     []string
			Name     string `json:"display_name"`
			Language string
			Mode     string `json:"interrupt_mode"`
		}
		raw, err := os.ReadFile(filepath.Join(dir, "kernel.json"))
		if err != nil || json.Unmarshal(raw, &spec) != nil {
			t.Fatalf("the spec is %s (%v)", raw, err)
		}
		if got := fmt.Sprintf("%q", spec); got != `{["/bin/a b" "jupyter" "run" "-f" "{connection_file}"] "noema (Go)" "go" "message"}` {
			t.Errorf("the spec is %s", got)
		}
		for _, size := range []int{32, 64} {
			raw, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("logo-%dx%d.png", size, size)))
			if err != nil {
				t.Fatal(err)
			}
			if img, err := png.Decode(bytes.NewReader(raw)); err != nil || img.Bounds().Dx() != size {
				t.Errorf("the logo of %d: %v", size, err)
			}
		}
		if removed, err := Uninstall(place); err != nil || removed != want {
			t.Errorf("uninstalled %s: %v", removed, err)
		}
		if _, err := os.Stat(dir); !os.IsNotExist(err) {
			t.Errorf("%s is still there (%v)", dir, err)
		}
	}
}
