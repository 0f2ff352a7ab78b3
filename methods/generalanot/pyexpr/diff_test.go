package pyexpr

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

//go:embed testdata/driver.py
var driver string

// python evaluates all cases in one python3 process.
func python(t *testing.T, cases [][2]string) [][2]string {
	t.Helper()
	path, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 on this machine: the corpus with stored results covers what can be")
	}
	if out, err := exec.Command(path, "-c", "import sys; print('%d.%d' % sys.version_info[:2])").Output(); err != nil || strings.TrimSpace(string(out)) != "3.11" {
		t.Skipf("python3 is %q, not 3.11: the corpus with stored results covers what can be", strings.TrimSpace(string(out)))
	}
	var in bytes.Buffer
	for _, c := range cases {
		line, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		in.Write(append(line, '\n'))
	}
	cmd := exec.Command(path, "-c", driver)
	cmd.Stdin = &in
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("python3: %v: %s", err, exit.Stderr)
		}
		t.Fatal(err)
	}
	var results [][2]string
	scan := bufio.NewScanner(bytes.NewReader(out))
	scan.Buffer(nil, 1<<24)
	for scan.Scan() {
		var r [2]string
		if err := json.Unmarshal(scan.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		results = append(results, r)
	}
	if len(results) != len(cases) {
		t.Fatalf("python3 answered %d of %d cases", len(results), len(cases))
	}
	return results
}

// canon is what the driver's canon gives for the same value.
func canon(v Value) string {
	join := func(open string, xs []Value, end string, sorted bool) string {
		parts := make([]string, len(xs))
		for i, x := range xs {
			parts[i] = canon(x)
		}
		if sorted {
			slices.Sort(parts)
		}
		return open + strings.Join(parts, ", ") + end
	}
	switch x := v.(type) {
	case *List:
		return join("[", x.items, "]", false)
	case *Tuple:
		return join("(", x.items, ")", false)
	case *Set:
		return join(x.class().name+"{", builder().collect(x), "}", true)
	case *Dict:
		if x.counter {
			return "Counter(" + canon(&Dict{entries: x.entries}) + ")"
		}
		var parts []string
		for _, e := range x.entries {
			parts = append(parts, canon(e.key)+": "+canon(e.val))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case *Iter:
		return "<iterator>"
	case *Func:
		return "<function>"
	}
	s, err := Repr(v)
	if err != nil {
		return err.Error()
	}
	return s
}

// refused is the outcome of what CPython has and the subset says it has not.
const refused = "refused"

// outcome is what the driver's result gives for the same case.
func outcome(src string, env map[string]Value) [2]string {
	e, err := Compile(src)
	switch {
	case err != nil && strings.Contains(err.Error(), "in a pattern is not supported"):
		return [2]string{"", refused}
	case err != nil:
		return [2]string{"", "SyntaxError"}
	}
	v, err := e.Eval(context.Background(), env, Limits{})
	var exc *EvalError
	var limit *LimitError
	switch {
	case errors.As(err, &exc) && strings.Contains(exc.Msg, "is not supported"):
		return [2]string{"", refused}
	case errors.As(err, &exc):
		return [2]string{"", exc.Class}
	case errors.As(err, &limit) && limit.Limit == "memory":
		return [2]string{"", "MemoryError"} // where CPython has none left either
	case err != nil:
		return [2]string{"", err.Error()}
	}
	return [2]string{canon(v), ""}
}

func TestDifferential(t *testing.T) {
	n := 20_000
	switch {
	case os.Getenv("NOEMA_BENCH") != "":
		n = 120_000
	case testing.Short():
		n = 2_000
	}
	g := &exprGen{rng: rand.New(rand.NewPCG(7, diffSeed()))}
	var cases [][2]string
	var envs []map[string]Value
	for len(cases) < n {
		if len(cases)%50 == 0 {
			envs = append(envs, g.env())
		}
		env := envs[len(envs)-1]
		cases = append(cases, [2]string{envText(env), g.expr("anyset", 2+g.rng.IntN(5))})
	}
	here := make(chan [][2]string, 1)
	go func() { // while CPython is at work
		got := make([][2]string, len(cases))
		for i, c := range cases {
			got[i] = outcome(c[1], envs[i/50])
		}
		here <- got
	}()
	want := python(t, cases)
	got := <-here
	raised, bad := map[string]int{}, 0
	for i, c := range cases {
		if got[i][1] == refused {
			raised[refused]++
			continue
		}
		raised[want[i][1]]++
		if got[i] != want[i] {
			if bad++; bad <= 15 {
				t.Errorf("%s\n  here:    %q\n  CPython: %q", c[1], got[i], want[i])
			}
		}
	}
	if bad > 0 {
		t.Errorf("%d of %d cases differ", bad, n)
	}
	if raised[refused] > n/50 {
		t.Errorf("%d of %d cases are refused: the generator has left the subset", raised[refused], n)
	}
	if raised[""] < n/2 {
		t.Errorf("only %d of %d cases give a value: the generator is too wild: %v", raised[""], n, raised)
	}
	t.Log(fmt.Sprint("exceptions: ", raised))
}
