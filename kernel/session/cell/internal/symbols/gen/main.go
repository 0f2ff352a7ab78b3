// Command gen writes what package symbols holds of the compiled world: the
// tables (tables.go), the packages' types (types.zst), the source
// of their generic functions (sources.zst), and their declarations and doc
// comments (docs.zst). Run it from anywhere in the module when a package of the
// tables has changed:
//
//	go run ./kernel/session/cell/internal/symbols/gen
//
// Further packages can follow as arguments; "noema build" uses this.
//
// It reads the compiler's export data, so it needs the Go toolchain and gives
// the same bytes for the same sources.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// own are the packages of this module and beyond that cells may import, besides
// the standard library. To offer one more, add it here and run gen.
var own = []string{
	"noema/kernel/lab", "noema/kernel/result/compare", "noema/kernel/base/display", "noema/kernel/model/provider",
	"noema/kernel/result/record", "noema/kernel/run/runner", "noema/kernel/base/score", "noema/kernel/task",
	"noema/methods", "noema/methods/phases", "noema/methods/reply",
	"gonum.org/v1/gonum/floats", "gonum.org/v1/gonum/stat",
}

// given are those of own whose values cells get from the Lab, which also has what
// their functions do. Cells know their types alone.
var given = []string{"noema/kernel/run/runner"}

// added are the packages of the standard library that yaegi's own tables lack.
var added = []string{"iter"}

func main() {
	dir := flag.String("o", "", "folder to write to; kernel/session/cell/internal/symbols of the module if empty")
	flag.Parse()
	own = append(own, flag.Args()...)
	if err := generate(*dir); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// generate writes all files to dir.
func generate(dir string) error {
	if dir == "" {
		root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "noema").Output()
		if err != nil {
			return fmt.Errorf("find the module: %w", err)
		}
		dir = filepath.Join(strings.TrimSpace(string(root)), "kernel", "session", "cell", "internal", "symbols")
	}
	world, err := load(paths())
	if err != nil {
		return err
	}
	files := map[string][]byte{}
	if files["tables.go"], err = tableFile(world); err != nil {
		return err
	}
	if files["types.zst"], err = typesArchive(world); err != nil {
		return err
	}
	if files["docs.zst"], err = docsArchive(world); err != nil {
		return err
	}
	if files["sources.zst"], err = sourcesArchive(world); err != nil {
		return err
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}
