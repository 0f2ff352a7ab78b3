package pack

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"noema/kernel/base/files"
	"noema/plugins"
)

// sourceFolder holds, beside a program that is one file, what it was built from.
const sourceFolder = "source/"

// Bounds on the source of a program.
const (
	maxSource      = 32 << 20 // bytes
	maxSourceFiles = 2_000
)

// built notes of a plugin's code for which platform it is compiled and what it is built
// from, and returns that source where it is not in the code itself: files by their names.
// was is where the code was when it served.
func (c *Code) built(src plugins.Source, was string) (map[string]string, error) {
	program := src.Path
	if c.Folder {
		program = filepath.Join(src.Dir, src.Command[0])
	}
	info, err := buildinfo.ReadFile(program)
	switch {
	case err == nil:
		c.Platform = setting(info, "GOOS") + "/" + setting(info, "GOARCH")
	case !c.Folder && !src.File && !script(program):
		c.Platform = runtime.GOOS + "/" + runtime.GOARCH
		return nil, nil
	default:
		return nil, nil
	}
	if c.Folder {
		if raw, err := os.ReadFile(filepath.Join(src.Dir, "go.mod")); err == nil && info.Main.Path == modfile.ModulePath(raw) {
			c.Source = packageOf(info)
		}
		return nil, nil
	}
	kept := filepath.Join(filepath.Dir(program), sourceFolder)
	if _, err := os.Stat(kept); err == nil { // it came in a pack
		return c.sourceIn(kept, info, program, true)
	}
	if digest, err := plugins.CodeDigest(plugins.Source{Name: c.Name, Path: was}); err != nil || digest != c.Digest {
		return nil, nil
	}
	for _, dir := range []string{filepath.Dir(was), filepath.Dir(filepath.Dir(was))} { // the second is that of bin/NAME
		if found, err := c.sourceIn(dir, info, was, false); err != nil || found != nil {
			return found, err
		}
	}
	return nil, nil
}

// sourceIn looks in a folder for what a program was built from: the file of Go of which
// noema plugin build makes it, or its module. Source that was changed after the program was
// built counts as none, unless it is kept as it was.
func (c *Code) sourceIn(dir string, info *buildinfo.BuildInfo, program string, kept bool) (map[string]string, error) {
	all := map[string]string{}
	raw, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	switch {
	case err == nil && info.Main.Path != "noema" && info.Main.Path == modfile.ModulePath(raw) && info.Main.Path != "":
		if err := moduleFiles(dir, all); err != nil {
			return nil, err
		}
		c.Source = packageOf(info)
	case info.Path == "command-line-arguments":
		names, err := filepath.Glob(filepath.Join(dir, "*.go"))
		names = slices.DeleteFunc(names, func(name string) bool { return plugins.FileMethod(name) != filepath.Base(program) })
		if err != nil || len(names) != 1 {
			return nil, err
		}
		c.Source = filepath.Base(names[0])
		all[c.Source] = names[0]
	default:
		return nil, nil
	}
	made, err := os.Stat(program)
	for _, file := range all {
		if info, statErr := os.Stat(file); !kept && (err != nil || statErr != nil || info.ModTime().After(made.ModTime())) {
			c.Source = ""
			return nil, err
		}
	}
	return all, nil
}

// moduleFiles adds the source of the module in a folder: what the Go toolchain compiles and
// its list of modules, without tests. Whatever else lies there does not leave.
func moduleFiles(dir string, all map[string]string) error {
	size := int64(0)
	return filepath.WalkDir(dir, func(file string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if hidden := strings.HasPrefix(e.Name(), ".") || strings.HasPrefix(e.Name(), "_") || e.Name() == "testdata"; e.IsDir() && hidden && file != dir {
			return filepath.SkipDir
		}
		source := filepath.Ext(file) == ".go" && !strings.HasSuffix(file, "_test.go") || e.Name() == "go.mod" || e.Name() == "go.sum"
		if !e.Type().IsRegular() || !source { // links lead elsewhere
			return nil
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		if size += info.Size(); size > maxSource || len(all) == maxSourceFiles {
			return fmt.Errorf("its source in %q is more than %d files or %d MiB: build the program in a folder of its own", dir, maxSourceFiles, maxSource>>20)
		}
		name, err := filepath.Rel(dir, file)
		all[filepath.ToSlash(name)] = file
		return err
	})
}

// addSource adds the source of a program that is one file.
func (w *writer) addSource(ctx context.Context, source map[string]string, c Code) error {
	for _, name := range slices.Sorted(maps.Keys(source)) {
		if err := w.addFile(ctx, source[name], path.Join(codeFolder, c.Digest, sourceFolder, name)); err != nil {
			return err
		}
	}
	return nil
}

// setting is what a program was built with.
func setting(info *buildinfo.BuildInfo, key string) string {
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}

// packageOf is the package of a program, as the go tool names it in the module's folder.
func packageOf(info *buildinfo.BuildInfo) string {
	if below, ok := strings.CutPrefix(info.Path, info.Main.Path+"/"); ok {
		return "./" + below
	}
	return "."
}

// script reports whether a file names its interpreter.
func script(file string) bool {
	f, err := files.Open(file)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 2)
	_, err = f.Read(head)
	return err == nil && bytes.Equal(head, []byte("#!"))
}

// checkSource refuses what is not a package or file below the folder: the go tool would take
// it for an option, or read elsewhere.
func (c Code) checkSource() error {
	if name := strings.TrimPrefix(c.Source, "./"); !fs.ValidPath(name) || c.Source != "." && filepath.Ext(c.Source) != ".go" && !strings.HasPrefix(c.Source, "./") || strings.HasPrefix(name, "-") {
		return errors.New("its source " + fmt.Sprintf("%q", c.Source) + " is not a package of its folder")
	}
	return nil
}
