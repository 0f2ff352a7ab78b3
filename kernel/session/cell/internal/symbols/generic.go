package symbols

import (
	_ "embed"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"runtime"
	"sync"

	"noema/kernel/session/cell/internal/module"
	"noema/kernel/session/cell/internal/source"
)

//go:embed sources.zst
var sourcesZst []byte

var sourcesArchive = sync.OnceValue(func() *archive { return openArchive(sourcesZst) })

// Source is a package of the module, or a compiled one whose generic functions and
// types come from source, as tables cannot hold them.
type Source struct {
	// Package has all names of the compiled package; the generic ones are
	// objects of its own, the others those of Compiled.
	Package  *types.Package
	Compiled *types.Package // nil for a package of the module
	Files    []*ast.File
	Info     *types.Info
	module   *module.Package
}

// Source is what Import made the package from, or nil for a package of which
// all is compiled.
func (m *Importer) Source(pkg *types.Package) *Source {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.sources[pkg.Path()]; s != nil && s.Package == pkg && s.Files != nil {
		return s
	}
	return nil
}

// FileSet has the places in the sources.
func (m *Importer) FileSet() *token.FileSet { return m.fset }

// locked is the importer for one who holds its lock.
type locked struct{ *Importer }

// Import implements [types.Importer].
func (m locked) Import(path string) (*types.Package, error) {
	if path == "unsafe" { // which sources of the standard library may use
		return types.Unsafe, nil
	}
	s, err := m.source(path)
	if err != nil {
		return nil, err
	}
	return s.Package, nil
}

// source reads a package, with the source of its generic functions if it has
// any. The lock is held.
func (m *Importer) source(path string) (*Source, error) {
	if s := m.sources[path]; s != nil {
		return s, nil
	}
	if !m.compiled(path) {
		return m.readModule(path)
	}
	compiled, err := m.load(path)
	if err != nil {
		return nil, err
	}
	s := &Source{Package: compiled, Compiled: compiled}
	if text, ok := sourcesArchive().open(path); ok {
		if err := m.checkGeneric(s, path, text); err != nil {
			return nil, fmt.Errorf("import %q: %w", path, err)
		}
	}
	m.sources[path] = s
	return s, nil
}

// checkGeneric type-checks the source of a package's generic functions.
func (m *Importer) checkGeneric(s *Source, path string, text io.Reader) (err error) {
	file, err := parser.ParseFile(m.fset, path, text, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	s.Files = []*ast.File{file}
	declared := map[string]bool{}
	for _, d := range file.Decls {
		for _, name := range source.Declared(d) {
			declared[name] = true
		}
	}
	s.Package = types.NewPackage(path, s.Compiled.Name())
	for _, name := range s.Compiled.Scope().Names() {
		if token.IsExported(name) && !declared[name] {
			s.Package.Scope().Insert(s.Compiled.Scope().Lookup(name))
		}
	}
	s.Info = source.NewInfo()
	config := types.Config{Importer: locked{m}, Sizes: types.SizesFor("gc", runtime.GOARCH)}
	return types.NewChecker(&config, m.fset, s.Package, s.Info).Files(s.Files)
}

// spelled says whether a name of a package comes from source. The lock is held.
func (m *Importer) spelled(path, name string) bool {
	s, err := m.source(path)
	if err != nil || s.Files == nil {
		return false
	}
	o := s.Package.Scope().Lookup(name)
	return o != nil && o.Pkg() == s.Package
}
