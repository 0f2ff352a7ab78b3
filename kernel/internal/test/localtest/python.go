package localtest

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Python runs a script on jobs, one JSON value per line of its input, and
// decodes as many values of its output into answers, which are pointers. It
// skips the test where no Python has the modules: the one that
// NOEMA_TEST_PYTHON names, or else python3.
func Python(t testing.TB, script string, jobs, answers []any, modules ...string) {
	t.Helper()
	name := os.Getenv("NOEMA_TEST_PYTHON")
	if name == "" {
		name = "python3"
	}
	need := strings.Join(modules, ", ")
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("no Python: set NOEMA_TEST_PYTHON to one that has %s", need)
	}
	if err := exec.CommandContext(t.Context(), path, "-c", "import "+need).Run(); err != nil {
		t.Skipf("%s does not have all of %s: set NOEMA_TEST_PYTHON to one that has", path, need)
	}
	var in, stderr bytes.Buffer
	for _, j := range jobs {
		raw, err := json.Marshal(j)
		if err != nil {
			t.Fatal(err)
		}
		in.Write(append(raw, '\n'))
	}
	cmd := exec.CommandContext(t.Context(), path, "-c", script)
	cmd.Stdin, cmd.Stderr = &in, &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", path, err, stderr.String())
	}
	dec := json.NewDecoder(bytes.NewReader(out))
	for _, a := range answers {
		if err := dec.Decode(a); err != nil {
			t.Fatalf("answer of %s: %v", path, err)
		}
	}
}
