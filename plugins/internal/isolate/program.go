package isolate

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Program is what a command started in dir needs beyond the system: the program
// itself, the libraries beside it, and its interpreter if it is a script. Of the
// plugin's own file, nothing beside it counts. python is the Python that runs it,
// if one does.
func Program(command []string, dir, own string) (roots []string, python Found) {
	for range 4 { // a script's interpreter may be a script
		command = withoutEnv(command)
		if len(command) == 0 {
			return roots, Found{}
		}
		path := locate(command[0], dir)
		if strings.HasPrefix(filepath.Base(path), "python") {
			return roots, Found{path, Brought(command[0])}
		}
		real := executable(path)
		if real == "" {
			return roots, Found{}
		}
		roots = append(roots, path, real)
		if path != own {
			roots = append(roots, libraries(filepath.Dir(real))...)
		}
		command = interpreter(real)
	}
	return roots, Found{}
}

// Found is a Python that a command starts.
type Found struct {
	Path  string // empty for none
	Named bool   // by a path that the user's PATH does not give
}

// executable is the file that a path leads to, if it can be started: what cannot be is not
// given away for being named where a command stands.
func executable(path string) string {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return ""
	}
	if info, err := os.Stat(real); err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
		return ""
	}
	return real
}

// locate is the file of a program's name.
func locate(name, dir string) string {
	if filepath.IsAbs(name) {
		return name
	}
	if strings.ContainsRune(name, filepath.Separator) {
		return filepath.Join(dir, name)
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return name
	}
	return path
}

// withoutEnv is the command that env would start.
func withoutEnv(command []string) []string {
	if len(command) == 0 || filepath.Base(command[0]) != "env" {
		return command
	}
	i := slices.IndexFunc(command[1:], func(w string) bool { return !strings.HasPrefix(w, "-") && !strings.Contains(w, "=") })
	if i < 0 {
		return nil
	}
	return command[1+i:]
}

// libraries are the folders beside a folder of programs.
func libraries(bin string) []string {
	prefix, base := filepath.Split(bin)
	if base != "bin" {
		return nil
	}
	return slices.DeleteFunc([]string{filepath.Join(prefix, "lib"), filepath.Join(prefix, "lib64"), filepath.Join(prefix, "libexec")}, func(dir string) bool {
		info, err := os.Lstat(dir)
		return err == nil && !info.IsDir() // a link may lead anywhere
	})
}

// interpreter is the command on the first line of a script, or nil.
func interpreter(file string) []string {
	f, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	line, err := bufio.NewReaderSize(f, 512).ReadSlice('\n')
	text, script := strings.CutPrefix(string(line), "#!")
	if err != nil || !script {
		return nil
	}
	return strings.Fields(text)
}

// Interpreter is an installation of Python.
type Interpreter struct {
	Executable string   // the program itself, where python3 may be a script that chooses one
	Roots      []string // what it reads: its libraries and installed packages
}

// asked has a Python tell where its parts are. Packages that are installed in
// place are known to the finder that pip installs for them.
const asked = `import json, sys
places = [p for m in list(sys.modules.values()) if m.__name__.startswith("__editable__") for p in getattr(m, "MAPPING", {}).values()]
print(json.dumps({"executable": sys.executable, "prefix": sys.prefix, "path": [p for p in sys.path if p] + places}))`

// Brought reports whether a program is one that the user's PATH does not give, by name or by
// its whole path: it may be anything, also something that the plugin brings.
func Brought(command string) bool {
	if !strings.ContainsRune(command, filepath.Separator) {
		return false
	}
	path, err := exec.LookPath(filepath.Base(command))
	return err != nil || path != command
}

// Python returns the parts of the Python that a command names. One that the user's PATH gives
// is asked for them, for it may be a script that chooses one; of any other only its files are
// looked at: to ask it is to run it, and nothing bounds it yet.
func Python(p Found, env []string) (Interpreter, error) {
	if p.Named {
		return installed(p.Path), nil
	}
	return ask(p.Path, env)
}

// installed finds the parts of a Python by how installations and environments are laid out. A
// link to anything of another name gives nothing away.
func installed(path string) Interpreter {
	in := Interpreter{Executable: path, Roots: []string{path}}
	real := executable(path)
	if real == "" {
		return Interpreter{Executable: path}
	}
	in.Roots = append(in.Roots, real)
	environment, base := filepath.Dir(filepath.Dir(path)), filepath.Dir(filepath.Dir(real))
	if settings := filepath.Join(environment, "pyvenv.cfg"); regular(settings) {
		in.Roots = append(in.Roots, settings)
		in.Roots = append(in.Roots, named(filepath.Join(environment, "lib"), "python3*/site-packages")...)
	}
	for _, dir := range named(filepath.Join(base, "lib"), "python3*") {
		if regular(filepath.Join(dir, "os.py")) {
			in.Roots = append(in.Roots, dir)
			in.Roots = append(in.Roots, named(filepath.Join(base, "lib"), "lib*.so*")...)
		}
	}
	return in
}

// named are the files and folders of a pattern that lead to something of the same name.
func named(dir, pattern string) (all []string) {
	found, _ := filepath.Glob(filepath.Join(dir, pattern)) // a folder with a bracket in its name shows none
	for _, path := range found {
		if real, err := filepath.EvalSymlinks(path); err == nil && sameKind(filepath.Base(real), filepath.Base(path)) {
			all = append(all, real)
		}
	}
	return all
}

// sameKind reports whether two names are equal up to a version behind ".so", as of libraries.
func sameKind(a, b string) bool {
	a, _, _ = strings.Cut(a, ".so")
	b, _, _ = strings.Cut(b, ".so")
	return a == b
}

func regular(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}

// Patience is how long a program of the system may take to tell its version or its parts. It
// ends one that hangs: on a busy machine a Python takes half a minute to begin.
const Patience = 3 * time.Minute

// ask runs a Python for what it says of its parts.
func ask(path string, env []string) (Interpreter, error) {
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "-c", asked)
	cmd.Env, cmd.Dir = env, "/"
	raw, err := cmd.Output()
	if ctx.Err() != nil {
		err = fmt.Errorf("it gave no answer within %v", Patience)
	}
	var told struct {
		Executable, Prefix string
		Path               []string
	}
	if err == nil {
		err = json.Unmarshal(raw, &told)
	}
	if err != nil {
		return Interpreter{}, fmt.Errorf("ask %s for its libraries: %w", path, err)
	}
	in := Interpreter{Executable: told.Executable, Roots: told.Path}
	real, err := filepath.EvalSymlinks(told.Executable)
	if err != nil {
		return Interpreter{}, fmt.Errorf("ask %s for its libraries: %w", path, err)
	}
	in.Roots = append(in.Roots, path, told.Executable, real, filepath.Join(told.Prefix, "pyvenv.cfg"))
	in.Roots = append(in.Roots, libraries(filepath.Join(told.Prefix, "bin"))...)
	in.Roots = append(in.Roots, libraries(filepath.Dir(real))...)
	return in, nil
}
