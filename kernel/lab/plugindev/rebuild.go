package plugindev

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"noema/kernel/lab"
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
		return nil, lab.Misused(fmt.Errorf("rebuild: it needs the Go toolchain (https://go.dev/dl): %w", err))
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
		"GOENV=off", "GOFLAGS=", "GOPROXY=off", "GOSUMDB=off", "GOTOOLCHAIN=local", "GOTELEMETRY=off", "GOVCS=*:off", "CGO_ENABLED=0",
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
	work, at := filepath.Join(tmp, "go.work"), dir
	if IsFile(pkg) {
		work, at, pkg = "off", r.checkout, filepath.Join(dir, pkg)
	} else if err := os.WriteFile(work, fmt.Appendf(nil, "go %s\n\nuse (\n\t%s\n\t%s\n)\n", goVersion(r.checkout), strconv.Quote(dir), strconv.Quote(r.checkout)), 0o600); err != nil {
		return "", err
	}
	made := filepath.Join(tmp, "made")
	var said bytes.Buffer
	cmd := exec.Command(filepath.Join(r.read[0], "bin", "go"), goBuild(made, pkg)...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = at, append(r.env[:len(r.env):len(r.env)], "GOWORK="+work), &said, &said
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

// lacks reports whether the go tool looked for a module elsewhere.
func lacks(said string) bool {
	return strings.Contains(said, "GOPROXY=off") || strings.Contains(said, "no required module provides") || strings.Contains(said, "cannot find module providing")
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
