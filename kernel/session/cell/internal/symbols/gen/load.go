package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"

	"github.com/traefik/yaegi/stdlib"
)

// source is one package as the toolchain knows it.
type source struct {
	ImportPath string
	Name       string
	Dir        string
	Export     string   // file of the compiler's export data
	GoFiles    []string // those that this platform builds
	types      *types.Package
	importer   types.Importer // of all packages that this one needs
}

// files are the package's files with their folder.
func (s *source) files() []string {
	all := make([]string, len(s.GoFiles))
	for i, name := range s.GoFiles {
		all[i] = filepath.Join(s.Dir, name)
	}
	return all
}

// paths are the import paths of all packages of the tables, sorted.
func paths() []string {
	all := slices.Concat(own, added)
	for key := range stdlib.Symbols {
		if dir := path.Dir(key); dir != "." && dir != "github.com/traefik/yaegi/stdlib" {
			all = append(all, dir)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// load lets the toolchain compile the packages, and reads their types.
func load(wanted []string) ([]*source, error) {
	all, err := list(append([]string{"-export", "-deps"}, wanted...)...)
	if err != nil {
		return nil, err
	}
	byPath := map[string]*source{}
	for _, s := range all {
		byPath[s.ImportPath] = s
	}
	open := func(p string) (io.ReadCloser, error) {
		if s := byPath[p]; s != nil && s.Export != "" {
			return os.Open(s.Export)
		}
		return nil, fmt.Errorf("no export data of %q", p)
	}
	gc := importer.ForCompiler(token.NewFileSet(), "gc", open)
	var found []*source
	for _, p := range wanted {
		s := byPath[p]
		if s == nil {
			return nil, fmt.Errorf("go list does not know package %q", p)
		}
		if s.types, err = gc.Import(p); err != nil {
			return nil, fmt.Errorf("read types of %q: %w", p, err)
		}
		s.importer = gc
		found = append(found, s)
	}
	return found, nil
}

// builtins is the package that documents the language's own names.
func builtins() (*source, error) {
	all, err := list("builtin")
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// list asks go list for packages.
func list(args ...string) ([]*source, error) {
	cmd := exec.Command("go", append([]string{"list", "-json=ImportPath,Name,Dir,Export,GoFiles"}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, stderr.Bytes())
	}
	var all []*source
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		s := new(source)
		err := dec.Decode(s)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read go list: %w", err)
		}
		all = append(all, s)
	}
}
