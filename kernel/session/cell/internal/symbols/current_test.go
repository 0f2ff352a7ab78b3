package symbols

import (
	"bytes"
	"fmt"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/go/types/typeutil"
)

const cure = "run: just symbols (go run ./kernel/session/cell/internal/symbols/gen)"

// What is generated must be what the generator makes today. The types are
// compared by what is exported, because a private field that was renamed
// changes the archive and nothing that a cell can see.
func TestGeneratedFilesAreCurrent(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the generator, which takes some seconds")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("the Go toolchain is not at hand")
	}
	dir := t.TempDir()
	if out, err := exec.Command("go", "run", "./gen", "-o", dir).CombinedOutput(); err != nil {
		t.Fatalf("generate: %v\n%s", err, out)
	}
	fresh, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(fresh) == 0 {
		t.Fatalf("nothing was generated, error %v", err)
	}
	for _, name := range fresh {
		base := filepath.Base(name)
		if base == "types.zst" {
			continue
		}
		if !bytes.Equal(read(t, name), read(t, base)) {
			t.Errorf("%s is out of date; %s", base, cure)
		}
	}
	now := NewImporter()
	today := openArchive(read(t, filepath.Join(dir, "types.zst")))
	now.archive = func() *archive { return today }
	for _, path := range Paths() {
		was, is := api(mustImport(t, NewImporter(), path)), api(mustImport(t, now, path))
		if was != is {
			t.Errorf("types of %q are out of date; %s", path, cure)
		}
	}
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return data
}

// api writes down all that a package exports.
func api(pkg *types.Package) string {
	var b strings.Builder
	for _, name := range pkg.Scope().Names() {
		if !token.IsExported(name) {
			continue
		}
		obj := pkg.Scope().Lookup(name)
		t, ok := obj.(*types.TypeName)
		if !ok {
			fmt.Fprintln(&b, obj)
			continue
		}
		fmt.Fprintf(&b, "type %s comparable %t\n", name, types.Comparable(t.Type()))
		for _, m := range typeutil.IntuitiveMethodSet(t.Type(), nil) {
			if m.Obj().Exported() {
				fmt.Fprintln(&b, "\t", m)
			}
		}
		s, ok := t.Type().Underlying().(*types.Struct)
		if !ok {
			fmt.Fprintln(&b, "\t", t.Type().Underlying())
			continue
		}
		for i := range s.NumFields() {
			if f := s.Field(i); f.Exported() {
				fmt.Fprintln(&b, "\t", f, s.Tag(i))
			}
		}
	}
	return b.String()
}
