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
func Program(command []string, dir, own string) (roots []string, python string) {
	for range 4 { // a script's interpreter may be a script
		command = withoutEnv(command)
		if len(command) == 0 {
			return roots, ""
		}
		path := locate(command[0], dir)
		if strings.HasPrefix(filepath.Base(path), "python") {
			return roots, path
		}
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			return roots, ""
		}
		roots = append(roots, path, real)
		if path != own {
			roots = append(roots, libraries(filepath.Dir(real))...)
		}
		command = interpreter(real)
	}
	return roots, ""
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
	return []string{filepath.Join(prefix, "lib"), filepath.Join(prefix, "lib64"), filepath.Join(prefix, "libexec")}
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

// Python asks a Python for its parts.
func Python(path string, env []string) (Interpreter, error) {
	const patience = 20 * time.Second
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "-c", asked)
	cmd.Env, cmd.Dir = env, "/"
	raw, err := cmd.Output()
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
