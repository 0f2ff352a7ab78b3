package symbols

import (
	"cmp"
	"errors"
	"fmt"
	"go/types"
	"slices"
	"strings"
	"sync"

	"noema/kernel/session/cell/internal/module"
	"noema/kernel/session/cell/internal/source"
)

// Stand makes importable the packages of the module around a folder, which are
// read from source, each once.
func (m *Importer) Stand(folder string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.around = sync.OnceValues(func() (*module.Module, error) { return module.Find(folder) })
}

// FromModule is the source that Import read the package from; nil for a compiled
// package.
func (m *Importer) FromModule(pkg *types.Package) *Source {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.sources[pkg.Path()]; s != nil && s.Package == pkg && s.module != nil {
		return s
	}
	return nil
}

// Changed reports whether the package of a path was read from source that has
// changed since.
func (m *Importer) Changed(path string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.sources[path]
	return s != nil && s.module != nil && s.module.Changed()
}

// readModule reads a package that is not compiled in from the module's source.
// The lock is held.
func (m *Importer) readModule(path string) (*Source, error) {
	around, err := m.around()
	if around == nil {
		return nil, cmp.Or(err, m.unknown(path))
	}
	folder, owned, exists := around.Folder(path)
	switch {
	case owned && !exists:
		return nil, fmt.Errorf("package %q is not in the module: there is no folder %s", path, folder)
	case !exists:
		return nil, m.unknown(path)
	case m.packages[path] != nil:
		return nil, fmt.Errorf("package %q is part of noema and not available in cells", path)
	}
	if i := slices.Index(m.reading, path); i >= 0 {
		return nil, fmt.Errorf("import cycle not allowed: %s", strings.Join(append(m.reading[i:], path), " imports "))
	}
	m.reading = append(m.reading, path)
	defer func() { m.reading = m.reading[:len(m.reading)-1] }()
	read, err := around.Read(m.fset, path, folder)
	if err != nil {
		return nil, notBuilt(path, err)
	}
	s := &Source{Package: types.NewPackage(path, read.Name), Files: read.Files, module: read}
	w := source.Environment{Importer: within{locked{m}, path}, Missing: m.missing}
	if s.Info, err = source.Check(m.fset, s.Package, s.Files, read.GoVersion, w, nil); err != nil {
		return nil, notBuilt(path, err)
	}
	m.sources[path] = s
	return s, nil
}

// notBuilt is the error for a package of the module. It has the first faults.
func notBuilt(path string, err error) error {
	const most = 3
	var faults *source.Errors
	if errors.As(err, &faults) && len(faults.Faults) > most {
		more := len(faults.Faults) - most
		faults.Faults = faults.Faults[:most]
		return fmt.Errorf("package %q does not build: %w\nand %d more errors", path, faults, more)
	}
	return fmt.Errorf("package %q does not build: %w", path, err)
}

// within imports for a package of the module, which may not import the internal
// packages of others.
type within struct {
	locked
	path string
}

// Import implements [types.Importer].
func (w within) Import(path string) (*types.Package, error) {
	if why := module.Closed(w.path, path); why != "" {
		return nil, errors.New(why)
	}
	if path == "unsafe" {
		return nil, w.unknown(path)
	}
	return w.locked.Import(path)
}
