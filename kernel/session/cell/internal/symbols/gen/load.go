package main

import (
	"cmp"
	"errors"
	"fmt"
	"go/types"
	"path"
	"slices"

	"github.com/traefik/yaegi/stdlib"
	"golang.org/x/tools/go/packages"
)

// source is one package as the toolchain knows it.
type source struct {
	*packages.Package
	importer types.Importer // of all packages that this one needs
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

// load lets the toolchain compile the packages, and reads their types from its
// export data.
func load(wanted []string) ([]*source, error) {
	all, err := list(packages.NeedTypes|packages.NeedImports|packages.NeedDeps|packages.NeedExportFile, wanted...)
	if err != nil {
		return nil, err
	}
	gc := loaded{}
	packages.Visit(all, nil, func(p *packages.Package) { gc[p.PkgPath] = p.Types })
	var found []*source
	for _, p := range all {
		found = append(found, &source{p, gc})
	}
	return found, nil
}

// loaded imports from packages that are there.
type loaded map[string]*types.Package

// Import implements [types.Importer].
func (l loaded) Import(path string) (*types.Package, error) {
	if p := l[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("no export data of %q", path)
}

// builtins is the package that documents the language's own names.
func builtins() (*source, error) {
	all, err := list(0, "builtin")
	if err != nil {
		return nil, err
	}
	return &source{Package: all[0]}, nil
}

// list asks the toolchain for packages, sorted by path.
func list(more packages.LoadMode, patterns ...string) ([]*packages.Package, error) {
	all, err := packages.Load(&packages.Config{Mode: packages.NeedName | packages.NeedFiles | more}, patterns...)
	for _, p := range all {
		for _, e := range p.Errors {
			err = errors.Join(err, e)
		}
	}
	slices.SortFunc(all, func(a, b *packages.Package) int { return cmp.Compare(a.PkgPath, b.PkgPath) })
	return all, err
}
