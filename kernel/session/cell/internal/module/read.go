package module

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"time"

	"noema/kernel/base/files"
	"noema/kernel/session/cell/internal/source"
)

// Package is the source of a package.
type Package struct {
	Path, Name string
	GoVersion  string // of the language, as "go1.26"
	Files      []*ast.File
	folder     string
	read       time.Time // the newest file when it was read
}

// Read parses the files of a package that this platform builds. What only the Go
// toolchain can build is an error with its place.
func (m *Module) Read(fset *token.FileSet, importPath, folder string) (*Package, error) {
	found, err := build.Default.ImportDir(folder, 0)
	if none := (*build.NoGoError)(nil); errors.As(err, &none) { // without a C compiler files with import "C" are left out: they are refused by name
		how := build.Default
		how.CgoEnabled = true
		found, err = how.ImportDir(folder, 0)
	}
	if err != nil {
		return nil, m.buildError(err)
	}
	if found.Name == "main" {
		return nil, fmt.Errorf("%s: package main is a program and cannot be imported", m.name(folder))
	}
	if err := m.refuse(found); err != nil {
		return nil, err
	}
	own, err := Find(folder) // a replaced module has a go.mod of its own
	if err != nil || own == nil {
		own = m
	}
	version := own.goVersion()
	if strings.HasPrefix(folder, filepath.Join(m.root, "vendor")+string(filepath.Separator)) {
		version = m.vendored(importPath)
	}
	p := &Package{Path: importPath, Name: found.Name, GoVersion: version, folder: folder, read: newest(folder)}
	for _, name := range found.GoFiles {
		file, err := m.parse(fset, filepath.Join(folder, name))
		if err != nil {
			return nil, err
		}
		p.Files = append(p.Files, file)
	}
	return p, nil
}

// buildError words an error of package go/build.
func (m *Module) buildError(err error) error {
	var none *build.NoGoError
	var many *build.MultiplePackageError
	switch {
	case errors.As(err, &none):
		return fmt.Errorf("%s: no Go files that this platform builds", m.name(none.Dir))
	case errors.As(err, &many):
		return fmt.Errorf("%s: files of the packages %s and %s are in one folder", m.name(many.Dir), many.Packages[0], many.Packages[1])
	}
	return err
}

// refuse finds what only the toolchain builds.
func (m *Module) refuse(p *build.Package) error {
	cure := fmt.Sprintf("is not available in cells: noema build --with %s -o my-noema makes one with the module compiled in", files.Word(m.Path()+"="+m.name(m.root)))
	for _, path := range []string{"C", "unsafe"} {
		for _, at := range p.ImportPos[path] {
			return fmt.Errorf("%s:%d:%d: import %q %s", m.name(at.Filename), at.Line, at.Column, path, cure)
		}
	}
	for _, places := range p.EmbedPatternPos {
		for _, at := range places {
			return fmt.Errorf("%s:%d:%d: //go:embed %s", m.name(at.Filename), at.Line, at.Column, cure)
		}
	}
	for _, name := range p.SFiles {
		return fmt.Errorf("%s:1:1: assembler %s", m.name(filepath.Join(p.Dir, name)), cure)
	}
	if len(p.GoFiles) == 0 {
		return m.buildError(&build.NoGoError{Dir: p.Dir})
	}
	return nil
}

// parse parses a file. Places in it have the name as seen from the session.
func (m *Module) parse(fset *token.FileSet, name string) (*ast.File, error) {
	text, err := files.Read(name, files.MaxText)
	if err != nil {
		return nil, err
	}
	if depth, at := source.Nesting(source.Lex(string(text), 0)); depth > source.MaxNesting {
		return nil, fmt.Errorf("%s:%d: brackets nest %d deep: the limit is %d", m.name(name), bytes.Count(text[:at], []byte("\n"))+1, depth, source.MaxNesting)
	}
	file, err := parser.ParseFile(fset, m.name(name), text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Body == nil {
			return nil, fmt.Errorf("%s: function %s has no body: assembler and linked functions are not available in cells", fset.Position(f.Pos()), f.Name.Name)
		}
	}
	return file, nil
}

// name is a file's name as seen from the session's folder.
func (m *Module) name(file string) string {
	if short, err := filepath.Rel(m.folder, file); err == nil {
		return short
	}
	return file
}

// Changed reports whether a file of the package was written or removed since the
// package was read.
func (p *Package) Changed() bool { return !newest(p.folder).Equal(p.read) }

// newest is the latest time at which a folder or a file in it changed; the zero
// time if the folder cannot be read.
func newest(folder string) (at time.Time) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return time.Time{}
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && filepath.Ext(e.Name()) == ".go" && info.ModTime().After(at) {
			at = info.ModTime()
		}
	}
	return at
}
