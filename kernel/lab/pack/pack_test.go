package pack_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"noema/cache/packfile"
	"noema/kernel/lab"
	"noema/kernel/lab/pack"
	"noema/kernel/result/record"
	"noema/kernel/session/builtin"
)

func TestMain(m *testing.M) {
	if builtin.Serve(os.Args[1:]) {
		return
	}
	os.Exit(m.Run())
}

// openLab is a lab with a store of its own.
func openLab(t testing.TB) *lab.Lab {
	t.Helper()
	l := lab.Open(lab.Options{Home: t.TempDir(), Catalog: builtin.Catalog{}, Stderr: io.Discard})
	t.Cleanup(func() { l.Close() })
	return l
}

// packed runs an experiment and packs it. It returns the file and the run's root hash.
func packed(t testing.TB, e lab.Experiment) (file, root string) {
	t.Helper()
	l := openLab(t)
	r, err := l.Run(e)
	if err != nil {
		t.Fatal(err)
	}
	return write(t, l, r.Run), r.Root()
}

func write(t testing.TB, l *lab.Lab, runs ...*record.Run) string {
	t.Helper()
	return redacted(t, l, nil, runs...)
}

func redacted(t testing.TB, l *lab.Lab, redact []string, runs ...*record.Run) string {
	t.Helper()
	var b bytes.Buffer
	w, err := packfile.NewWriter(&b)
	if err == nil {
		_, err = pack.Source{Lab: l, Runs: runs, Noema: "test", Redact: redact}.Write(t.Context(), w)
	}
	if err != nil {
		t.Fatal(err)
	}
	return save(t, b.Bytes())
}

func save(t testing.TB, raw []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "study.noema")
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func verify(t testing.TB, file string) *pack.Verdict {
	t.Helper()
	p, err := packfile.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	v, err := pack.Verify{Catalog: builtin.Catalog{}}.Do(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// changed is a pack with other content whose digests are right: the work of somebody who
// knows the format. A nil content leaves the entry out.
func changed(t testing.TB, file string, change func(name string, data []byte) []byte) string {
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
	did := false
	for _, e := range p.Entries() {
		data, err := p.Read(e.Name)
		if err != nil {
			t.Fatal(err)
		}
		now := change(e.Name, data)
		did = did || !bytes.Equal(now, data)
		if now == nil {
			continue
		}
		if err := w.Add(e.Name, now); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Close(); err != nil || !did {
		t.Fatalf("nothing was changed (%v)", err)
	}
	return save(t, b.Bytes())
}

var small = lab.Experiment{Task: "cafes?n=10", Methods: []string{"direct", "anot"}, Limit: "5", Model: "sim?error=0.1"}

func TestPackVerifies(t *testing.T) {
	t.Parallel()
	file, root := packed(t, small)
	v := verify(t, file)
	if !v.OK || len(v.Runs) != 1 || v.Runs[0].Root != root || !v.Runs[0].Same || len(v.Claims) != 7 {
		t.Errorf("verdict %+v", v)
	}
	p, err := packfile.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	run, err := p.Read("runs/" + v.Runs[0].Run + "/run.json")
	if program := filepath.Base(os.Args[0]); err != nil || !bytes.Contains(run, []byte(`"`+program)) || bytes.Contains(run, []byte("/"+program)) {
		t.Errorf("the run tells of the folder of %s (%v): %s", program, err, run)
	}
}

// TestPackOfTheBuildBefore verifies a pack that the build before this format's rules wrote.
// Tables follow the statistics of the build; all else must hold.
func TestPackOfTheBuildBefore(t *testing.T) {
	t.Parallel()
	v := verify(t, filepath.Join("testdata", "format1.noema"))
	for _, c := range v.Failures {
		if !strings.Contains(c.What, "table") {
			t.Errorf("%s: %s", c.What, c.Wrong)
		}
	}
	if len(v.Runs) != 1 || !v.Runs[0].Same {
		t.Errorf("verdict %+v", v)
	}
}

// TestNothingGivenAwayIsBelieved changes what a pack says, with digests that fit.
func TestNothingGivenAwayIsBelieved(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
	file, _ := packed(t, small)
	in := func(entry, old, new string) func(string, []byte) []byte {
		return func(name string, data []byte) []byte {
			if strings.Contains(name, entry) {
				return bytes.Replace(data, []byte(old), []byte(new), 1)
			}
			return data
		}
	}
	for what, c := range map[string]struct {
		change func(string, []byte) []byte
		says   string
	}{
		"an answer":           {in("trials/", `"answer":{"Value":[`, `"answer":{"Value":[9,`), "trial direct/R00/1: its transcript has the hash"},
		"a cost":              {in("trials/", `"Cost":`, `"Cost":1`), "Cost"},
		"a number of a table": {in("table.json", `"trials":5`, `"trials":4`), ".methods[0].trials is 4, and computed again 5"},
		"a reply":             {in("replies/", `"Text":"`, `"Text":"9 `), "same request, different reply"},
		"a prompt":            {in("replies/", `"Content":"`, `"Content":"x`), "its key is not that of its request"},
		"a root in the list":  {in("study.json", `"root_hash":"`, `"root_hash":"0`), "gives it the root hash 0"},
		"a tree":              {in("study.json", `"tree":"`, `"tree":"0`), "the tree over its 10 trials"},
		"a sample":            {in("samples/", `"ID"`, `"Id"`), "not in the order of their keys"},
		"no trials": {func(name string, data []byte) []byte {
			if strings.Contains(name, "trials/") {
				return nil
			}
			return data
		}, "has 0 of its 10 trials"},
		"no replies": {func(name string, data []byte) []byte {
			if strings.Contains(name, "replies/") {
				return nil
			}
			return data
		}, "not in the store"},
		"no run": {func(name string, data []byte) []byte {
			if strings.Contains(name, "run.json") {
				return nil
			}
			return data
		}, "has no entry"},
		"a program":         {in("run.json", `"label":"direct"`, `"label":"/bin/sh"`), "none of the run's plugins serves it"},
		"an unknown method": {in("run.json", `"method":"direct"`, `"method":"magic"`), "has none of that name"},
		"missing code":      {in("run.json", `"builtin":true`, `"builtin":false`), "is not in the pack"},
		"a flood of trials": {in("run.json", `"epochs":1`, `"epochs":999999999`), "are more than"},
		"a method seed":     {in("run.json", `"task_blob":`, `"seeds":[{"key":"00"}],"task_blob":`), "method seed 00 of run"},
		"another id":        {in("study.json", `"id":"2`, `"id":"../2`), "is not the id of a run"},
		"a later format":    {in("study.json", `"format":1`, `"format":7`), "newer noema"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			v := verify(t, changed(t, file, c.change))
			if v.OK || len(v.Failures) == 0 || !strings.Contains(v.Failures[0].Wrong, c.says) {
				t.Errorf("verdict %+v", v)
			}
		})
	}
}

// TestProveOneTrial gives one trial away, and changes what the proof says.
func TestProveOneTrial(t *testing.T) {
	t.Parallel()
	l := openLab(t)
	r, err := l.Run(small)
	if err != nil {
		t.Fatal(err)
	}
	whole := verify(t, write(t, l, r.Run))
	var b bytes.Buffer
	w, err := packfile.NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	id := r.Trials[7].ID
	tree, err := pack.Source{Lab: l}.Prove(t.Context(), w, r.Run, id)
	if err != nil {
		t.Fatal(err)
	}
	file := save(t, b.Bytes())
	if v := verify(t, file); !v.OK || v.Runs[0].Tree != tree || tree != whole.Runs[0].Tree {
		t.Errorf("verdict %+v", v)
	}
	for _, other := range r.Trials {
		if other.ID.Sample != id.Sample && bytes.Contains(b.Bytes(), []byte(other.ID.String())) {
			t.Errorf("the proof names trial %s", other.ID)
		}
	}
	for _, c := range []struct{ entry, old, new, says string }{
		{"proof.json", `"answer":{"Value":[`, `"answer":{"Value":[9,`, "its transcript has the hash"},
		{"proof.json", `"place":7`, `"place":6`, "invalid"},
		{"proof.json", `"place":7`, `"place":-1`, "outside"},
		{"proof.json", `"path":["`, `"path":["00","`, "has 1 bytes"},
		{"proof.json", `"tree":"`, `"tree":"00`, "has 33 bytes"},
		{"replies/", `"Text":"`, `"Text":"9 `, "the transcript says"},
	} {
		v := verify(t, changed(t, file, func(name string, data []byte) []byte {
			if strings.Contains(name, c.entry) {
				return bytes.Replace(data, []byte(c.old), []byte(c.new), 1)
			}
			return data
		}))
		if v.OK || !strings.Contains(v.Failures[0].Wrong, c.says) {
			t.Errorf("%s: verdict %+v", c.new, v)
		}
	}
}

// TestRedaction takes parts out, looks for what is left of them, and verifies the rest.
func TestRedaction(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
	l := openLab(t)
	r, err := l.Run(small)
	if err != nil {
		t.Fatal(err)
	}
	exchange, err := r.Read(r.Trials[0].ID, r.Trials[0].Calls()[0].Call)
	if err != nil {
		t.Fatal(err)
	}
	prompt, reply, item := exchange.Request.Messages[0].Content[:60], exchange.Record.Completion.Text, r.Samples()[0].Problem.Query
	for _, c := range []struct {
		out                                string
		prompt, reply, item, same, checked bool // are they left, and is everything checked
	}{
		{"prompts", false, true, true, true, true},
		{"replies", true, false, true, false, false},
		{"items,replies", false, false, false, false, false},
	} {
		file := redacted(t, l, strings.Split(c.out, ","), r.Run)
		v := verify(t, file)
		if !v.OK || v.Runs[0].Same != c.same || (len(v.Unchecked) == 0) != c.checked {
			t.Errorf("%s: verdict %+v", c.out, v)
		}
		p, err := packfile.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		var all strings.Builder
		for _, e := range p.Entries() {
			data, err := p.Read(e.Name)
			if err != nil {
				t.Fatal(err)
			}
			all.Write(data)
		}
		p.Close()
		for what, part := range map[string]struct {
			text string
			left bool
		}{"prompt": {prompt, c.prompt}, "reply": {reply, c.reply}, "item": {item, c.item}} {
			quoted, _ := record.Marshal(part.text)
			if strings.Contains(all.String(), strings.Trim(string(quoted), `"`)) != part.left {
				t.Errorf("without %s: is the %s left: %v; it is %s", c.out, what, !part.left, quoted)
			}
		}
		if !c.same {
			bad := verify(t, changed(t, file, func(name string, data []byte) []byte {
				if strings.Contains(name, "trials/") {
					return bytes.Replace(data, []byte(`"hash":"`), []byte(`"hash":"0`), 1)
				}
				return data
			}))
			if bad.OK {
				t.Errorf("without %s: another hash of a trial was accepted", c.out)
			}
		}
	}
	if _, err := (pack.Source{Lab: l, Redact: []string{"names"}}).Write(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "prompts, replies and items") {
		t.Errorf("redact names: %v", err)
	}
}

// TestPrune removes a run and what it alone used; what the other one shares with it stays.
func TestPrune(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
	l := openLab(t)
	both, err := l.Run(small)
	if err != nil {
		t.Fatal(err)
	}
	one := small
	one.Methods = []string{"direct"}
	kept, err := l.Run(one)
	if err != nil {
		t.Fatal(err)
	}
	store, err := l.Store()
	if err != nil {
		t.Fatal(err)
	}
	prune := func(p pack.Prune) *pack.Pruned {
		t.Helper()
		done, err := p.Do(t.Context(), store)
		if err != nil {
			t.Fatal(err)
		}
		return done
	}
	if done := prune(pack.Prune{}); done.Records != 0 || done.Kept == 0 {
		t.Errorf("with every run needed: %+v", done)
	}
	runs := []*record.Run{both.Run}
	if done := prune(pack.Prune{Runs: runs, Before: both.Run.Created}); done.Records != 0 || len(done.Runs) != 1 {
		t.Errorf("of what was received before the run: %+v", done)
	}
	would := prune(pack.Prune{DryRun: true})
	less := prune(pack.Prune{DryRun: true, MaxSize: 1 << 30})
	if would.Records < 20 || less.Records != 0 {
		t.Errorf("would remove %+v, for the size %+v", would, less)
	}
	if done := prune(pack.Prune{}); done.Records != would.Records || done.Kept != would.Kept {
		t.Errorf("removed %+v, and it was to be %+v", done, would)
	}
	if again, err := kept.Replay(); err != nil || !again.Same() {
		t.Errorf("the run that stays: %+v (%v)", again, err)
	}
	if _, err := l.Load(both.ID()); err == nil {
		t.Error("the run is still there")
	}
}

// TestPackOfMissingAnswers: a replay that lacks answers has trials that failed for it, in
// whatever way a method takes it. Such a run is packed and verified as any other: why an
// answer is missing depends on the store, and no hash does.
func TestPackOfMissingAnswers(t *testing.T) {
	t.Parallel()
	l := openLab(t)
	e := lab.Experiment{
		Task: "cafes?n=10", Limit: "2", Model: "sim?error=0.1",
		Methods: []string{"direct", "self-consistency", "anot", "general-anot", "aot", "tot", "escalate"},
	}
	if _, err := l.Run(e); err != nil {
		t.Fatal(err)
	}
	epochs, samples, model, options := e, e, e, e
	epochs.Epochs, samples.Limit, model.Model = 2, "4", "sim?error=0.2"
	options.MethodOptions = map[string]string{"self-consistency.draws": "7", "tot.breadth": "2"}
	for what, e := range map[string]lab.Experiment{"epochs": epochs, "samples": samples, "model": model, "options": options} {
		e.Cache = "replay"
		r, err := l.Run(e)
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		missing := 0
		for _, tr := range r.Result.Trials {
			for _, c := range tr.Calls {
				if c.Fault == record.MissFault {
					missing++
				}
			}
		}
		v := verify(t, write(t, l, r.Run))
		if missing == 0 || !v.OK {
			t.Errorf("%s: %d answers missing", what, missing)
			for _, claim := range v.Claims {
				if claim.Wrong != "" {
					t.Errorf("%s: %s", claim.What, claim.Wrong)
				}
			}
		}
	}
}
