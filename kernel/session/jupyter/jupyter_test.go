package jupyter_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"noema/kernel/lab"
	"noema/kernel/session/builtin"
	"noema/kernel/session/jupyter"
)

// TestMain lets the test's own program be the kernel that Jupyter starts.
func TestMain(m *testing.M) {
	if builtin.Serve(os.Args[1:]) {
		return
	}
	if len(os.Args) == 3 && os.Args[1] == "kernel" {
		if err := serve(os.Args[2]); err != nil {
			os.Stderr.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func serve(file string) error {
	c, err := jupyter.ReadConnection(file)
	if err != nil {
		return err
	}
	home := os.Getenv("NOEMA_HOME")
	s, l, err := builtin.NewSession(builtin.SessionOptions{Lab: lab.Options{Home: home, Catalog: builtin.Catalog{}}, Capture: true})
	if err != nil {
		return err
	}
	defer l.Close()
	defer s.Close()
	return jupyter.Run(context.Background(), c, s, jupyter.Options{History: filepath.Join(home, "history.jsonl"), Version: "test"})
}

// python finds an interpreter that has the modules, or skips the test.
func python(t testing.TB, modules ...string) string {
	t.Helper()
	name := os.Getenv("NOEMA_TEST_PYTHON")
	if name == "" {
		name = "python3"
	}
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("no %s here: install Python, or set NOEMA_TEST_PYTHON", name)
	}
	if out, err := exec.Command(path, "-c", "import "+strings.Join(modules, ", ")).CombinedOutput(); err != nil {
		t.Skipf("%s lacks one of %v: pip install it, or set NOEMA_TEST_PYTHON\n%s", path, modules, out)
	}
	return path
}

// script runs one of testdata's with the kernel installed for it.
func script(t testing.TB, modules []string, args ...string) []byte {
	t.Helper()
	interpreter := python(t, modules...)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data := t.TempDir()
	t.Setenv("JUPYTER_DATA_DIR", data)
	t.Setenv("JUPYTER_PREFER_ENV_PATH", "0") // before a kernel of the environment's own
	if _, err := jupyter.Install(jupyter.Place{}, self, "kernel"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, interpreter, args...)
	cmd.Dir = "testdata"
	cmd.Env = append(os.Environ(), "NOEMA_HOME="+t.TempDir())
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %v\n%s%s", args, err, &out, &errs)
	}
	if out.Len() == 0 { // unittest speaks on stderr
		return errs.Bytes()
	}
	return out.Bytes()
}

// TestOfficialSuite runs the tests that Jupyter has for kernels.
func TestOfficialSuite(t *testing.T) {
	out := string(script(t, []string{"jupyter_kernel_test"}, "suite.py", "-v"))
	if !strings.Contains(out, "\nOK") {
		t.Errorf("the suite says\n%s", out)
	}
	if strings.Contains(out, "skipped") {
		t.Errorf("something was skipped\n%s", out)
	}
}

// stress is what stress.py prints.
type stress struct {
	Prints struct {
		Seconds float64
		Lines   int
		Last    string
	}
	Display struct {
		Seconds float64
		Bytes   int
	}
	Reconnects     int
	Second         string
	Stalled        struct{ Seconds, Next float64 }
	ForgedAnswered bool   `json:"forged_answered"`
	ForgedRan      string `json:"forged_ran"`
	Failures       map[string][4]string
	Interrupts     map[string][3]any
	Live           []string
	Aborted        string
	Expressions    map[string]string
	Ended          bool
}

func TestUnderStress(t *testing.T) {
	var got stress
	if err := json.Unmarshal(script(t, []string{"jupyter_client", "zmq"}, "stress.py"), &got); err != nil {
		t.Fatal(err)
	}
	if got.Prints.Lines != 20000 || got.Prints.Last != "19999" {
		t.Errorf("of 20,000 lines came %d, the last is %q", got.Prints.Lines, got.Prints.Last)
	}
	if got.Prints.Seconds > 3 || got.Stalled.Seconds > 10 || got.Stalled.Next > 2 {
		t.Errorf("20,000 lines took %.1f s, 30 MB beside a stalled subscriber %.1f s, the next cell %.1f s",
			got.Prints.Seconds, got.Stalled.Seconds, got.Stalled.Next)
	}
	if got.Display.Bytes != 50<<20 {
		t.Errorf("a display of 50 MB came with %d bytes", got.Display.Bytes)
	}
	if got.Reconnects != 20 || got.Second != "7" || got.ForgedAnswered || got.ForgedRan != "7" || got.Aborted != "aborted" || !got.Ended {
		t.Errorf("reconnects %d, second client %q, forged message answered %v and ran %q, queued cell %q, ended %v",
			got.Reconnects, got.Second, got.ForgedAnswered, got.ForgedRan, got.Aborted, got.Ended)
	}
	for name, part := range map[string]string{
		"syntax": "---> 1 | f(1,", "type": "cannot use", "import": "strings", "panic": "---> 2 |", "big": "", "junk": "syntax error",
	} {
		f := got.Failures[name]
		if f[0] != "error" || !strings.Contains(f[3], part) {
			t.Errorf("%s: %q, want %q in the traceback", name, f, part)
		}
	}
	for name, i := range got.Interrupts {
		if i[0] != "error" || i[2] != "5" {
			t.Errorf("interrupt of %s: %v", name, i)
		}
	}
	if len(got.Interrupts) != 5 || strings.Join(got.Live, " ") != "display_data update_display_data update_display_data" {
		t.Errorf("%d interrupts, live display %v", len(got.Interrupts), got.Live)
	}
	if got.Expressions["x"] != "ok:14" || got.Expressions["bad"] != "error:" {
		t.Errorf("user expressions: %v", got.Expressions)
	}
	t.Logf("20,000 lines took %.2f s, a display of 50 MB %.2f s", got.Prints.Seconds, got.Display.Seconds)
	t.Logf("a stalled subscriber: others got 30 MB in %.2f s, the next cell took %.3f s; interrupts %v", got.Stalled.Seconds, got.Stalled.Next, got.Interrupts)
}

// BenchmarkLatency times this kernel beside ipykernel in one run.
func BenchmarkLatency(b *testing.B) {
	var got map[string]map[string]float64
	for b.Loop() {
		if err := json.Unmarshal(script(b, []string{"jupyter_client", "ipykernel"}, "latency.py"), &got); err != nil {
			b.Fatal(err)
		}
	}
	for _, what := range []string{"start_ms", "process_ms", "value_ms", "print_ms"} {
		b.ReportMetric(got["noema"][what], what)
		b.ReportMetric(got["noema"][what]/got["python3"][what], what+"/ipykernel")
	}
}
