package symbols

import (
	"bytes"
	"fmt"
	"go/token"
	"go/types"
	"io"
	"maps"
	stdpath "path"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/traefik/yaegi/interp"
	"golang.org/x/tools/go/gcexportdata"

	"noema/kernel/base/files"
	"noema/kernel/session/cell/internal/module"
	"noema/methods"
)

// Importer imports the packages of the tables for the type checker. It reads a
// package when first asked for it. The packages of one importer share their types.
// It is safe for concurrent use.
//
// A package has every exported name that Go 1.26 gives it. Of generic functions
// and types, which the tables cannot hold, [Importer.Source] has the source, and
// [Importer.Missing] names those without one.
type Importer struct {
	archive  func() *archive
	mu       sync.Mutex
	packages map[string]*types.Package // some of them only in part
	complete map[string]bool
	extra    map[string]map[string]reflect.Value // tables given to Add, by path
	docs     map[string]map[string]entry
	fset     *token.FileSet
	sources  map[string]*Source
	around   func() (*module.Module, error) // see Stand; nil outside of a module
	reading  []string                       // the paths of its packages that are being read
}

// NewImporter returns an importer that has read nothing yet.
func NewImporter() *Importer {
	return &Importer{
		archive:  typesArchive,
		packages: map[string]*types.Package{},
		complete: map[string]bool{},
		extra:    map[string]map[string]reflect.Value{},
		docs:     map[string]map[string]entry{},
		fset:     token.NewFileSet(),
		sources:  map[string]*Source{},
		around:   func() (*module.Module, error) { return nil, nil },
	}
}

// Add makes further packages importable, tables of functions whose types come from
// reflection. Packages that the importer already has do not change.
func (m *Importer) Add(tables interp.Exports) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for key, table := range tables {
		path, _, _ := cutLast(key, "/")
		if _, known := m.archive().open(path); known || path == "" || m.complete[path] {
			continue
		}
		m.extra[path] = table
		m.packages[path] = types.NewPackage(path, key[len(path)+1:])
	}
}

// Import returns the package of a path. For an unknown path the error names the
// nearest known ones.
func (m *Importer) Import(path string) (*types.Package, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if path == "unsafe" {
		return nil, m.unknown(path)
	}
	if !m.compiled(path) {
		if around, _ := m.around(); around != nil {
			return within{locked{m}, around.Here()}.Import(path)
		}
	}
	return locked{m}.Import(path)
}

// compiled reports whether the tables have a package. The lock is held.
func (m *Importer) compiled(path string) bool {
	_, packed := m.archive().open(path)
	return packed || m.complete[path] || m.extra[path] != nil
}

// load reads a compiled package. The lock is held.
func (m *Importer) load(path string) (*types.Package, error) {
	if m.complete[path] {
		return m.packages[path], nil
	}
	if table, ok := m.extra[path]; ok {
		return m.reflected(path, table)
	}
	r, ok := m.archive().open(path)
	if !ok {
		return nil, m.unknown(path)
	}
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("import %q: %w", path, err)
	}
	pkg, err := gcexportdata.Read(bytes.NewReader(data), token.NewFileSet(), m.packages, path)
	if err != nil {
		return nil, fmt.Errorf("import %q: %w", path, err)
	}
	m.complete[path] = true
	return pkg, nil
}

// Paths returns the paths that can be imported, sorted.
func (m *Importer) Paths() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.paths()
}

func (m *Importer) paths() []string {
	all := append(Paths(), slices.Collect(maps.Keys(m.extra))...)
	slices.Sort(all)
	return slices.Compact(all)
}

// closed are packages that cells cannot import by design, with what to do instead.
var closed = map[string]string{
	"embed":   "read the file with os.ReadFile, or compile the script with go run",
	"os/exec": "run commands with !command, or compile the script with go run",
	"syscall": "use package os",
	"unsafe":  "compile the script with go run",
	"plugin":  "write the method as a plugin of its own",
	"C":       "compile the script with go run",
}

// unknown is the error for a package that cells do not have.
func (m *Importer) unknown(path string) error {
	if cure, ok := closed[path]; ok {
		return fmt.Errorf("package %q is not available in cells: %s", path, cure)
	}
	all := m.paths()
	same := slices.DeleteFunc(slices.Clone(all), func(other string) bool { return stdpath.Base(other) != stdpath.Base(path) })
	if first, _, _ := strings.Cut(path, "/"); strings.Contains(first, ".") {
		near := ""
		if len(same) > 0 {
			near = " (did you mean " + quoted(same) + "?)"
		}
		around, _ := m.around()
		return fmt.Errorf("package %q is not compiled into this noema%s: noema build --with %s -o my-noema makes one that has it", path, near, files.Word(around.Wanted(path)))
	}
	if len(same) > 0 {
		return fmt.Errorf("package %q is not available in cells, did you mean %s?", path, quoted(same))
	}
	if near := methods.DidYouMean(path[:min(len(path), 100)], all); near != "" {
		return fmt.Errorf("package %q is not available in cells%s", path, near)
	}
	return fmt.Errorf("package %q is not available in cells: they can import the standard library, noema's packages and those of the module around them", path)
}

// quoted joins names as "a", "b" or "c".
func quoted(names []string) string {
	text := ""
	for i, name := range names {
		switch {
		case i > 0 && i == len(names)-1:
			text += " or "
		case i > 0:
			text += ", "
		}
		text += strconv.Quote(name)
	}
	return text
}
