package symbols

import (
	"fmt"
	"go/types"
	"path"
	"strings"

	"github.com/traefik/yaegi/stdlib"

	"noema/kernel/cell/symbols/generic"
)

// instead says what to use in place of generic names that package generic has
// no text for.
var instead = map[string]string{
	"iter.Pull":  "range over the sequence",
	"iter.Pull2": "range over the sequence",
}

// Missing says of an exported name that Go has whether cells lack it, and if so
// what to do about it, as in "iter.Pull is generic and not available in cells:
// range over the sequence". Names of the tables and those of package generic
// are not missing, nor are constraints and the func types of package iter,
// which vanish before the interpreter sees the cell.
func (m *Importer) Missing(importPath, name string) (hint string, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	pkg, err := m.load(importPath)
	if err != nil {
		return "", false
	}
	obj := pkg.Scope().Lookup(name)
	if obj == nil || !obj.Exported() || m.extra[importPath] != nil {
		return "", false
	}
	if _, ok := generic.Lookup(importPath, name); ok || inTables(pkg, name) || vanishes(obj) {
		return "", false
	}
	cure := instead[pkg.Name()+"."+name]
	if cure == "" {
		cure = "declare what you need of it in the cell"
	}
	return fmt.Sprintf("%s.%s is generic and not available in cells: %s", pkg.Name(), name, cure), true
}

// inTables says that the interpreter has the name.
func inTables(pkg *types.Package, name string) bool {
	key := path.Join(pkg.Path(), pkg.Name())
	if _, ok := stdlib.Symbols[key][name]; ok {
		return true
	}
	if table, ok := tables[key]; ok {
		_, ok := table()[name]
		return ok
	}
	return false
}

// vanishes says that a cell may name the object and the interpreter does not
// need it: a constraint, or a func type, which is printed by its parts.
func vanishes(obj types.Object) bool {
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
