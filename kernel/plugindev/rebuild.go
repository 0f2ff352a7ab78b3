package plugindev

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"

	"noema/kernel"
	"noema/kernel/files"
	"noema/plugins"
)

// Rebuilder compiles the source of plugins that others wrote.
type Rebuilder struct {
	checkout string // noema's source
	env      []string
	read     []string
	cache    string // of the go tool
}

// NewRebuilder finds the Go toolchain, and noema's source in the folder checkout; "" finds it.
func NewRebuilder(ctx context.Context, checkout string) (*Rebuilder, error) {
	tool, err := exec.LookPath("go")
	if err != nil {
		return nil, kernel.Misused(fmt.Errorf("rebuild: it needs the Go toolchain (https://go.dev/dl): %w", err))
	}
	r := &Rebuilder{}
	if r.checkout, err = FindCheckout(checkout); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, tool, "env", "-json", "GOROOT", "GOCACHE", "GOMODCACHE")
	cmd.Dir, cmd.Env = r.checkout, append(os.Environ(), "GOTOOLCHAIN=local", "GOFLAGS=")
	raw, err := cmd.Output()
	var is struct{ GOROOT, GOCACHE, GOMODCACHE string }
	if err == nil {
		err = json.Unmarshal(raw, &is)
	}
	if err != nil {
		return nil, fmt.Errorf("rebuild: ask the Go toolchain for its folders: %w", err)
	}
	r.cache, r.read = is.GOCACHE, []string{is.GOROOT, is.GOMODCACHE, r.checkout}
	r.env = []string{
		"PATH=" + filepath.Join(is.GOROOT, "bin"), "GOROOT=" + is.GOROOT, "GOCACHE=" + is.GOCACHE, "GOMODCACHE=" + is.GOMODCACHE, "HOME=/nonexistent",
		"GOENV=off", "GOFLAGS=", "GOWORK=off", "GOPROXY=off", "GOSUMDB=off", "GOTOOLCHAIN=local", "GOTELEMETRY=off", "GOVCS=*:off", "CGO_ENABLED=0",
	}
	return r, errors.Join(os.MkdirAll(is.GOCACHE, 0o700), os.MkdirAll(is.GOMODCACHE, 0o700)) // the isolated toolchain may not
}

// Build compiles a package of the module in a folder, such as "." or "./cmd/x", or a file
// of Go in it, into a binary. The toolchain runs isolated, as a plugin does: it opens no
// connection, and reads the folder, noema's source and the modules that are on this
// machine. missing says what it lacks of these; it is empty if the source was at fault.
func (r *Rebuilder) Build(ctx context.Context, dir, pkg, binary string) (missing string, err error) {
	tmp, err := os.MkdirTemp("", "noema-rebuild-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(tmp)
	at, flags := dir, []string(nil)
	if IsFile(pkg) {
		at, pkg = r.checkout, filepath.Join(dir, pkg)
	} else if flags, err = r.beside(dir, tmp); err != nil {
		return "", fmt.Errorf("it does not compile: %w", err)
	}
	made := filepath.Join(tmp, "made")
	var said bytes.Buffer
	cmd := exec.Command(filepath.Join(r.read[0], "bin", "go"), goBuild(made, pkg, flags...)...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = at, r.env, &said, &said
	err = plugins.Confined(ctx, cmd, tmp, append(r.read[:len(r.read):len(r.read)], dir), []string{r.cache})
	text := strings.TrimSpace(said.String())
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil && lacks(text):
		return fmt.Sprintf("modules that are not on this machine: fetch them by \"go mod download MODULE@VERSION\": %s", firstLine(text)), nil
	case err != nil:
		return "", fmt.Errorf("it does not compile: %w: %s", err, firstLine(text))
	}
	return "", os.Rename(made, binary)
}

// beside writes a go.mod, and its go.sum, for the module in a folder that takes noema from the
// checkout, and gives the flags that use it. It names all that noema's own does: so the go tool
// looks up only the modules that the code imports, where a workspace would want the go.mod
// of every one, also of those that only noema's tests and development tools need.
func (r *Rebuilder) beside(dir, tmp string) ([]string, error) {
	its, err := readModule(dir)
	if err != nil {
		return nil, err
	}
	ours, err := readModule(r.checkout)
	if err != nil {
		return nil, err
	}
	newest := map[string]string{}
	for _, m := range slices.Concat(its.Require, ours.Require) {
		if v, known := newest[m.Mod.Path]; !known || semver.Compare(v, m.Mod.Version) < 0 {
			newest[m.Mod.Path] = m.Mod.Version
		}
	}
	const self = "noema"
	newest[self] = "v0.0.0"
	for _, old := range its.Replace {
		if old.Old.Path == self {
			err = errors.Join(err, its.DropReplace(self, old.Old.Version))
		}
	}
	for _, path := range slices.Sorted(maps.Keys(newest)) {
		err = errors.Join(err, its.AddRequire(path, newest[path]))
	}
	if its.Go == nil || semver.Compare("v"+its.Go.Version, "v"+ours.Go.Version) < 0 {
		err = errors.Join(err, its.AddGoStmt(ours.Go.Version))
	}
	its.DropToolchainStmt()
	if err = errors.Join(err, its.AddReplace(self, "", r.checkout, "")); err != nil {
		return nil, err
	}
	its.Cleanup()
	text, err := its.Format()
	if err != nil {
		return nil, err
	}
	var sums []byte
	for _, at := range []string{dir, r.checkout} {
		sum, err := files.Read(filepath.Join(at, "go.sum"), files.MaxConfig)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		sums = append(append(sums, sum...), '\n')
	}
	mod := filepath.Join(tmp, "rebuilt.mod")
	return []string{"-modfile=" + mod, "-mod=readonly"}, errors.Join(os.WriteFile(mod, text, 0o600), os.WriteFile(filepath.Join(tmp, "rebuilt.sum"), sums, 0o600))
}

// readModule reads the go.mod of a folder.
func readModule(dir string) (*modfile.File, error) {
	name := filepath.Join(dir, "go.mod")
	raw, err := files.Read(name, files.MaxConfig)
	if err != nil {
		return nil, err
	}
	return modfile.Parse(name, raw, nil)
}

// lacks reports whether the go tool looked for a module elsewhere.
func lacks(said string) bool {
	return strings.Contains(said, "go: downloading ") || strings.Contains(said, "GOPROXY=off") || strings.Contains(said, "missing go.sum entry") || strings.Contains(said, "no required module provides") || strings.Contains(said, "cannot find module providing")
}

// firstLine is what a tool says first, beside the heading of a package.
func firstLine(said string) string {
	const most = 300
	for line := range strings.Lines(said) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			return line[:min(len(line), most)]
		}
	}
	return ""
}
