package jupyter

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// Place is where a kernel spec is installed. The zero value is the user's
// directory.
type Place struct {
	Prefix string // of a Python environment, for example
}

// logo is four thoughts that lead to one, in the forms that Jupyter looks for.
//
//go:embed logo
var logo embed.FS

// SpecName is the kernel's name.
const SpecName = "noema"

// folder is the directory of the kernel spec.
func (p Place) folder() (string, error) {
	if p.Prefix != "" {
		return filepath.Abs(filepath.Join(p.Prefix, "share", "jupyter", "kernels", SpecName))
	}
	if dir := os.Getenv("JUPYTER_DATA_DIR"); dir != "" {
		return filepath.Join(dir, "kernels", SpecName), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("find the home directory: %w", err)
	}
	switch {
	case runtime.GOOS == "darwin":
		return filepath.Join(home, "Library", "Jupyter", "kernels", SpecName), nil
	case os.Getenv("XDG_DATA_HOME") != "":
		return filepath.Join(os.Getenv("XDG_DATA_HOME"), "jupyter", "kernels", SpecName), nil
	}
	return filepath.Join(home, ".local", "share", "jupyter", "kernels", SpecName), nil
}

// Install writes a kernel spec with which Jupyter starts the executable with args
// and the connection file. It returns the directory of the spec.
func Install(p Place, executable string, args ...string) (string, error) {
	dir, err := p.folder()
	if err != nil {
		return "", fmt.Errorf("install kernel: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("install kernel: %w", err)
	}
	spec, err := json.MarshalIndent(map[string]any{
		"argv":         append(append([]string{executable}, args...), "{connection_file}"),
		"display_name": "noema (Go)", "language": "go", "interrupt_mode": "message",
		"metadata": map[string]any{"debugger": false},
	}, "", "  ")
	if err != nil {
		return "", fmt.Errorf("install kernel: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "kernel.json"), append(spec, '\n'), 0o644); err != nil {
		return "", fmt.Errorf("install kernel: %w", err)
	}
	logos, err := logo.ReadDir("logo")
	if err != nil {
		return "", fmt.Errorf("install kernel: %w", err)
	}
	for _, f := range logos {
		raw, err := logo.ReadFile("logo/" + f.Name())
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, f.Name()), raw, 0o644)
		}
		if err != nil {
			return "", fmt.Errorf("install kernel: %w", err)
		}
	}
	return dir, nil
}

// Uninstall removes the kernel spec and returns its directory.
func Uninstall(p Place) (string, error) {
	dir, err := p.folder()
	if err != nil {
		return "", fmt.Errorf("uninstall kernel: %w", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "kernel.json")); errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("uninstall kernel: no kernel in %s", dir)
	}
	if err := os.RemoveAll(dir); err != nil {
		return "", fmt.Errorf("uninstall kernel: %w", err)
	}
	return dir, nil
}
