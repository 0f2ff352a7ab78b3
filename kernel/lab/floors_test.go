package lab

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

// floors says on which floor a folder stands: its packages import from its own folder,
// where Go refuses circles, and from strictly lower floors.
var floors = map[string]int{
	"methods":        1, // the contract, and the methods
	"kernel/base":    2, // files, display, scores, keys taken out, the hub
	"cache":          3,
	"plugins":        3,
	"kernel/task":    3,
	"kernel/model":   4,
	"kernel/result":  4, // records, comparisons, others' predictions
	"kernel/run":     5,
	"kernel/show":    6, // reports, exports
	"kernel/lab":     7, // the face; packs, plugin development
	"kernel/session": 8, // cells, terminal, Jupyter, and what mains come with
	"kernel/view":    8, // the page
	"experiments":    9,
	"kernel/cmd":     9,
}

// folderOf is the one of the table that a package is in.
func folderOf(pkg string) string {
	for pkg != "." && floors[pkg] == 0 {
		pkg = filepath.Dir(pkg)
	}
	return pkg
}

// isMain reports whether a package is a program.
func isMain(pkg string) bool {
	return strings.HasPrefix(pkg, "kernel/cmd/") || strings.HasPrefix(pkg, "experiments/") || pkg == "plugins/anot"
}

// shared are the packages beside methods and providers that are none.
var shared = []string{"methods/plans", "kernel/model/provider/exchange", "kernel/model/provider/none", "kernel/model/provider/prices"}

// concrete are the methods and providers, which only mains may name: one may
// compare any methods on any model only as long as nothing below knows them.
// They are those that package builtin lists.
func concrete(listed map[string]bool) (names []string) {
	for name := range listed {
		name = strings.TrimPrefix(name, "noema/")
		if dir := filepath.Dir(name); (dir == "methods" || dir == "kernel/model/provider") && !slices.Contains(shared, name) {
			names = append(names, name)
		}
	}
	return names
}

// imports returns the project's packages with what their files import,
// without tests.
func imports(t *testing.T) map[string]map[string]bool {
	t.Helper()
	found := map[string]map[string]bool{}
	err := filepath.WalkDir("../..", func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && path != "../.." && (strings.HasPrefix(e.Name(), ".") || e.Name() == "testdata") {
			return filepath.SkipDir
		}
		if e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		pkg, err := filepath.Rel("../..", filepath.Dir(path))
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
		from := folderOf(pkg)
		if testDouble.MatchString(pkg) {
			continue
		}
		if floors[from] == 0 {
			t.Errorf("package %s stands in no folder of the table", pkg)
			continue
		}
		for name := range names {
			below, inside := strings.CutPrefix(name, "noema/")
			to := folderOf(below)
			if inside && to != from && floors[to] >= floors[from] && !isMain(pkg) {
				t.Errorf("%s (floor %d) imports %s (floor %d): imports go strictly down", pkg, floors[from], below, floors[to])
			}
		}
	}
}

func TestOnlyMainsNameConcreteThings(t *testing.T) {
	all := imports(t)
	only := concrete(all["kernel/session/builtin"])
	if len(only) < 10 {
		t.Fatalf("only %d methods and providers found: the test looks in the wrong place", len(only))
	}
	for pkg, names := range all {
		if isMain(pkg) || pkg == "kernel/session/builtin" {
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
var testDouble = regexp.MustCompile(`(^|/)internal/test/[a-z]+$`)

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
