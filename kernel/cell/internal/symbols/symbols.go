// Package symbols is what a cell can reach of the compiled world: the tables
// from which the interpreter takes functions and types, an importer that gives
// the type checker the same packages, and their doc comments for completion and
// inspection. Everything is inside the program; neither the Go toolchain nor
// any source is needed when a cell runs.
//
// Two things are generated, by go run ./kernel/cell/internal/symbols/gen: the tables
// (table_*.go), and two archives with each package's types and doc comments
// (types.zst, docs.zst). The types are the compiler's own export data and not a
// reconstruction from reflection, so that parameter names, constants and
// generic signatures are exact.
package symbols

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/traefik/yaegi/interp"
	"github.com/traefik/yaegi/stdlib"
)

// Exports returns the interpreter's tables for every package that a cell may
// import. The maps are the caller's own: it may replace entries, such as
// time.Sleep by one that an interrupt ends.
func Exports() interp.Exports {
	all := interp.Exports{}
	for key, table := range stdlib.Symbols {
		all[key] = maps.Clone(table)
	}
	for key, table := range tables {
		if all[key] == nil {
			all[key] = map[string]reflect.Value{}
		}
		maps.Copy(all[key], table())
	}
	all["."] = map[string]reflect.Value{"MapTypes": reflect.ValueOf(mapTypes())}
	return all
}

// Paths returns the import paths of all packages of the tables, sorted.
func Paths() []string {
	seen := map[string]bool{}
	for key := range stdlib.Symbols {
		seen[pathOf(key)] = true
	}
	for key := range tables {
		seen[pathOf(key)] = true
	}
	delete(seen, "")
	return slices.Sorted(maps.Keys(seen))
}

// pathOf takes the package's name off a key of the tables, as in
// "math/rand/rand" for "math/rand". What is no package, such as yaegi's own
// entries, gives "".
func pathOf(key string) string {
	path, _, _ := cutLast(key, "/")
	if strings.HasPrefix(path, "github.com/traefik/yaegi/") {
		return ""
	}
	return path
}

// cutLast is strings.Cut at the last separator.
func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return "", s, false
	}
	return s[:i], s[i+len(sep):], true
}
