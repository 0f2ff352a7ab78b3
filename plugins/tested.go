package plugins

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
)

// Tests are asserts about what a program defines.
type Tests struct {
	Before string   `json:"before"` // Python that the tests need and the program does not change
	Names  []string `json:"names"`  // what of the program they use
	Tests  string   `json:"tests"`  // Python; an exception is a failure
}

// What runs in the two processes of a test.
var (
	//go:embed tested/plain.py
	plainData string
	//go:embed tested/program.py
	programSide string
	//go:embed tested/tests.py
	testSide string
)

// waits is how many times its time on a processor a tested program may take of the clock, so
// that a busy machine does not fail it.
const waits = 6

// Test reports why a program fails its tests, empty if it passes them. The program runs
// isolated and limited as [Python.Run] has it, and the tests in another such process, to
// which it can say values and nothing else: it reads no test, replaces none, and cannot end
// them well. The error is that of ctx or of the machine.
func (p *Python) Test(ctx context.Context, program string, tests Tests) (fault string, err error) {
	if fault := tooLong(program); fault != "" {
		return fault, nil
	}
	given, err := json.Marshal(tests)
	if err != nil {
		return "", fmt.Errorf("test a program: %w", err)
	}
	asked, ask, err := os.Pipe()
	if err != nil {
		return "", fmt.Errorf("test a program: %w", err)
	}
	told, tell, err := os.Pipe()
	if err != nil {
		return "", fmt.Errorf("test a program: %w", errors.Join(err, asked.Close(), ask.Close()))
	}
	defer told.Close()
	defer ask.Close()
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 1)
	var of Printed
	go func() {
		var err error
		of, err = p.run(within, waits*p.time, map[string]string{"plain.py": plainData, "program.py": programSide, "candidate.py": program}, asked, tell)
		tell.Close() // so that the tests, which wait for a reply, know
		asked.Close()
		ended <- err
	}()
	verdict, err := p.run(ctx, waits*p.time, map[string]string{"plain.py": plainData, "program.py": testSide, "tests.json": string(given)}, told, ask)
	cancel()
	if broken := <-ended; err == nil && !errors.Is(broken, context.Canceled) {
		err = broken
	}
	if verdict.Fault != "" && of.Fault != "" {
		verdict.Fault += "\nthe program: " + of.Fault
	}
	return verdict.Fault, err
}
