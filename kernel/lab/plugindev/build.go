package plugindev

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"noema/kernel/base/files"
	"noema/kernel/lab"
	"noema/plugins"
)

// manifest is what Build reads of a plugin.yaml.
type manifest struct {
	Language string   `yaml:"language"`
	Command  []string `yaml:"command"`
}

// readManifest reads the manifest of a plugin's folder.
func readManifest(dir string) (manifest, error) {
	var m manifest
	raw, err := files.Read(filepath.Join(dir, plugins.ManifestName), files.MaxConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return m, lab.Misused(fmt.Errorf("build plugin: no plugin %q (no file %s): noema plugin list shows all", filepath.Base(dir), filepath.Join(dir, plugins.ManifestName)))
	}
	if err != nil {
		return m, lab.Misused(fmt.Errorf("build plugin: %w", err))
	}
	if err := files.YAML(raw, &m); err != nil {
		return m, lab.Misused(fmt.Errorf("build plugin: read %s: %w", filepath.Join(dir, plugins.ManifestName), err))
	}
	return m, nil
}

// NeedsBuild reports whether the plugin must be built after its files changed.
func NeedsBuild(dir string) bool {
	m, err := readManifest(dir)
	return err == nil && m.Language == "go"
}

// Build makes the plugin in a folder ready to start: Go is compiled, and Python
// is checked for syntax errors and missing packages, and compiled to bytecode among the copies. What the tools print goes to out. A build that
// fails leaves the earlier binary in place.
func Build(ctx context.Context, copies plugins.Copies, dir string, out io.Writer) error {
	m, err := readManifest(dir)
	if err == nil {
		dir, err = filepath.Abs(dir)
	}
	if err != nil {
		return err
	}
	if src, err := plugins.At(dir); err == nil && src.Program != nil {
		return setUp(ctx, copies, src, out)
	}
	if m.Language != "go" && m.Language != "python" {
		return nil // it says how it is started, and needs nothing more
	}
	if len(m.Command) == 0 {
		return lab.Misused(fmt.Errorf("build plugin: %s has no command", filepath.Join(dir, plugins.ManifestName)))
	}
	if m.Language == "python" {
		if err = run(ctx, dir, out, m.Command[0], "-c", pythonCheck); err == nil {
			err = precompile(ctx, copies, dir, m.Command[0], out)
		}
	} else {
		err = compile(ctx, dir, filepath.Join(dir, m.Command[0]), ".", out)
	}
	if err != nil {
		return fmt.Errorf("build plugin %q: %w", filepath.Base(dir), err)
	}
	return nil
}

// setUp makes a program ready, as its manifest says, and compiles its Python.
func setUp(ctx context.Context, copies plugins.Copies, src plugins.Source, out io.Writer) error {
	for _, command := range src.Program.Setup {
		if len(command) == 0 {
			continue
		}
		if err := run(ctx, src.Dir, out, command[0], command[1:]...); err != nil {
			return fmt.Errorf("set up program %q: %w", src.Name, err)
		}
	}
	if !strings.HasPrefix(filepath.Base(src.Starts[0]), "python") {
		return nil
	}
	if err := precompile(ctx, copies, src.Dir, src.Starts[0], out); err != nil {
		return fmt.Errorf("compile program %q: %w", src.Name, err)
	}
	return nil
}

// precompile compiles the Python of a plugin to bytecode, in the copy of its code that runs
// use: beside the code itself it would be of no known code, and isolated processes could not
// read it. It is known by the text of its source, of which trials of programs have copies of
// another age. A file that cannot be compiled is left as it is.
func precompile(ctx context.Context, copies plugins.Copies, dir, python string, out io.Writer) error {
	src, err := plugins.At(dir)
	if err != nil {
		return err
	}
	digest, err := plugins.CodeDigest(src)
	if err == nil {
		src, err = copies.Snapshot(src, digest)
	}
	if err != nil {
		return err
	}
	return run(ctx, src.Dir, out, python, "-c", `import compileall, py_compile; compileall.compile_dir(".", quiet=1, invalidation_mode=py_compile.PycInvalidationMode.CHECKED_HASH)`)
}

// pythonCheck reads each file of a plugin, and looks for the packages that it needs.
const pythonCheck = `import ast, importlib.util, pathlib, shlex, sys
used = set()
for path in sorted(pathlib.Path(".").glob("*.py")):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), str(path))):
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else [getattr(node, "module", None) or ""]
        used.update(name.split(".")[0] for name in names)
def lacks(name):
    try:
        return importlib.util.find_spec(name) is None
    except ModuleNotFoundError:
        return True
if "noema" in used:
    pip = f"{shlex.quote(sys.executable)} -m pip install "
    if lacks("noema"):
        sys.exit(f"{sys.executable} lacks the package noema: write it with \"noema plugin sdk\", and install it with: {pip}./noema-*.whl")
    missing = [package for name, package in (("grpc", "grpcio"), ("google.protobuf", "protobuf")) if lacks(name)]
    if missing:
        sys.exit(f"{sys.executable} lacks {' and '.join(missing)}: {pip}{' '.join(missing)}")
`

// run runs a tool in a folder; one that is named by a path is found from there.
func run(ctx context.Context, dir string, out io.Writer, name string, args ...string) error {
	if strings.ContainsRune(name, filepath.Separator) && !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	tool, err := exec.LookPath(name)
	if err != nil {
		return fmt.Errorf("%s is not installed: %w", name, err)
	}
	cmd := exec.CommandContext(ctx, tool, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, out, out
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=", "CGO_ENABLED=0")
	err = cmd.Run()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if _, failed := errors.AsType[*exec.ExitError](err); failed {
		return fmt.Errorf("%s failed: see above", name)
	}
	return err
}
