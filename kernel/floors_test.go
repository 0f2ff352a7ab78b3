package kernel

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// floors says which package stands where: a package imports only from
// strictly lower floors. A name that ends in /* stands for the packages right
// below it, unless they have an entry of their own.
//
// Half floors hold packages that others of their floor share: the small
// languages and helpers of methods, the base that the
// providers have in common. The store stands on the vocabulary, because what
// it keeps are requests and completions and nothing is won by naming them
// twice.
var floors = map[string]float64{
	"methods": 0, "cache/internal/*": 0, "kernel/provider/openai/openaitest": 0,
	"methods/convert": 0, "methods/workflow": 0.5,
	"methods/decimal": 0,

	"cache": 1, "methods/reply": 1, "methods/methodtest": 1,
	"methods/anot/internal/lwt": 1.3, "methods/internal/trial": 1.3, "methods/generalanot/pyexpr": 1,
	"plugins/internal/wire": 1, "kernel/score": 1,
	"methods/*": 1.5,

	"plugins": 2, "kernel/record": 2, "kernel/task": 2, "kernel/provider": 2,
	"kernel/task/*": 2.5, "kernel/task/wiki": 2.3, "kernel/task/attack": 2.7,

	"kernel/provider/prices": 2.5, "kernel/provider/local/internal/*": 1, "kernel/provider/providertest": 3.5, "kernel/provider/modeltest": 3.5, "kernel/provider/exchange": 2.7,
	"kernel/gateway": 3, "kernel/provider/*": 3, "kernel/compare": 3,
	"kernel/display": 1, "kernel/diff": 3, "kernel/runner": 4, "kernel/report": 4.3, "kernel/export": 4.3, "kernel": 4.6,

	"kernel/cell/source": 4.8, "kernel/cell/machine": 4.8, "kernel/cell/symbols": 4.9, "kernel/cell/symbols/generic": 0, "kernel/cell/symbols/gen": 7, "kernel/cell/battery": 5.7, "kernel/cell/*": 5, "kernel/cell": 5.5, "kernel/view": 5,
	"kernel/plugindev": 5, "kernel/provider/local/internal/network": 2, "kernel/provider/local/localtest": 2, "kernel/repl": 6, "kernel/jupyter": 6, "kernel/builtin": 6.5,
	"kernel/cmd/*": 7, "plugins/*": 7, "experiments/*": 7, "plugins/internal/wire/gen": 7,
}

// concrete are the packages that only mains may name: one may compare any
// methods on any model only as long as nothing below knows them.
var concrete = []string{
	"methods/anot", "methods/aot", "methods/generalanot", "methods/baseline", "methods/engineplanner", "methods/researchtree",
	"kernel/provider/openai", "kernel/provider/scripted", "kernel/provider/sim",
	"kernel/provider/anthropic", "kernel/provider/gemini", "kernel/provider/ollama", "kernel/provider/local",
}

const mainFloor = 7

// floorOf finds a package's floor: its own entry, or the one of its parent's
// children.
func floorOf(pkg string) (float64, bool) {
	if f, ok := floors[pkg]; ok {
		return f, true
	}
	f, ok := floors[filepath.Dir(pkg)+"/*"]
	return f, ok
}

// imports returns the project's packages with what their files import,
// without tests.
func imports(t *testing.T) map[string]map[string]bool {
	t.Helper()
	found := map[string]map[string]bool{}
	err := filepath.WalkDir("..", func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && path != ".." && (strings.HasPrefix(e.Name(), ".") || e.Name() == "testdata") {
			return filepath.SkipDir
		}
		if e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		pkg, err := filepath.Rel("..", filepath.Dir(path))
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		if found[pkg] == nil {
			found[pkg] = map[string]bool{}
		}
		for _, spec := range file.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			found[pkg][name] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) < 10 {
		t.Fatalf("only %d packages found: the test looks in the wrong place", len(found))
	}
	return found
}

func TestFloors(t *testing.T) {
	for pkg, names := range imports(t) {
		floor, ok := floorOf(pkg)
		if !ok {
			t.Errorf("package %s has no floor: add it to the table", pkg)
			continue
		}
		for name := range names {
			below, inside := strings.CutPrefix(name, "noema/")
			if !inside {
				continue
			}
			if f, ok := floorOf(below); !ok || f >= floor {
				t.Errorf("%s (floor %g) imports %s (floor %g): imports go strictly down", pkg, floor, below, f)
			}
		}
	}
}

func TestOnlyMainsNameConcreteThings(t *testing.T) {
	for pkg, names := range imports(t) {
		if floor, _ := floorOf(pkg); floor >= mainFloor || pkg == "kernel/builtin" {
			continue // what all mains come with stands in one place
		}
		for _, name := range concrete {
			if names["noema/"+name] {
				t.Errorf("%s imports %s, which only a main may name", pkg, name)
			}
		}
	}
}

func TestWhoMayImportWhat(t *testing.T) {
	for pkg, names := range imports(t) {
		for name := range names {
			switch {
			case strings.HasPrefix(name, "google.golang.org/grpc") && !strings.HasPrefix(pkg, "plugins"):
				t.Errorf("%s imports %s: gRPC stays behind package plugins", pkg, name)
			case strings.HasPrefix(name, "github.com/dgraph-io/badger") && !strings.HasPrefix(pkg, "cache"):
				t.Errorf("%s imports %s: Badger stays behind package cache", pkg, name)
			case pkg == "methods" && strings.Contains(strings.Split(name, "/")[0], "."):
				t.Errorf("%s imports %s: the vocabulary needs the standard library alone", pkg, name)
			}
		}
	}
}
