package kernel

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// floors says on which floor a package stands: it imports only from strictly
// lower floors. A name that ends in /* stands for the packages right below it
// that have no entry of their own. Packages below internal/ belong to the
// package that holds that folder: they stand on its floor, and imports inside
// one house are left to Go, which refuses cycles. The folder methods/internal
// belongs to all methods and has floors of its own.
var floors = map[string]int{
	"methods": 0, "methods/convert": 0, "methods/methodspb": 0, "methods/decimal": 0, "kernel/files": 0, "kernel/redact": 0,
	"kernel/task/wiki/title": 0, // the wiki and the scores compare titles alike

	"cache": 1, "cache/pack": 1, "plugins": 1, "plugins/python": 1, "kernel/display": 1, "kernel/hub": 1, "kernel/provider": 1, "kernel/score": 1, "kernel/task": 1,
	"methods/reply": 1, "methods/plans": 1, "methods/workflow": 1, "methods/methodtest": 1, "methods/generalanot/pyexpr": 1,

	"kernel/models": 2, "kernel/record": 2, "methods/internal/*": 2, "kernel/task/*": 2,
	"kernel/provider/prices": 2, "kernel/provider/none": 2, "kernel/provider/scripted": 2, "kernel/provider/local": 2,
	"kernel/provider/modeltest": 2,

	"kernel/internal/providertest": 2, "kernel/internal/localtest": 2, "kernel/internal/hubtest": 2, "kernel/internal/wikitest": 2,

	"methods/*": 3, "kernel/gateway": 3, "kernel/compare": 3, "kernel/provider/exchange": 3,
	"kernel/predictions": 3,
	"kernel/task/attack": 3, "kernel/task/multihop": 3, "kernel/task/arithmetic": 3, "kernel/task/dataset": 3, // over the tasks, the tables and the wiki that they build on

	"kernel/provider/*": 4, "kernel/runner": 4,
	"kernel/report": 5, "kernel/export": 5, "kernel/cluster": 5, "kernel/cluster/embedded": 4,
	"kernel":       6,
	"kernel/study": 7, "kernel/cell": 7, "kernel/cell/battery": 7, "kernel/plugindev": 7,
	"kernel/view": 8, "kernel/repl": 8, "kernel/jupyter": 8, "kernel/builtin": 8,

	"kernel/cmd/*": mainFloor, "plugins/*": mainFloor, "experiments/*": mainFloor,
	"plugins/internal/wire/gen": mainFloor, "kernel/cell/internal/symbols/gen": mainFloor,
}

// shared are the packages beside methods and providers that are none.
var shared = []string{"methods/plans", "kernel/provider/exchange", "kernel/provider/none", "kernel/provider/prices"}

// concrete are the methods and providers, which only mains may name: one may
// compare any methods on any model only as long as nothing below knows them.
// They are those that package builtin lists.
func concrete(listed map[string]bool) (names []string) {
	for name := range listed {
		name = strings.TrimPrefix(name, "noema/")
		if dir := filepath.Dir(name); (dir == "methods" || dir == "kernel/provider") && !slices.Contains(shared, name) {
			names = append(names, name)
		}
	}
	return names
}

const mainFloor = 9

// house is the package that an internal one belongs to.
func house(pkg string) string {
	if _, ok := floors[pkg]; ok || strings.HasPrefix(pkg, "methods/internal/") {
		return pkg
	}
	owner, _, _ := strings.Cut(pkg, "/internal/")
	return owner
}

// floorOf finds a package's floor: its own entry, or the one of its parent's
// children.
func floorOf(pkg string) (int, bool) {
	pkg = house(pkg)
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
			if !inside || house(below) == house(pkg) {
				continue
			}
			if f, ok := floorOf(below); !ok || f >= floor {
				t.Errorf("%s (floor %d) imports %s (floor %d): imports go strictly down", pkg, floor, below, f)
			}
		}
	}
}

func TestOnlyMainsNameConcreteThings(t *testing.T) {
	all := imports(t)
	only := concrete(all["kernel/builtin"])
	if len(only) < 10 {
		t.Fatalf("only %d methods and providers found: the test looks in the wrong place", len(only))
	}
	for pkg, names := range all {
		if floor, _ := floorOf(pkg); floor >= mainFloor || pkg == "kernel/builtin" {
			continue // what all mains come with stands in one place
		}
		for _, name := range only {
			if names["noema/"+name] {
				t.Errorf("%s imports %s, which only a main may name", pkg, name)
			}
		}
	}
}

// testDouble matches the packages that only tests may import.
var testDouble = regexp.MustCompile(`(^|/)internal/[a-z]+test$`)

func TestWhoMayImportWhat(t *testing.T) {
	for pkg, names := range imports(t) {
		for name := range names {
			switch {
			case strings.HasPrefix(name, "google.golang.org/grpc") && !strings.HasPrefix(pkg, "plugins"):
				t.Errorf("%s imports %s: gRPC stays behind package plugins", pkg, name)
			case strings.HasPrefix(name, "github.com/dgraph-io/badger") && !strings.HasPrefix(pkg, "cache"):
				t.Errorf("%s imports %s: Badger stays behind package cache", pkg, name)
			case testDouble.MatchString(name) && !testDouble.MatchString(pkg):
				t.Errorf("%s imports %s, which is for tests", pkg, name)
			case pkg == "methods" && strings.Contains(strings.Split(name, "/")[0], "."):
				t.Errorf("%s imports %s: the vocabulary needs the standard library alone", pkg, name)
			}
		}
	}
}
