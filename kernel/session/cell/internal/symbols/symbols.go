// Package symbols gives cells the compiled packages: the tables of their symbols,
// in yaegi's format, an importer of the same packages for the type checker, and
// doc comments for completion and inspection. All of it is part of the program:
// cells need neither the Go toolchain nor source files.
//
// go run ./kernel/session/cell/internal/symbols/gen generates the tables (tables.go) and
// three archives: the packages' types (types.zst), which are the compiler's export
// data and so have exact parameter names, constants and generic signatures; the
// source of generic functions (sources.zst), which tables cannot hold and which is
// compiled like the cells; and doc comments (docs.zst).
package symbols

import (
	"maps"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"github.com/traefik/yaegi/interp"
	"github.com/traefik/yaegi/stdlib"
)

// Exports returns the tables of all packages that cells can import. The caller
// may change them, for example replace time.Sleep by one that an interrupt ends.
func Exports() interp.Exports {
	all := interp.Exports{}
	for key, table := range stdlib.Symbols {
		all[key] = maps.Clone(table)
	}
	for key, table := range tables() {
		if all[key] == nil {
			all[key] = map[string]reflect.Value{}
		}
		maps.Copy(all[key], table)
	}
	all["."] = map[string]reflect.Value{"MapTypes": reflect.ValueOf(mapTypes())}
	return all
}

// named makes a table of functions and of types, the latter as nil pointers. Their names
// are those that they have at run time. Another name stands as a string before its value,
// which may also be the reflect.Value of a variable. A wrapper's name, as in
// wrap_net_http_Handler, becomes that of its interface behind a "_", where yaegi looks.
func named(values ...any) map[string]reflect.Value {
	table := make(map[string]reflect.Value, len(values))
	given := ""
	for _, value := range values {
		if name, ok := value.(string); ok {
			given = name
			continue
		}
		v, ok := value.(reflect.Value)
		if !ok {
			v = reflect.ValueOf(value)
		}
		if given == "" {
			given = nameOf(v)
		}
		table[given], given = v, ""
	}
	return table
}

// nameOf is the name of a function, of a type by a nil pointer to it, or of a wrapper.
func nameOf(v reflect.Value) string {
	if v.Kind() == reflect.Func {
		_, name, _ := cutLast(runtime.FuncForPC(v.Pointer()).Name(), ".")
		return name
	}
	name := v.Type().Elem().Name()
	if strings.HasPrefix(name, "wrap_") {
		return name[strings.LastIndex(name, "_"):]
	}
	return name
}

// Paths returns the import paths of all packages of the tables, sorted.
func Paths() []string {
	seen := map[string]bool{}
	for key := range stdlib.Symbols {
		seen[pathOf(key)] = true
	}
	for key := range tables() {
		seen[pathOf(key)] = true
	}
	delete(seen, "")
	return slices.Sorted(maps.Keys(seen))
}

// Named returns the packages of the standard library that have a name, sorted.
func (*Importer) Named(name string) (paths []string) {
	for _, path := range Paths() {
		first, _, _ := strings.Cut(path, "/")
		if stdlib.Symbols[path+"/"+name] == nil && tables()[path+"/"+name] == nil || strings.Contains(first, ".") || first == "noema" {
			continue
		}
		paths = append(paths, path)
	}
	return paths
}

// pathOf is the import path in a key of the tables: "math/rand" for
// "math/rand/rand". It is "" for yaegi's own entries, which are not packages.
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
