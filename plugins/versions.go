package plugins

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"noema/kernel/base/files"
	"noema/plugins/internal/isolate"
)

// maxVersions bounds how many packages are told of one method.
const maxVersions = 1000

// Versions tells what runs a plugin's code and is not part of it: the interpreter and the
// packages that it finds, as "python 3.11.7" and "openai 2.1.0", in the order of their names
// after the interpreter. An interpreter that the user's PATH names is asked; of one that the
// plugin names by a path, which may be anything, only files are read. What cannot be found
// so is left out.
func (s Source) Versions(ctx context.Context) []string {
	at := s.interpreter()
	own := isolate.Brought(s.command()[0])
	switch base := filepath.Base(at); {
	case own && strings.HasPrefix(base, "python"):
		root := filepath.Dir(filepath.Dir(at))
		found, _ := filepath.Glob(filepath.Join(root, "lib", "python3*", "site-packages")) // the pattern is well formed
		return append([]string{"python " + fieldOf(filepath.Join(root, "pyvenv.cfg"), "version")}, distributions(found)...)
	case strings.HasPrefix(base, "python"):
		said := strings.Split(ask(ctx, at, "-I", "-c", `import sys; print(sys.version.split()[0], *sys.path, sep="\n")`), "\n")
		return append([]string{"python " + said[0]}, distributions(said[1:])...)
	case base == "node" && !own:
		return append([]string{"node " + ask(ctx, at, "--version")}, packagesOf(filepath.Join(s.Dir, "node_modules"))...)
	}
	return nil
}

// ask returns what a program of the system prints.
func ask(ctx context.Context, name string, args ...string) string {
	ctx, cancel := context.WithTimeout(ctx, isolate.Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = os.TempDir()
	out, _ := cmd.Output() // of one that fails: nothing
	return strings.TrimSpace(string(out))
}

// command is what a plugin's manifest starts.
func (s Source) command() []string {
	if s.Program != nil {
		return s.Starts
	}
	return s.Command
}

// Missing is the interpreter that a plugin's folder names and this machine lacks; empty if it
// has it.
func (s Source) Missing() string {
	if s.Dir == "" || s.interpreter() != "" {
		return ""
	}
	return s.command()[0]
}

// interpreter is the path of what a plugin's command begins with; empty if it is not there.
func (s Source) interpreter() string {
	name := s.command()[0]
	if strings.ContainsRune(name, filepath.Separator) && !filepath.IsAbs(name) {
		name = filepath.Join(s.Dir, name)
	}
	at, err := exec.LookPath(name)
	if err != nil {
		return ""
	}
	return at
}

// distributions are the packages of Python in folders.
func distributions(folders []string) (all []string) {
	for _, folder := range folders {
		found, _ := filepath.Glob(filepath.Join(folder, "*.dist-info")) // a folder with a bracket in its name shows none
		for _, dir := range found {
			if name, number, ok := strings.Cut(strings.TrimSuffix(filepath.Base(dir), ".dist-info"), "-"); ok {
				all = append(all, name+" "+number)
			}
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	return all[:min(len(all), maxVersions)]
}

// fieldOf is the value of a line "name = value" of a file; empty if there is none.
func fieldOf(path, name string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if key, value, ok := strings.Cut(lines.Text(), "="); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// packagesOf are the packages in a folder of Node's.
func packagesOf(dir string) (all []string) {
	for _, below := range []string{"*", "@*/*"} {
		found, _ := filepath.Glob(filepath.Join(dir, below, "package.json")) // the pattern is well formed
		for _, path := range found[:min(len(found), maxVersions)] {
			raw, err := files.Read(path, files.MaxConfig)
			var said struct{ Name, Version string }
			if err == nil && json.Unmarshal(raw, &said) == nil && said.Name != "" {
				all = append(all, said.Name+" "+said.Version)
			}
		}
	}
	slices.Sort(all)
	return all
}
