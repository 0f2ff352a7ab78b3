package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/mod/modfile"

	"noema/kernel/lab/plugindev"
)

func buildCommand(a *app) *cobra.Command {
	var b builder
	var with []string
	cmd := &cobra.Command{
		Use: "build --with MODULE[@VERSION]|MODULE=FOLDER... -o FILE", Short: "build a noema whose cells can import further modules",
		Long: `Builds a noema with further Go modules compiled in, all of whose packages cells and
scripts can then import. A module is named with a version, as for go get, or with
the folder that holds its source. Needs the Go toolchain and noema's source.`,
		Example: `  noema build --with gonum.org/v1/gonum@v0.17.0 -o my-noema
  noema build --with example.com/study=./study -o my-noema`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			b.out = a.stderr
			return b.build(cmd.Context(), with)
		},
	}
	cmd.Flags().StringArrayVar(&with, "with", nil, "module to compile in, as MODULE@VERSION or MODULE=FOLDER; repeat it for more")
	cmd.Flags().StringVarP(&b.binary, "output", "o", "my-noema", "file to write")
	addSource(cmd, &b.checkout)
	return cmd
}

// builder builds a noema with further modules.
type builder struct {
	binary, checkout string
	out              io.Writer
	dir              string // a module of its own, which requires noema and the others
}

// build makes a module that requires noema and the wanted modules, generates the
// symbol tables for all their packages, and compiles noema with these in the
// place of its own.
func (b *builder) build(ctx context.Context, with []string) (err error) {
	if len(with) == 0 {
		return usage(errors.New("build: name a module to compile in, as in --with gonum.org/v1/gonum@v0.17.0"))
	}
	if _, err := exec.LookPath("go"); err != nil {
		return fmt.Errorf("build: compiling modules in needs the Go toolchain (https://go.dev/dl): %w", err)
	}
	if b.checkout, err = plugindev.FindCheckout(b.checkout); err != nil {
		return err
	}
	if b.binary, err = filepath.Abs(b.binary); err != nil {
		return err
	}
	if b.dir, err = os.MkdirTemp("", "noema-build-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	if err := b.start(); err != nil {
		return fmt.Errorf("build: %w", err)
	}
	var packages []string
	for _, module := range with {
		more, err := b.require(ctx, module)
		if err != nil {
			return fmt.Errorf("build --with %s: %w", module, err)
		}
		fmt.Fprintf(b.out, "compiling in %s (%d packages)\n", module, len(more))
		packages = append(packages, more...)
	}
	if err := b.compile(ctx, packages); err != nil {
		return fmt.Errorf("build: %w", err)
	}
	fmt.Fprintf(b.out, "built %s\n", b.binary)
	return nil
}

// start makes the module, with the checksums of noema's.
func (b *builder) start() error {
	sums, err := os.ReadFile(filepath.Join(b.checkout, "go.sum"))
	if err != nil {
		return err
	}
	text := fmt.Sprintf("module noema-with\n\ngo 1.26\n\nrequire noema v0.0.0\n\nreplace noema => %s\n", modfile.AutoQuote(b.checkout))
	return errors.Join(os.WriteFile(filepath.Join(b.dir, "go.mod"), []byte(text), 0o600), os.WriteFile(filepath.Join(b.dir, "go.sum"), sums, 0o600))
}

// require adds a module, and returns its packages that others can import.
func (b *builder) require(ctx context.Context, module string) ([]string, error) {
	name, folder, local := strings.Cut(module, "=")
	var err error
	if local {
		err = b.replace(ctx, name, folder)
	} else {
		name, _, _ = strings.Cut(module, "@")
		_, err = b.command(ctx, "get", module)
	}
	if err != nil {
		return nil, err
	}
	text, err := b.command(ctx, "list", "-json=ImportPath,Name,GoFiles,Imports", name+"/...")
	if err != nil {
		return nil, err
	}
	packages, err := importable(text)
	if err == nil && len(packages) == 0 {
		err = fmt.Errorf("%s has no packages that cells could import", name)
	}
	return packages, err
}

// replace adds a module whose source lies in a folder.
func (b *builder) replace(ctx context.Context, name, folder string) error {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(folder, "go.mod"))
	if err != nil {
		return err
	}
	if found := modfile.ModulePath(text); found != name {
		return fmt.Errorf("the module in %s is %s: write --with %s=FOLDER", folder, found, found)
	}
	const none = "v0.0.0-00010101000000-000000000000" // as the toolchain writes for a folder
	_, err = b.command(ctx, "mod", "edit", "-require="+name+"@"+none, "-replace="+name+"="+folder)
	return err
}

// importable are the packages in what go list prints that others can import;
// those for tests are left out.
func importable(list []byte) (paths []string, err error) {
	for d := json.NewDecoder(bytes.NewReader(list)); ; {
		var p struct {
			ImportPath, Name string
			GoFiles, Imports []string
		}
		switch err := d.Decode(&p); {
		case errors.Is(err, io.EOF):
			return paths, nil
		case err != nil:
			return nil, fmt.Errorf("read go list: %w", err)
		}
		closed := p.Name == "main" || slices.Contains(strings.Split(p.ImportPath, "/"), "internal")
		if !closed && len(p.GoFiles) > 0 && !slices.Contains(p.Imports, "testing") {
			paths = append(paths, p.ImportPath)
		}
	}
}

// compile generates the tables and builds noema with them.
func (b *builder) compile(ctx context.Context, packages []string) error {
	const symbols = "kernel/session/cell/internal/symbols"
	tables := filepath.Join(b.dir, "tables")
	if err := os.Mkdir(tables, 0o700); err != nil {
		return err
	}
	if _, err := b.command(ctx, append([]string{"run", path.Join("noema", symbols, "gen"), "-o", tables}, packages...)...); err != nil {
		return fmt.Errorf("generate the symbols: %w", err)
	}
	made, err := os.ReadDir(tables)
	if err != nil {
		return err
	}
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for _, f := range made {
		overlay.Replace[filepath.Join(b.checkout, filepath.FromSlash(symbols), f.Name())] = filepath.Join(tables, f.Name())
	}
	text, err := json.Marshal(overlay)
	if err != nil {
		return err
	}
	name := filepath.Join(b.dir, "overlay.json")
	if err := os.WriteFile(name, text, 0o600); err != nil {
		return err
	}
	_, err = b.command(ctx, "build", "-tags=queue", "-overlay", name, "-o", b.binary, "noema/kernel/cmd/noema")
	return err
}

// command runs the Go toolchain in the module and returns what it prints; its
// error has what it says.
func (b *builder) command(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	var said bytes.Buffer
	cmd.Dir, cmd.Stderr = b.dir, &said
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w\n%s", args[0], err, bytes.TrimSpace(said.Bytes()))
	}
	return out, nil
}
