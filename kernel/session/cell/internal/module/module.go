// Package module finds and reads the packages of the Go module that a session
// stands in. It needs no Go toolchain.
package module

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"

	"noema/kernel/base/files"
)

// Module is the module around a folder.
type Module struct {
	folder string // the session's
	root   string // of go.mod
	file   *modfile.File
}

// Find returns the module of the nearest go.mod in a folder or above it; nil if
// there is none.
func Find(folder string) (*Module, error) {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return nil, fmt.Errorf("find module: %w", err)
	}
	for root := folder; ; root = filepath.Dir(root) {
		name := filepath.Join(root, "go.mod")
		text, err := files.Read(name, files.MaxConfig)
		switch {
		case err == nil:
			file, err := modfile.Parse(name, text, nil)
			if err == nil && file.Module == nil {
				err = fmt.Errorf("%s has no module line", name)
			}
			if err != nil {
				return nil, fmt.Errorf("read module: %w", err)
			}
			return &Module{folder, root, file}, nil
		case !errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("read module: %w", err)
		case root == filepath.Dir(root):
			return nil, nil
		}
	}
}

// Path is the module's path.
func (m *Module) Path() string { return m.file.Module.Mod.Path }

// Here is the import path of the session's folder.
func (m *Module) Here() string {
	below, err := filepath.Rel(m.root, m.folder)
	if err != nil {
		return m.Path()
	}
	return path.Join(m.Path(), filepath.ToSlash(below))
}

// Folder returns where the source of a package lies: in the module, in a module
// that go.mod replaces by a folder, or in the folder vendor. Owned reports that
// the path belongs to one of the first two, whether or not the folder exists.
func (m *Module) Folder(importPath string) (folder string, owned, exists bool) {
	if below, ok := under(importPath, m.Path()); ok {
		folder, owned = filepath.Join(m.root, filepath.FromSlash(below)), true
	}
	for _, r := range m.file.Replace {
		below, ok := under(importPath, r.Old.Path)
		if !ok || !modfile.IsDirectoryPath(r.New.Path) {
			continue
		}
		folder, owned = filepath.FromSlash(r.New.Path), true
		if !filepath.IsAbs(folder) {
			folder = filepath.Join(m.root, folder)
		}
		folder = filepath.Join(folder, filepath.FromSlash(below))
	}
	if !owned {
		folder = filepath.Join(m.root, "vendor", filepath.FromSlash(importPath))
	}
	info, err := os.Stat(folder)
	return folder, owned, err == nil && info.IsDir()
}

// under returns what follows a module's path in that of a package.
func under(importPath, module string) (below string, ok bool) {
	below, ok = strings.CutPrefix(importPath, module)
	return strings.TrimPrefix(below, "/"), ok && (below == "" || below[0] == '/')
}

// Wanted is the argument of noema build --with that compiles a package in: the
// module and version that go.mod requires for it, or else the package's newest.
func (m *Module) Wanted(importPath string) string {
	best := importPath + "@latest"
	longest := 0
	if m == nil {
		return best
	}
	for _, r := range m.file.Require {
		if _, ok := under(importPath, r.Mod.Path); ok && len(r.Mod.Path) > longest {
			best, longest = r.Mod.String(), len(r.Mod.Path)
		}
	}
	return best
}

// goVersion is the language version of a package's files.
func (m *Module) goVersion() string {
	if m.file.Go == nil || !semver.IsValid("v"+m.file.Go.Version) {
		return "go1.16" // as for the Go toolchain
	}
	return "go" + m.file.Go.Version
}

// vendored is the language version of a package in the folder vendor: that of its
// module in modules.txt, or the version of this module for one that is not listed.
func (m *Module) vendored(importPath string) string {
	text, err := files.Read(filepath.Join(m.root, "vendor", "modules.txt"), files.MaxText)
	if err != nil {
		return m.goVersion() // as if the packages were the module's own
	}
	version, longest := m.goVersion(), 0
	inside := false
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		switch {
		case len(words) > 1 && words[0] == "#":
			_, inside = under(importPath, words[1])
			if inside = inside && len(words[1]) > longest; inside {
				version, longest = "go1.16", len(words[1]) // as for the Go toolchain
			}
		case inside && len(words) > 1 && words[0] == "##":
			if v := words[len(words)-1]; words[len(words)-2] == "go" && semver.IsValid("v"+v) {
				version = "go" + v
			}
		}
	}
	return version
}

// Closed is why a package cannot import another, an internal one; "" if it can.
func Closed(importer, imported string) string {
	parts := strings.Split(imported, "/")
	for i := len(parts) - 1; i >= 0; i-- {
		if parts[i] != "internal" {
			continue
		}
		parent := path.Join(parts[:i]...)
		if _, inside := under(importer, parent); !inside && parent != "" {
			return fmt.Sprintf("use of internal package %s not allowed: only packages below %s can import it", imported, parent)
		}
	}
	return ""
}
