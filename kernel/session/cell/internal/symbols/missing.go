package symbols

import (
	"fmt"
	"go/types"
	"path"
	"slices"
	"strings"

	"github.com/traefik/yaegi/stdlib"
)

// instead says what to use instead of generic names that cells do not have.
var instead = map[string]string{
	"iter.Pull":  "range over the sequence",
	"iter.Pull2": "range over the sequence",
}

// Missing says whether cells lack an exported name that Go has, and if so what
// to do about it, as in "iter.Pull is generic and not available in cells: range
// over the sequence". A name of the tables is there, and one that comes from
// source, and constraints and the func types of package iter, which exist for
// the type checker only.
func (m *Importer) Missing(importPath, name string) (hint string, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.missing(importPath, name)
}

// compiler are functions that look at compiled code or the memory of values,
// which in a session are the engine's.
var compiler = map[string]string{
	"runtime": "Callers CallersFrames FuncForPC SetFinalizer AddCleanup MemProfile",
	"testing": "AllocsPerRun Main MainStart",
}

// missing is Missing under the lock.
func (m *Importer) missing(importPath, name string) (hint string, ok bool) {
	if slices.Contains(strings.Fields(compiler[importPath]), name) {
		return path.Base(importPath) + "." + name + " would see the interpreter, not the script: compile the script with go run", true
	}
	if !m.compiled(importPath) {
		return "", false
	}
	pkg, err := m.load(importPath)
	if err != nil {
		return "", false
	}
	obj := pkg.Scope().Lookup(name)
	if obj == nil || !obj.Exported() || m.extra[importPath] != nil {
		return "", false
	}
	if m.spelled(importPath, name) || inTables(pkg, name) || vanishes(obj) {
		return "", false
	}
	if f, ok := obj.(*types.Func); ok && f.Signature().TypeParams().Len() == 0 {
		return fmt.Sprintf("%s.%s is not for cells: the variable lab has what it does", pkg.Name(), name), true
	}
	cure := instead[pkg.Name()+"."+name]
	if cure == "" {
		cure = "declare what you need of it in the cell"
	}
	return fmt.Sprintf("%s.%s is generic and not available in cells: %s", pkg.Name(), name, cure), true
}

// inTables says whether the symbol tables have the name.
func inTables(pkg *types.Package, name string) bool {
	key := path.Join(pkg.Path(), pkg.Name())
	if _, ok := stdlib.Symbols[key][name]; ok {
		return true
	}
	_, ok := tables()[key][name]
	return ok
}

// vanishes says whether the object exists for the type checker only: a constant, a
// constraint, or a func type.
func vanishes(obj types.Object) bool {
	if _, ok := obj.(*types.Const); ok {
		return true
	}
	if _, ok := obj.(*types.TypeName); !ok {
		return false
	}
	switch t := obj.Type().Underlying().(type) {
	case *types.Interface:
		return !t.IsMethodSet()
	case *types.Signature:
		return true
	}
	return false
}

// Doc returns the doc comment of a package's name: "Cut", "Reader.Read" for a
// method or a field, "" for the package itself. It is empty where there is none.
func (m *Importer) Doc(path, name string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return strings.TrimSuffix(m.entry(path, name)[1], "\n")
}

// entry is what the sources say of a name; it reads the package's docs once.
func (m *Importer) entry(path, name string) entry {
	entries, ok := m.docs[path]
	if !ok {
		entries = docsOf(path)
		m.docs[path] = entries
	}
	return entries[name]
}
