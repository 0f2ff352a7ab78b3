package jupyter_test

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"noema/kernel/lab"
	"noema/kernel/session/builtin"
	"noema/kernel/session/jupyter"
)

var update = flag.Bool("update", false, "save what the notebooks of experiments show")

// runBook runs a notebook in a fresh session over a store.
func runBook(t *testing.T, file, home string) (*jupyter.Notebook, []jupyter.Difference) {
	t.Helper()
	book, err := jupyter.ReadNotebook(file)
	if err != nil {
		t.Fatal(err)
	}
	s, l, err := builtin.NewSession(builtin.SessionOptions{Lab: lab.Options{Home: home, Catalog: builtin.Catalog{}}, Capture: true})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	defer s.Close()
	found, err := book.Run(t.Context(), s, jupyter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return book, found
}

// TestNotebooks runs the notebooks of experiments, one with an empty store and then
// with a full one, and compares what they show with what is saved. One that asks a local
// model is left out, as it takes many minutes.
func TestNotebooks(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	books, err := filepath.Glob("../../../experiments/*/notebook.ipynb")
	if err != nil || len(books) < 3 {
		t.Fatalf("experiments has %d notebooks, want at least 3 (%v)", len(books), err)
	}
	for _, file := range books {
		t.Run(filepath.Base(filepath.Dir(file)), func(t *testing.T) {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(raw, []byte(`\"local/`)) {
				t.Skipf("%s needs a language model: noema run %s", file, file)
			}
			home, runs := t.TempDir(), 1
			if strings.Contains(file, "first") {
				runs = 2
			}
			for range runs {
				book, found := runBook(t, file, home)
				if *update && len(found) > 0 {
					if raw, err = book.Updated(); err == nil {
						err = os.WriteFile(file, raw, 0o644)
					}
					if err != nil {
						t.Fatal(err)
					}
					continue
				}
				for _, d := range found {
					t.Errorf("cell %d differs:\n%s", d.Cell, d.Diff)
				}
			}
		})
	}
}

// write writes a notebook with code cells of the given JSON.
func write(t *testing.T, cells ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "b.ipynb")
	text := "{\n \"nbformat\": 4, \"nbformat_minor\": 5, \"own\": {\"z\": 1.50, \"a\": 12345678901234567890},\n \"cells\": [" + strings.Join(cells, ",\n") + "]}\n"
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

func code(source, outputs string) string {
	return `{"cell_type": "code", "outputs": ` + outputs + `, "source": ` + source + `, "execution_count": null, "metadata": {"tags": []}}`
}

// TestUpdatedChangesOutputsAlone: what differs is written, and with it the file is
// as the run shows it.
func TestUpdatedChangesOutputsAlone(t *testing.T) {
	same := `[{"output_type": "stream", "name": "stdout", "text": "took 1.2ms\n"}]`
	file := write(t, code(`"fmt.Println(\"took 3ms\")"`, same), `{"cell_type": "markdown", "source": "text", "metadata": {}}`,
		code(`["lab.Update(\"a\", 1)\n", "x := 1"]`, "[]"), code(`"lab.Update(\"b\", JSON(\"[1,2]\"))\nx = 2"`, "[]"), code(`"x + 1"`, "[]"), code(`" "`, "[]"))
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	book, found := runBook(t, file, t.TempDir())
	if len(found) != 3 || found[0].Cell != 2 || found[2].Cell != 4 || !strings.Contains(found[2].Diff, "+ 3") {
		t.Fatalf("found %+v", found)
	}
	after, err := book.Updated()
	if err != nil {
		t.Fatal(err)
	}
	cut := func(raw []byte) string { // all but the outputs and counts of the cells that differ
		head, rest, _ := strings.Cut(string(raw), `{"cell_type": "markdown"`)
		return head + rest[:len(`, "source": "text", "metadata": {}}`)] + rest[strings.LastIndex(rest, `"source": " "`):]
	}
	if cut(before) != cut(after) {
		t.Errorf("more than outputs changed:\n%s", after)
	}
	if err := os.WriteFile(file, after, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, found := runBook(t, file, t.TempDir()); len(found) > 0 {
		t.Errorf("once saved, %+v\n%s", found, after)
	}
}

// TestACellThatFails ends the run, unless the saved one failed as well.
func TestACellThatFails(t *testing.T) {
	failed := `[{"output_type": "error", "ename": "panic", "evalue": "cell 1, line 1: runtime error: integer divide by zero", "traceback": []}]`
	file := write(t, code(`"x := 0; 1 / x"`, failed), code(`"panic(1)"`, "[]"), code(`"2"`, "[]"))
	_, found := runBook(t, file, t.TempDir())
	if len(found) != 1 || found[0].Cell != 2 || !found[0].Failed || !strings.Contains(found[0].Diff, "+ (error) panic: cell 2") {
		t.Errorf("found %+v", found)
	}
}

// TestReadNotebook: what is no notebook of noema is an error with its place.
func TestReadNotebook(t *testing.T) {
	python := `{"nbformat": 4, "cells": [], "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3"}}}`
	for text, want := range map[string]string{
		python:                              `b.ipynb: it is a notebook of the kernel "python3" (Python 3), not of noema: run it with "jupyter nbconvert --execute"`,
		"{\n \"cells\": [}":                 "b.ipynb:2:12: invalid character '}' looking for beginning of value",
		"{\n \"cells\": [":                  "b.ipynb:2:11: unexpected end of JSON input",
		`{"nbformat": 4, "cells": "x"}`:     "b.ipynb:1:28: cells is of the wrong type: string",
		`{"nbformat": 3, "worksheets": []}`: "b.ipynb: nbformat is 3, not 4: convert it",
		`[]`:                                "b.ipynb:1:1: it is of the wrong type: array",
		`{"nbformat": 4, "cells": [{"cell_type": "code"}]}`:               "b.ipynb: cell 1 of the file lacks \"outputs\"",
		`{"nbformat": 4, "cells": [{"cell_type": "code", "outputs": 3}]}`: "b.ipynb: cell 1 of the file: ",
		"": "b.ipynb:1:1: unexpected end of JSON input",
		`{"nbformat": 4, "cells": ` + strings.Repeat("[", 20000): "exceeded max depth",
	} {
		file := filepath.Join(t.TempDir(), "b.ipynb")
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := jupyter.ReadNotebook(file); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80s:\n%v, want\n%s", text, err, want)
		}
	}
}

// TestInterruptedNotebook ends with the context.
func TestInterruptedNotebook(t *testing.T) {
	book, err := jupyter.ReadNotebook(write(t, code(`"for {\n}"`, "[]")))
	if err != nil {
		t.Fatal(err)
	}
	s, l, err := builtin.NewSession(builtin.SessionOptions{Lab: lab.Options{Home: t.TempDir(), Catalog: builtin.Catalog{}}})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := book.Run(ctx, s, jupyter.Options{}); err != context.Canceled {
		t.Errorf("the run ended with %v", err)
	}
}

// TestConvert has nbconvert run a notebook and make a page of it.
func TestConvert(t *testing.T) {
	book, err := filepath.Abs("../../../experiments/first-comparison/notebook.ipynb")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	script(t, []string{"nbconvert", "nbclient"}, "-m", "nbconvert", "--execute", "--to", "html", "--output-dir", dir, book)
	page, err := os.ReadFile(filepath.Join(dir, "notebook.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"image/svg+xml", "<table", "replayed: the root hash is that of run"} {
		if !strings.Contains(string(page), part) {
			t.Errorf("the page lacks %q", part)
		}
	}
}
