package main

import (
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"noema/kernel/internal/test/hubtest"
	"noema/kernel/task/dataset"
)

// pinned is the commit that a ready mapping means.
func pinned(t *testing.T, repo string) string {
	t.Helper()
	for _, m := range dataset.Mappings() {
		if m.Repo == repo {
			return m.Commit
		}
	}
	t.Fatalf("no ready mapping of %q", repo)
	return ""
}

// TestDatasetByName goes from the name of a public data set to a compared and replayed
// run: the hub is asked by the pull alone, the run records the commit, and its replay
// needs neither hub nor cache.
func TestDatasetByName(t *testing.T) {
	t.Parallel()
	h := hubtest.New(t)
	gsm8k := hubtest.WordProblems(6)
	gsm8k.Commit = pinned(t, "openai/gsm8k")
	h.Add("datasets", "openai/gsm8k", gsm8k)
	user := newCLI(t, "HF_ENDPOINT="+h.URL)
	compare := []string{"compare", "--task", "hf/openai/gsm8k?split=test", "--limit", "3", "--methods", "direct,cot"}

	want(t, user.run(exitUsage, compare...).stderr, `openai/gsm8k: not fetched yet: fetch it with "noema task pull 'hf/openai/gsm8k?split=test'"`)
	pull := user.run(0, "task", "pull", "hf/openai/gsm8k?split=test")
	want(t, pull.stdout, "commit    "+gsm8k.Commit, "licence   mit", "config    main", "split     test", "files     2, ", "use  --task 'hf/openai/gsm8k?split=test'")
	h.Requests()

	run := user.run(0, compare...)
	label := "hf/openai/gsm8k?config=main&revision=" + gsm8k.Commit + "&split=test"
	want(t, run.stdout, label)
	want(t, user.run(0, "runs", "show", "last").stdout, "task        hf/openai/gsm8k version 1, data set openai/gsm8k at commit "+gsm8k.Commit+", main/test-00000-of-00002.parquet of digest ")
	want(t, user.run(0, "runs", "show", "last").stdout, ", licence mit")
	compare[2] = label
	if again := user.run(0, compare...); rootOf(again.stdout) != rootOf(run.stdout) {
		t.Errorf("the recorded name makes another run:\n%s", again.stdout)
	}
	if err := os.RemoveAll(filepath.Join(user.dir, ".cache")); err != nil {
		t.Fatal(err)
	}
	want(t, user.run(0, "replay", "last").stdout, "replayed: the root hash is that of run")
	if asked := h.Requests(); len(asked) > 0 {
		t.Errorf("the hub was asked for %q", asked)
	}
}

// TestDatasetGraded: where a model is to grade, a run says which scorer to give, and
// takes it; more than one may be given.
func TestDatasetGraded(t *testing.T) {
	t.Parallel()
	h := hubtest.New(t)
	h.Add("datasets", "org/own", hubtest.Repo{Files: fstest.MapFS{
		"eval.yaml":  hubtest.Text("tasks:\n- field_spec: {input: q, target: a}\n  scorers: [{name: model_graded_qa}]\n"),
		"test.jsonl": hubtest.Text(`{"q":"What is 2 plus 3?","a":"5"}` + "\n"),
	}})
	user := newCLI(t, "HF_ENDPOINT="+h.URL)
	user.run(0, "task", "pull", "hf/org/own")
	compare := []string{"compare", "--task", "hf/org/own", "--methods", "direct", "--model", "sim"}
	want(t, user.run(exitUsage, compare...).stderr, `task "hf/org/own" names a scorer that noema does not have, "model_graded_qa": choose another with --scorer: exact, includes`)
	want(t, user.run(0, append(compare, "--scorer", "number", "--scorer", "f1")...).stdout, "hf/org/own?config=default&revision=")
	want(t, user.run(0, "task", "show", "hf/org/own").stdout, "What is 2 plus 3?")
}

// TestDatasetRefused shows the exit codes of what cannot be pulled or run.
func TestDatasetRefused(t *testing.T) {
	t.Parallel()
	h := hubtest.New(t)
	gpqa := hubtest.Repo{Gated: true, Commit: pinned(t, "Idavidrein/gpqa")}
	gpqa.Files = hubtest.WordProblems(2).Files
	h.Add("datasets", "Idavidrein/gpqa", gpqa)
	h.Add("datasets", "org/own", hubtest.WordProblems(2))
	user := newCLI(t, "HF_ENDPOINT="+h.URL)
	for _, c := range []struct {
		code int
		name string
		want string
	}{
		{exitError, "hf/Idavidrein/gpqa", "accept its terms at " + h.URL + "/datasets/Idavidrein/gpqa, then set HF_TOKEN"},
		{exitUsage, "hf/org/none", "not found: check the name"},
		{exitUsage, "hf/org/own@v9", `revision "v9": not found`},
		{exitUsage, "hf/a/b/c", "write ORG/NAME"},
		{exitUsage, "cafes", `"cafes" is not a data set of the hub: write hf/ORG/NAME`},
		{exitUsage, "hf/org/own", "write config= for one of its configs: main (train, test), socratic (train, test)"},
		{exitUsage, "hf/org/own?config=x", `there is no config "x": it has main (train, test), socratic (train, test)`},
		{exitUsage, "hf/org/own?config=main&split=dev", `there is no split "dev" in config "main": it has main (train, test)`},
		{exitUsage, "hf/org/own?conf=main", `unknown option "conf", did you mean "config"?`},
		{exitUsage, "hf/org/own?task=x", "task=x: there is no eval.yaml"},
	} {
		want(t, user.run(c.code, "task", "pull", c.name).stderr, c.want)
	}
}
