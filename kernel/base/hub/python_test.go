package hub_test

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"noema/kernel/base/hub"
	"noema/kernel/internal/test/hubtest"
)

// python runs a program of Python with the module huggingface_hub, or skips
// the test where there is none.
func python(t *testing.T, c *hub.Client, program string) string {
	t.Helper()
	name := cmp.Or(os.Getenv("NOEMA_TEST_PYTHON"), "python3")
	cmd := exec.CommandContext(t.Context(), name, "-c", "try: from huggingface_hub import *\nexcept ImportError: exit(77)\n"+program)
	cmd.Env = append(os.Environ(), "HF_ENDPOINT="+c.Endpoint, "HF_HOME="+filepath.Dir(c.Cache), "HF_HUB_DISABLE_TELEMETRY=1", "HF_HUB_DISABLE_PROGRESS_BARS=1")
	out, err := cmd.Output()
	var exit *exec.ExitError
	switch {
	case errors.Is(err, exec.ErrNotFound) || errors.As(err, &exit) && exit.ExitCode() == 77:
		t.Skipf("%s has no huggingface_hub: pip install it, or set NOEMA_TEST_PYTHON to a Python that has it", name)
	case exit != nil:
		t.Fatalf("%v: %s", err, exit.Stderr)
	case err != nil:
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// contents are the requests for files' contents.
func contents(asked []string) (found []string) {
	for _, r := range asked {
		if strings.HasPrefix(r, "GET") && (strings.Contains(r, "resolve") || strings.HasSuffix(r, " cdn")) {
			found = append(found, r)
		}
	}
	return found
}

// TestPythonFindsOurs: Python's client works on the test's hub, and what we
// have fetched it neither fetches again nor finds wrong.
func TestPythonFindsOurs(t *testing.T) {
	h := hubtest.New(t)
	repo := model()
	h.Add("models", "org/tiny", repo)
	c, _ := client(t, h)
	_, s, err := pull(t, c, "org/tiny")
	if err != nil {
		t.Fatal(err)
	}
	h.Requests()
	got := strings.Split(python(t, c, `
print(hf_hub_download("org/tiny", "model.safetensors"))
snapshot_download("org/tiny")
print(snapshot_download("org/tiny", local_files_only=True))
r = scan_cache_dir()
print(len(r.warnings), [(x.repo_id, x.repo_type, x.nb_files, sorted(x.refs)) for x in r.repos])`), "\n")
	want := []string{filepath.Join(s.Dir, "model.safetensors"), s.Dir, `0 [('org/tiny', 'model', 5, ['main'])]`}
	if !slices.Equal(got, want) {
		t.Errorf("Python finds %q, want %q", got, want)
	}
	if asked := contents(h.Requests()); len(asked) > 0 {
		t.Errorf("Python fetched again: %q", asked)
	}
}

// TestWeFindPythons: what Python has fetched we do not fetch again.
func TestWeFindPythons(t *testing.T) {
	h := hubtest.New(t)
	repo := model()
	commit := h.Add("models", "org/tiny", repo)
	h.Add("datasets", "org/rows", repo)
	c, _ := client(t, h)
	dir := python(t, c, `print(snapshot_download("org/tiny")); snapshot_download("org/rows", repo_type="dataset")`)
	asked := h.Requests()
	if !strings.Contains(strings.Join(asked, "\n"), " cdn") {
		t.Errorf("Python did not fetch from the second host: %q", asked)
	}
	dir, _, _ = strings.Cut(dir, "\n")
	s, err := c.Find(hub.Ref{Kind: hub.Model, ID: "org/tiny"})
	if err != nil || s.Commit != commit || s.Dir != dir {
		t.Errorf("found %+v, %v; want %s", s, err, dir)
	}
	same(t, s.Dir, repo.Files)
	if _, err := c.Find(hub.Ref{Kind: hub.Dataset, ID: "org/rows"}); err != nil {
		t.Error(err)
	}
	if asked := h.Requests(); len(asked) > 0 {
		t.Errorf("finding asked %q", asked)
	}
	if _, _, err := pull(t, c, "org/tiny"); err != nil {
		t.Fatal(err)
	}
	if again := contents(h.Requests()); len(again) > 0 {
		t.Errorf("fetched again what Python had fetched: %q", again)
	}
}

// TestPythonAfterFailures: what a refused fetch and one that was cut off leave is not
// corrupt to Python, and what was cut off Python can fetch.
func TestPythonAfterFailures(t *testing.T) {
	h := hubtest.New(t)
	gated, cut := model(), model()
	gated.Gated, cut.Cut = true, 1000
	h.Add("models", "org/gated", gated)
	h.Add("models", "org/cut", cut)
	c, _ := client(t, h)
	if _, _, err := pull(t, c, "org/gated"); !errors.Is(err, hub.ErrGated) {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	c.Progress = func(_ string, have, size int64) {
		if have > 0 && have < size {
			cancel()
		}
	}
	l, err := c.List(ctx, hub.Ref{Kind: hub.Model, ID: "org/cut"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Fetch(ctx, l, l.Files); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	cut.Cut = 0
	h.Add("models", "org/cut", cut)
	got := python(t, c, `
r = scan_cache_dir()
print(len(r.warnings), sorted(x.repo_id for x in r.repos))
snapshot_download("org/cut")
print(len(scan_cache_dir().warnings))`)
	if want := "0 ['org/cut']\n0"; got != want {
		t.Errorf("Python says %q, want %q", got, want)
	}
}

// TestPythonOnAGatedHub shows that the test's hub says what the real one does.
func TestPythonOnAGatedHub(t *testing.T) {
	h := hubtest.New(t)
	repo := model()
	repo.Gated = true
	h.Add("models", "org/gated", repo)
	h.Add("models", "org/tiny", model())
	c, _ := client(t, h)
	got := python(t, c, `
def kind(*args, **more):
    try:
        hf_hub_download(*args, **more)
    except Exception as e:
        return type(e).__name__
print(kind("org/gated", "config.json"), kind("org/none", "config.json"), kind("org/tiny", "none"), kind("org/tiny", "config.json", revision="v9"))`)
	if want := "GatedRepoError RepositoryNotFoundError RemoteEntryNotFoundError RevisionNotFoundError"; got != want {
		t.Errorf("Python says %s, want %s", got, want)
	}
}
