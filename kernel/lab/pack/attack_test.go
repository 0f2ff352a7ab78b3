package pack_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"noema/cache"
	"noema/cache/packfile"
	"noema/kernel/lab"
	"noema/kernel/lab/pack"
	"noema/kernel/result/record"
	"noema/kernel/run/runner"
	"noema/kernel/session/builtin"
	"noema/plugins"
)

// forged is a pack of a run that somebody changed in a store, with every hash right.
func forged(t *testing.T, change func(*testing.T, *lab.Lab, *record.Run, []*record.Trial)) string {
	t.Helper()
	l := openLab(t)
	r, err := l.Run(small)
	if err != nil {
		t.Fatal(err)
	}
	store, err := l.Store()
	if err != nil {
		t.Fatal(err)
	}
	run := *r.Run
	change(t, l, &run, r.Result.Trials)
	byID, hashes := map[record.TrialID]*record.Trial{}, []string{}
	for _, trial := range r.Result.Trials {
		byID[trial.ID] = trial
	}
	for _, id := range run.Trials() {
		trial := byID[id]
		if err := trial.Seal(); err != nil {
			t.Fatal(err)
		}
		raw, err := record.Marshal(trial)
		if err == nil {
			err = store.PutTrial(t.Context(), run.ID, id.String(), raw)
		}
		if err != nil {
			t.Fatal(err)
		}
		hashes = append(hashes, trial.Hash)
	}
	if run.Digest, err = run.Config.Digest(); err != nil {
		t.Fatal(err)
	}
	run.Root = record.Root(run.Digest, hashes)
	raw, err := record.Marshal(run)
	if err == nil {
		err = store.PutRun(t.Context(), run.ID, raw)
	}
	if err != nil {
		t.Fatal(err)
	}
	return write(t, l, &run)
}

// reblob changes the text of a run's first sample, and of the list that names it.
func reblob(t *testing.T, l *lab.Lab, run *record.Run, old, now string) {
	t.Helper()
	store, err := l.Store()
	if err != nil {
		t.Fatal(err)
	}
	parts, err := runner.TaskBlobs(t.Context(), store, run)
	if err != nil {
		t.Fatal(err)
	}
	replace := func(name, old, now string) string {
		key, err := cache.ParseKey(name)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := store.Blob(t.Context(), key)
		if err != nil || !bytes.Contains(raw, []byte(old)) {
			t.Fatalf("blob %s lacks %s (%v)", raw, old, err)
		}
		fresh, err := store.PutBlob(t.Context(), bytes.Replace(raw, []byte(old), []byte(now), 1))
		if err != nil {
			t.Fatal(err)
		}
		return fresh.String()
	}
	run.Blob = replace(run.Blob, parts[0], replace(parts[0], old, now))
}

// TestForgedRuns verifies packs whose hashes and tables are all right and whose runs are not.
func TestForgedRuns(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
	for what, c := range map[string]struct {
		change func(*testing.T, *lab.Lab, *record.Run, []*record.Trial)
		wrong  string // what it gets wrong; empty if nobody can check it …
		says   string // … and this is told
	}{
		"failures of the infrastructure": {func(_ *testing.T, _ *lab.Lab, _ *record.Run, trials []*record.Trial) {
			trials[0].Infra, trials[3].Infra = true, true
		}, "", "that 2 of its 10 trials failed, such as direct/R00/1"},
		"which calls overlapped": {func(_ *testing.T, _ *lab.Lab, _ *record.Run, trials []*record.Trial) {
			for i, t := range trials {
				for j := range t.Calls {
					t.Calls[j].Unordered = (i+j)%3 > 0
				}
			}
		}, "", "which equal calls were under way at once"},
		"another group of a sample": {func(t *testing.T, l *lab.Lab, run *record.Run, _ []*record.Trial) {
			reblob(t, l, run, `"Group":"`, `"Group":"x`)
		}, `sample "R00": .Group is`, ""},
		"a sample twice": {func(_ *testing.T, _ *lab.Lab, run *record.Run, _ []*record.Trial) {
			run.Config.Task.Samples = []string{"R00", "R00", "R01"}
		}, `sample "R00" twice`, ""},
		"samples left out without a rule": {func(_ *testing.T, _ *lab.Lab, run *record.Run, _ []*record.Trial) {
			run.Asked = []int{5, 2}
		}, "no rule by which it may end early", ""},
		"a method by path": {func(_ *testing.T, _ *lab.Lab, run *record.Run, _ []*record.Trial) {
			run.Plugins[0].Method = "/bin/sh"
		}, "which is not a name", ""},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			v := verify(t, forged(t, c.change))
			if c.wrong != "" {
				if v.OK || !strings.Contains(v.Failures[0].Wrong, c.wrong) {
					t.Errorf("verdict %+v", v)
				}
				return
			}
			if !v.OK || len(v.Unchecked) != 1 || v.Unchecked[0].What != c.says {
				t.Errorf("verdict %+v", v)
			}
		})
	}
}

// TestSampleThatIsNotThere renames a sample in the data, under right keys.
func TestSampleThatIsNotThere(t *testing.T) {
	t.Parallel()
	file, _ := packed(t, small)
	keyOf := func(line []byte) []byte { return fmt.Appendf(nil, "%x", sha256.Sum256(line)) }
	var was, now []byte // the key of the list of samples
	renamed := changed(t, file, func(name string, data []byte) []byte {
		if !strings.HasPrefix(name, "samples/") {
			return data
		}
		var old, fresh []byte
		lines := bytes.SplitAfter(data, []byte("\n"))
		for i, line := range lines {
			if bytes.Contains(line, []byte(`"ID":"R00"`)) {
				lines[i] = bytes.Replace(line, []byte(`"ID":"R00"`), []byte(`"ID":"R99"`), 1)
				old, fresh = keyOf(line), keyOf(lines[i])
			}
		}
		for i, line := range lines {
			if bytes.Contains(line, old) {
				lines[i] = bytes.Replace(line, old, fresh, 1)
				was, now = keyOf(line), keyOf(lines[i])
			}
		}
		slices.SortFunc(lines, func(a, b []byte) int { return bytes.Compare(keyOf(a), keyOf(b)) })
		return bytes.Join(lines, nil)
	})
	v := verify(t, changed(t, renamed, func(name string, data []byte) []byte {
		if strings.HasSuffix(name, "run.json") {
			return bytes.Replace(data, was, now, 1)
		}
		return data
	}))
	if v.OK || !strings.Contains(v.Failures[0].Wrong, `has sample "R00" 0 times`) {
		t.Errorf("verdict %+v", v)
	}
}

// TestWhatAStudySaysOfItself changes study.json and adds a file that it does not name.
func TestWhatAStudySaysOfItself(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
	file, _ := packed(t, small)
	for _, c := range []struct{ old, new, says string }{
		{`"simulated":true`, `"simulated":false`, ".simulated is false, and computed again true"},
		{`"runs":[{`, `"redacted":["names"],"runs":[{`, `redact "names"`},
		{`"id":"`, `"id":"last`, "is not the id of a run"},
		{`"model":"`, `"model":"openai/`, ".model is"},
	} {
		v := verify(t, changed(t, file, func(name string, data []byte) []byte {
			if name == "study.json" {
				return bytes.Replace(data, []byte(c.old), []byte(c.new), 1)
			}
			return data
		}))
		if v.OK || !strings.Contains(v.Failures[0].Wrong, c.says) {
			t.Errorf("%s: verdict %+v", c.new, v)
		}
	}
	twice := verify(t, changed(t, file, func(name string, data []byte) []byte {
		if name != "study.json" {
			return data
		}
		var s pack.Study
		if err := json.Unmarshal(data, &s); err != nil {
			t.Fatal(err)
		}
		s.Runs = append(s.Runs, s.Runs[0])
		data, err := record.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}))
	if twice.OK || !strings.Contains(twice.Failures[0].Wrong, "twice") {
		t.Errorf("a run twice: verdict %+v", twice)
	}
	more := verify(t, added(t, file, "RESULTS.txt", "anot is best"))
	if more.OK || !strings.Contains(more.Failures[0].Wrong, "RESULTS.txt: no noema writes this file here") {
		t.Errorf("a file more: verdict %+v", more)
	}
}

// added is a pack with a file more.
func added(t *testing.T, file, name, text string) string {
	t.Helper()
	p, err := packfile.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var b bytes.Buffer
	w, err := packfile.NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range p.Entries() {
		data, err := p.Read(e.Name)
		if err == nil {
			err = w.Add(e.Name, data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Add(name, []byte(text)); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return save(t, b.Bytes())
}

// TestForeignCode verifies a run whose method is a program that came in the pack.
func TestForeignCode(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
	file := forged(t, func(t *testing.T, l *lab.Lab, run *record.Run, _ []*record.Trial) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, plugins.ManifestName), []byte("name: direct\ncommand: [sleep, \"1000\"]\n"), 0o500); err != nil {
			t.Fatal(err)
		}
		src, err := plugins.At(dir)
		if err != nil {
			t.Fatal(err)
		}
		digest, err := plugins.CodeDigest(src)
		if err != nil {
			t.Fatal(err)
		}
		run.Plugins[0] = record.Plugin{Method: "direct", Path: dir, Digest: digest}
		run.Config.Methods[0].Code = digest
	})
	isolated := func(full bool) func() (string, bool) { return func() (string, bool) { return "files=none", full } }
	for _, c := range []struct {
		verify pack.Verify
		file   string
		says   string
	}{
		{pack.Verify{Isolation: isolated(false)}, file, "does not isolate it (files=none)"},
		{pack.Verify{Isolation: isolated(false), Weak: true, Timeout: time.Millisecond}, file, "its code took longer than 1ms"},
		{pack.Verify{Isolation: isolated(true), Timeout: time.Millisecond}, file, "its code took longer than 1ms"},
		{pack.Verify{}, added(t, file, codeOf(t, file)+"/more.py", "x"), "has the digest"},
		{pack.Verify{}, changed(t, file, func(name string, data []byte) []byte {
			if strings.HasSuffix(name, plugins.ManifestName) {
				return append(data, '#')
			}
			return data
		}), "has the digest"},
		{pack.Verify{}, changed(t, file, func(name string, data []byte) []byte {
			return bytes.Replace(data, []byte(`"folder":true`), []byte(`"folder":false`), 1)
		}), "has the digest"},
	} {
		p, err := packfile.Open(c.file)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		c.verify.Catalog = builtin.Catalog{}
		v, err := c.verify.Do(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		if v.OK || !strings.Contains(v.Failures[0].Wrong, c.says) {
			t.Errorf("want %q: verdict %+v", c.says, v)
		}
	}
}

// codeOf is the folder of the only plugin in a pack.
func codeOf(t *testing.T, file string) string {
	t.Helper()
	p, err := packfile.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for _, e := range p.Entries() {
		if strings.HasPrefix(e.Name, "code/") {
			return path.Dir(e.Name)
		}
	}
	t.Fatal("the pack has no code")
	return ""
}

// TestFlippedBits flips bits of a pack of 300 trials, 200 with NOEMA_BENCH. Each must be
// found, with its place.
func TestFlippedBits(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
	file, _ := packed(t, lab.Experiment{Task: "cafes", Methods: []string{"direct"}, Epochs: 3, Model: "sim?error=0.1"})
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	place := regexp.MustCompile(`entry|byte \d+|check \S+:|manifest\.json|zip|format`)
	random := rand.New(rand.NewPCG(21, 0))
	flips := 30
	if os.Getenv("NOEMA_BENCH") != "" {
		flips = 200
	}
	for range flips {
		at, bit := random.IntN(len(raw)), byte(1)<<random.IntN(8)
		raw[at] ^= bit
		wrong := ""
		if p, err := packfile.Open(save(t, raw)); err != nil {
			wrong = err.Error()
		} else {
			v, err := pack.Verify{Catalog: builtin.Catalog{}}.Do(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			p.Close()
			if !v.OK {
				wrong = v.Failures[0].Wrong
			}
		}
		if !place.MatchString(wrong) {
			t.Errorf("bit %#x of byte %d of %d: found %q", bit, at, len(raw), wrong)
		}
		raw[at] ^= bit
	}
}

// TestHostileStudies opens packs that are whole and say what no noema writes.
func TestHostileStudies(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
	many := func(one string, n int) string { return strings.Repeat(one+",", n-1) + one }
	for what, c := range map[string]struct {
		entries map[string]string
		says    string
	}{
		"nothing":                  {map[string]string{"README.md": "x"}, "no entry \"study.json\""},
		"deep JSON":                {map[string]string{"study.json": strings.Repeat("[", 1<<20)}, "exceeded max depth"},
		"deep runs":                {map[string]string{"study.json": `{"runs":` + strings.Repeat(`{"x":`, 20_000)}, "max depth"},
		"a million plugins":        {map[string]string{"study.json": `{"code":[` + many(`{}`, 1e6) + `]}`}, "1000000 plugins"},
		"a million runs":           {map[string]string{"study.json": `{"runs":[` + many(`{}`, 1e6) + `]}`}, "1000000 runs"},
		"a plugin twice":           {map[string]string{"study.json": `{"code":[` + many(`{"digest":"a"}`, 2) + `]}`}, "twice"},
		"code by a path":           {map[string]string{"study.json": `{"code":[{"digest":"../../x","name":"m"}]}`}, "is not in the pack"},
		"code without file":        {map[string]string{"study.json": `{"code":[{"digest":"a","name":"m","folder":true}]}`}, "m"},
		"two files, one name":      {map[string]string{"study.json": `{"code":[{"digest":"a","name":"m","folder":true}]}`, "code/a/x": "1", "code/a/x/y": "2"}, "not a directory"},
		"a giant line":             {map[string]string{"study.json": `{}`, "replies/00000.jsonl.zst": strings.Repeat("x", 60<<20) + "\n"}, "does not begin with its key"},
		"a record of nothing":      {map[string]string{"study.json": `{}`, "replies/00000.jsonl.zst": "{}\n"}, "does not begin with its key"},
		"a record a million times": {map[string]string{"study.json": `{}`, "samples/00000.jsonl.zst": strings.Repeat("{}\n", 1e6)}, "line 2: records are not in the order"},
		"a record of two keys":     {map[string]string{"study.json": `{}`, "tools/00000.jsonl.zst": `{"key":"` + strings.Repeat("0", 64) + `","tool":{},"key":"` + strings.Repeat("1", 64) + `"}` + "\n"}, "it has two keys"},
		"a null record":            {map[string]string{"study.json": `{}`, "tools/00000.jsonl.zst": "null\n"}, "does not begin with its key"},
		"a raw record":             {map[string]string{"study.json": `{}`, "seeds/00000.jsonl.zst": `{"key":"` + strings.Repeat("0", 64) + `","raw":"////"}` + "\n"}, "none of the"},
		"no end of a line":         {map[string]string{"study.json": `{}`, "tools/00000.jsonl.zst": "{}"}, "has no end"},
		"a proof of nothing":       {map[string]string{"proof.json": `{"run":{"trials":1}}`}, "decode trial"},
		"a negative run":           {map[string]string{"study.json": `{"runs":[{"id":"20261122-000000-aaaa","trials":-1}]}`}, "no entry"},
		"a run of nothing":         {map[string]string{"study.json": `{"runs":[{"id":"20261122-000000-aaaa"}]}`, "runs/20261122-000000-aaaa/run.json": "{}"}, "is of run"},
		"a null run":               {map[string]string{"study.json": `{"runs":[null]}`}, "is not the id of a run"},
		"an imported root":         {map[string]string{"study.json": `{"runs":[{"id":"20261122-000000-aaaa","root_hash":"a"}]}`, "runs/20261122-000000-aaaa/run.json": `{"id":"20261122-000000-aaaa","root_hash":"a","status":"finished","imported":{}}`}, "has a root hash"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			v := verify(t, packOf(t, c.entries))
			if v.OK || !strings.Contains(v.Failures[len(v.Failures)-1].Wrong, c.says) {
				t.Errorf("verdict %+v", v)
			}
		})
	}
}

// packOf is a pack of these files.
func packOf(t *testing.T, entries map[string]string) string {
	t.Helper()
	var b bytes.Buffer
	w, err := packfile.NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		if err := w.Add(name, []byte(entries[name])); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return save(t, b.Bytes())
}
