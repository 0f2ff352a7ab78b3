package main

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain lets the test binary be noema: under that name in scripts, and as
// its own plugin in benchmarks.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == serveVerb {
		main()
		return
	}
	testscript.Main(m, map[string]func(){"noema": main})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("NOEMA_HOME", env.Getenv("WORK")+"/home")
			env.Setenv("HOME", env.Getenv("WORK"))
			return nil
		},
	})
}
