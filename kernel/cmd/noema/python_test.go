package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	sdk "noema/plugins/python"
)

// doorPython is a Python that can run the tests of the Python package, and the command's file.
func doorPython(t *testing.T, needs string) (python, noema string) {
	t.Helper()
	name := os.Getenv("NOEMA_TEST_PYTHON")
	if name == "" {
		name = "python3"
	}
	python, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("there is no %s: install Python 3.9 or newer, or name one by NOEMA_TEST_PYTHON", name)
	}
	if out, err := exec.Command(python, "-c", "import sys; assert sys.version_info >= (3, 9), 'Python is older than 3.9'\n"+needs).CombinedOutput(); err != nil {
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		t.Skipf("%s lacks what the test needs (%s): install it, or name another Python by NOEMA_TEST_PYTHON", python, lines[len(lines)-1])
	}
	if noema, err = exec.LookPath("noema"); err != nil {
		t.Fatal(err)
	}
	return python, noema
}

// runDoor runs Python with the package from its sources and this test's command.
func runDoor(t *testing.T, home string, args ...string) string {
	t.Helper()
	python, noema := doorPython(t, "import google.protobuf")
	source, err := filepath.Abs("../../../plugins/python/src")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), python, args...)
	cmd.Env = append(os.Environ(), "NOEMA="+noema, "NOEMA_HOME="+home, "NOEMA_MAX_SAMPLES="+fewAtOnce, "PYTHONPATH="+source, "PYTHONDONTWRITEBYTECODE=1", "WANDB_SILENT=true")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// TestPythonDoor runs the tests of experiments from Python. Those for which a package is
// missing are skipped there, and say so.
func TestPythonDoor(t *testing.T) {
	const folder = "../../../plugins/python/tests/door"
	for _, name := range []string{"test_compare", "test_functions", "test_notebook", "test_interrupt"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if testing.Short() && name != "test_functions" {
				t.Skip("long")
			}
			out := runDoor(t, t.TempDir(), "-m", "unittest", "discover", "-v", "-s", folder, "-p", name+".py")
			if !strings.Contains(out, "\nOK") {
				t.Error(out)
			}
			for line := range strings.Lines(out) {
				if strings.Contains(line, "skipped ") {
					t.Log(strings.TrimSpace(line))
				}
			}
		})
	}
}

// TestSameRootFromEverywhere holds that an experiment is the same one from Python, the command
// line, a file and a cell.
func TestSameRootFromEverywhere(t *testing.T) {
	t.Parallel()
	c := newCLI(t)
	const methods = "direct,cot"
	want := c.summary("compare", "--task", "arithmetic", "--methods", methods, "--limit", "5", "--seed", "3").RootHash
	out := runDoor(t, t.TempDir(), "-c", `import noema; print("root", noema.compare("arithmetic", ["direct", "cot"], limit=5, seed=3).root)`)
	if !strings.Contains(out, "root "+want) {
		t.Errorf("Python says %s, the command %s", out, want)
	}
	dir := t.TempDir()
	const cell = `package main

import (
	"fmt"

	. "noema/kernel/lab"
	"noema/kernel/session/builtin"
)

func main() {
	lab := builtin.Open()
	result, err := lab.Run(Experiment{Task: "arithmetic", Methods: []string{"direct", "cot"}, Limit: 5, Seed: 3})
	fmt.Println("root", result.Root(), err)
}
`
	for name, text := range map[string]string{"experiment.yaml": "task: arithmetic\nmethods: [direct, cot]\nlimit: 5\nseed: 3\n", "cell.go": cell} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if r := c.run(0, "run", file); !strings.Contains(r.stdout, want) {
			t.Errorf("%s prints %s, want root %s", name, r.stdout, want)
		}
	}
}

// TestFreshInstall installs a wheel with this command in it where nothing else is, and compares.
func TestFreshInstall(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	python, noema := doorPython(t, "import venv, ensurepip")
	command, err := os.ReadFile(noema)
	if err != nil {
		t.Fatal(err)
	}
	name, wheel, err := sdk.WheelWith("linux/amd64", command)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file, fresh := filepath.Join(dir, name), filepath.Join(dir, "fresh")
	if err := os.WriteFile(file, wheel, 0o644); err != nil {
		t.Fatal(err)
	}
	const lines = `
import noema, sys
r = noema.compare("cafes", ["direct", "cot"], limit=3)
print(r)
assert r.trials.rows() and "grpc" not in sys.modules and "google" not in sys.modules
`
	for _, args := range [][]string{
		{python, "-m", "venv", fresh},
		{filepath.Join(fresh, "bin", "pip"), "install", "-q", "--no-index", "--no-deps", "--disable-pip-version-check", file},
		{filepath.Join(fresh, "bin", "noema"), "version"},
		{filepath.Join(fresh, "bin", "python"), "-c", lines},
	} {
		cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
		cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + dir} // without Go, and without another noema
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		if args[1] == "-c" && !strings.Contains(string(out), "root      ") {
			t.Errorf("no table: %s", out)
		}
	}
	t.Logf("the wheel has %.1f MB, its command %.1f MB", float64(len(wheel))/1e6, float64(len(command))/1e6)
}

// TestErrorsAsJSON holds that a verb with --json prints one object, whatever happens.
func TestErrorsAsJSON(t *testing.T) {
	t.Parallel()
	c := newCLI(t)
	schema := schemaOf(t, c, "error")
	for _, want := range []struct {
		code              int
		args              []string
		kind, hint, place string
	}{
		{exitUsage, []string{"compare", "--methods", "cott"}, "usage", `did you mean "cot"`, ""},
		{exitUsage, []string{"compare", "--methods", "cot", "--limt", "2"}, "usage", "see", "--limt"},
		{exitUsage, []string{"compare", "--methods", "cot", "--md"}, "usage", "leave one of them out", "--md"},
		{exitUsage, []string{"runs", "show", "last"}, "usage", `"noema runs list" lists all runs`, ""},
		{exitUsage, []string{"compare", "--task", "nope", "--methods", "cot"}, "usage", "the generated tasks are", ""},
	} {
		r := c.run(want.code, append(want.args, "--json")...)
		var found errorJSON
		if err := json.Unmarshal([]byte(r.stdout), &found); err != nil {
			t.Fatalf("%v: %v in %q", want.args, err, r.stdout)
		}
		validate(t, schema, r.stdout)
		e := found.Error
		if e.Code != want.kind || e.Message == "" || !strings.Contains(e.Hint, want.hint) || e.Place != want.place {
			t.Errorf("%v: %+v", want.args, e)
		}
	}
	if r := c.run(exitUsage, "compare", "--methods", "cott"); r.stdout != "" {
		t.Errorf("without --json it prints %q", r.stdout)
	}
}

// schemaOf is a schema of the command.
func schemaOf(t *testing.T, c *cli, name string) *jsonschema.Schema {
	t.Helper()
	raw, err := jsonschema.UnmarshalJSON(strings.NewReader(c.run(0, "schema", name).stdout))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource(name+".json", raw); err != nil {
		t.Fatal(err)
	}
	s, err := compiler.Compile(name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func validate(t *testing.T, s *jsonschema.Schema, text string) {
	t.Helper()
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err == nil {
		err = s.Validate(value)
	}
	if err != nil {
		t.Errorf("%v in %.500s", err, text)
	}
}

// TestSchemas holds what the command prints to its schemas.
func TestSchemas(t *testing.T) {
	t.Parallel()
	c := newCLI(t)
	run := c.run(0, "compare", "--methods", "direct,anot", "--limit", "2", "--json", "--progress", "json")
	progress := schemaOf(t, c, "progress")
	lines := slices.Collect(strings.Lines(run.stderr))
	for _, line := range lines {
		validate(t, progress, line)
	}
	if len(lines) < 2 {
		t.Errorf("progress is %q", run.stderr)
	}
	printed := map[string][]string{
		"run": {run.stdout}, "comparison": {c.run(0, "compare", "last", "--json").stdout}, "replay": {c.run(0, "replay", "last", "--json").stdout},
	}
	for name, args := range map[string]string{
		"runs": "runs list", "tasks": "task list", "methods": "plugin list", "models": "model list", "doctor": "doctor", "version": "version",
	} {
		printed[name] = []string{c.run(0, append(strings.Fields(args), "--json")...).stdout}
	}
	for _, rows := range []string{"trials", "calls"} {
		printed[rows] = slices.Collect(strings.Lines(c.run(0, "runs", "export", "last", "--rows", rows).stdout))
	}
	for _, name := range slices.Sorted(maps.Keys(printed)) {
		schema := schemaOf(t, c, name)
		for _, text := range printed[name] {
			validate(t, schema, text)
		}
	}
	for _, d := range documents() {
		if len(printed[d.Name]) == 0 && d.Name != "error" && d.Name != "progress" {
			t.Errorf("schema %s: nothing that is printed was held to it", fmt.Sprint(d.Name))
		}
	}
}
