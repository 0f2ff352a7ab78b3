package pyexpr

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

// update rewrites the stored results from python3: go test -run Corpus -update.
var update = flag.Bool("update", false, "rewrite testdata/corpus.txt by asking python3")

// corpus.txt holds hand-written expressions, as JSON strings where they have
// more than one line, each followed by what CPython 3.11 makes of it: "= " and
// its canonical repr, or "! " and the class of its exception.
//
//go:embed testdata/corpus.txt
var corpus string

const corpusEnv = `{'n': 3, 'x': 2.5, 's': 'text', 'extractions': [` +
	`{'a': 'mild', 'b': 'firsthand', 'stars': 4, 'date': '2024-05-01'}, ` +
	`{'a': 'severe', 'b': 'firsthand', 'stars': 1, 'date': '2023-01-15'}, ` +
	`{'a': 'mild', 'b': 'secondhand', 'stars': 3, 'date': '2020-12-31'}]}`

type corpusCase struct {
	src  string
	want [2]string
}

func corpusCases(t *testing.T) (cases []corpusCase) {
	t.Helper()
	for line := range strings.Lines(corpus) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case line == "" || strings.HasPrefix(line, "# "):
		case strings.HasPrefix(line, "  = "):
			cases[len(cases)-1].want[0] = line[4:]
		case strings.HasPrefix(line, "  ! "):
			cases[len(cases)-1].want[1] = line[4:]
		default:
			src := line
			if strings.HasPrefix(line, `json "`) {
				if err := json.Unmarshal([]byte(line[5:]), &src); err != nil {
					t.Fatal(err)
				}
			}
			cases = append(cases, corpusCase{src: src})
		}
	}
	return cases
}

func TestCorpus(t *testing.T) {
	if *update {
		updateCorpus(t)
		return
	}
	cases := corpusCases(t)
	if len(cases) < 300 {
		t.Fatalf("%d cases, want at least 300", len(cases))
	}
	env := corpusValues(t)
	for _, c := range cases {
		if got := outcome(c.src, env); got != c.want {
			t.Errorf("%s\n  here:    %q\n  CPython: %q", c.src, got, c.want)
		}
	}
}

func corpusValues(t *testing.T) map[string]Value {
	t.Helper()
	e, err := Compile(corpusEnv)
	if err != nil {
		t.Fatal(err)
	}
	v, err := e.Eval(t.Context(), nil, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]Value{}
	for _, e := range v.(*Dict).entries {
		env[string(e.key.(Str))] = e.val
	}
	return env
}

// updateCorpus asks python3 anew for every case.
func updateCorpus(t *testing.T) {
	cases := corpusCases(t)
	var ask [][2]string
	for _, c := range cases {
		ask = append(ask, [2]string{corpusEnv, c.src})
	}
	results, i := python(t, ask), 0
	var out bytes.Buffer
	for line := range strings.Lines(corpus) {
		if strings.HasPrefix(line, "  = ") || strings.HasPrefix(line, "  ! ") {
			continue
		}
		out.WriteString(line)
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "# ") {
			continue
		}
		if r := results[i]; r[1] != "" {
			fmt.Fprintf(&out, "  ! %s\n", r[1])
		} else {
			fmt.Fprintf(&out, "  = %s\n", r[0])
		}
		i++
	}
	if err := os.WriteFile("testdata/corpus.txt", out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
