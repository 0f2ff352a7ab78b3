package aot_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"testing"

	"noema/methods"
	"noema/methods/aot"
)

// stateFile names the environment variable that turns this test binary into a
// process that executes seedPlan, keeps the state in a file, and hangs in the
// third atom.
const stateFile = "AOT_TEST_STATE"

func TestMain(m *testing.M) {
	if path := os.Getenv(stateFile); path != "" {
		hangInThirdAtom(path)
		os.Exit(3)
	}
	os.Exit(m.Run())
}

func hangInThirdAtom(path string) {
	f, err := os.Create(path)
	if err != nil {
		panic(err)
	}
	plan, _ := aot.ParsePlan([]byte(seedPlan))
	d := &desk{hook: func(_ context.Context, c methods.ToolCall) {
		if c.Path == "atom/3" {
			fmt.Println("hanging")
			_, _ = os.Stdin.Read(make([]byte, 1)) // which nobody writes
		}
	}}
	keep := func(a aot.AtomState) {
		if err := json.NewEncoder(f).Encode(a); err != nil {
			panic(err)
		}
	}
	_, _ = aot.Execute(context.Background(), plan, d, aot.Options{Tools: tools(), OnAtom: keep})
}

// A process killed in the middle of a plan leaves a state from which another
// one goes on at the atom that was not done.
func TestKilledExecutionGoesOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.jsonl")
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), stateFile+"="+path)
	_, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if line != "hanging\n" || err != nil {
		t.Fatalf("the process said %q, %v", line, err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != -1 {
		t.Fatalf("the process ended by itself: %v", err)
	}

	var kept aot.State
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for dec := json.NewDecoder(f); dec.More(); {
		var a aot.AtomState
		if err := dec.Decode(&a); err != nil {
			t.Fatal(err)
		}
		kept.Atoms = append(kept.Atoms, a)
	}
	d := &desk{}
	s, err := run(t, seedPlan, d, aot.Options{State: &kept})
	if err != nil || string(s.Answer) != "56" || len(kept.Atoms) != 2 {
		t.Errorf("answer %s from %+v, %v", s.Answer, kept.Atoms, err)
	}
	if want := []string{`atom/3 subtract {"a":66,"b":10}`}; !reflect.DeepEqual(d.made(), want) {
		t.Errorf("calls %q, want %q", d.made(), want)
	}
}
