package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/printer"
	"go/token"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/tools/go/gcexportdata"
)

// typesArchive holds each package's types in the indexed export format. Places
// in the sources are left out, so that it changes only when the types do.
func typesArchive(world []*source) ([]byte, error) {
	return archive(world, func(s *source) ([]byte, error) {
		var b bytes.Buffer
		err := gcexportdata.Write(&b, nil, s.Types)
		return b.Bytes(), err
	})
}

// docsArchive holds the declarations and doc comments of each package and of
// the language.
func docsArchive(world []*source) ([]byte, error) {
	language, err := builtins()
	if err != nil {
		return nil, err
	}
	return archive(append(slices.Clip(world), language), func(s *source) ([]byte, error) {
		entries, err := docsOf(s)
		if err != nil {
			return nil, err
		}
		return json.Marshal(entries)
	})
}

// archive makes one entry a package, named by its path. The entries are stored
// as they are and the whole is compressed, because packages repeat each other.
func archive(world []*source, content func(*source) ([]byte, error)) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, s := range world {
		data, err := content(s)
		if err != nil {
			return nil, fmt.Errorf("pack %q: %w", s.PkgPath, err)
		}
		if data == nil {
			continue
		}
		w, err := z.CreateHeader(&zip.FileHeader{Name: s.PkgPath, Method: zip.Store})
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(data); err != nil {
			return nil, err
		}
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression),
		zstd.WithWindowSize(32<<20), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	return enc.EncodeAll(b.Bytes(), nil), nil
}

// entry is what the sources say of one exported name: the declaration of a func,
// method or type as go doc prints it, and the doc comment. In a package's map of
// entries the key is "Cut", "Reader.Read" for a method or field, and "" for the
// package itself.
type entry [2]string

// docsOf reads the package's sources as go doc does.
func docsOf(s *source) (map[string]entry, error) {
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range s.GoFiles {
		f, err := parser.ParseFile(fset, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	var mode doc.Mode
	if s.PkgPath == "builtin" {
		mode = doc.AllDecls // its names are in lower case
	}
	p, err := doc.NewFromFiles(fset, files, s.PkgPath, mode)
	if err != nil {
		return nil, err
	}
	d := docs{fset: fset, all: mode == doc.AllDecls, entries: map[string]entry{"": {"", p.Doc}}}
	d.values("", p.Consts)
	d.values("", p.Vars)
	d.funcs("", p.Funcs)
	for _, t := range p.Types {
		d.typ(t)
	}
	return d.entries, nil
}

// docs collects the entries of one package.
type docs struct {
	fset    *token.FileSet
	all     bool // unexported names too
	entries map[string]entry
}

func (d docs) typ(t *doc.Type) {
	d.entries[t.Name] = entry{d.print(t.Decl), t.Doc}
	d.values("", t.Consts)
	d.values("", t.Vars)
	d.funcs("", t.Funcs)
	d.funcs(t.Name+".", t.Methods)
	for _, spec := range t.Decl.Specs {
		switch spec := spec.(*ast.TypeSpec).Type.(type) {
		case *ast.StructType:
			d.fields(t.Name+".", spec.Fields)
		case *ast.InterfaceType:
			d.fields(t.Name+".", spec.Methods)
		}
	}
}

func (d docs) funcs(prefix string, funcs []*doc.Func) {
	for _, f := range funcs {
		decl := *f.Decl
		decl.Body, decl.Doc = nil, nil
		d.entries[prefix+f.Name] = entry{d.print(&decl), f.Doc}
	}
}

// fields notes the comments of a struct's fields or an interface's methods.
func (d docs) fields(prefix string, list *ast.FieldList) {
	for _, f := range list.List {
		if text := firstText(f.Doc, f.Comment); text != "" {
			for _, name := range f.Names {
				d.entries[prefix+name.Name] = entry{"", text}
			}
		}
	}
}

// values notes constants and variables. One without words of its own has those
// of its group.
func (d docs) values(prefix string, values []*doc.Value) {
	for _, v := range values {
		for _, spec := range v.Decl.Specs {
			spec := spec.(*ast.ValueSpec)
			text := firstText(spec.Doc, spec.Comment)
			if text == "" {
				text = v.Doc
			}
			for _, name := range spec.Names {
				if (d.all || ast.IsExported(name.Name)) && text != "" {
					d.entries[prefix+name.Name] = entry{"", text}
				}
			}
		}
	}
}

// firstText is the text of the first group that has any.
func firstText(groups ...*ast.CommentGroup) string {
	for _, g := range groups {
		if text := g.Text(); strings.TrimSpace(text) != "" {
			return text
		}
	}
	return ""
}

// print formats a declaration as go doc does: without the doc comment.
func (d docs) print(decl ast.Decl) string {
	if g, ok := decl.(*ast.GenDecl); ok {
		plain := *g
		plain.Doc = nil
		decl = &plain
	}
	var b strings.Builder
	config := printer.Config{Mode: printer.UseSpaces | printer.TabIndent, Tabwidth: 4}
	if err := config.Fprint(&b, d.fset, decl); err != nil {
		return ""
	}
	return b.String()
}
