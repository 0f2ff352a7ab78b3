package program

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"noema/methods"
	"noema/plugins"
)

// world is what a program finds around it in one trial: a folder with a copy of its files,
// a home, a temporary folder, and variables; the same in each execution.
type world struct {
	source plugins.Source
	root   string // of all below
	work   string // the program's folder, in which it starts
	home   string
	tmp    string
	env    []string
}

// linked are folders that are large and only read: the copy leads to the originals, which the
// program cannot change.
var linked = []string{".venv", "venv", "node_modules", ".git", "__pycache__"}

// newWorld lays out what a trial of the problem needs.
func (m *Method) newWorld(p methods.Problem) (*world, error) {
	root := filepath.Join(m.scratch, "trial")
	w := &world{source: m.source, root: root, work: filepath.Join(root, "work"), home: filepath.Join(root, "home"), tmp: filepath.Join(root, "tmp")}
	w.remove()
	for _, dir := range []string{w.work, w.home, w.tmp} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("lay out the program's folder: %w", err)
		}
	}
	if err := copyTo(m.source.Dir, w.work); err != nil {
		return nil, fmt.Errorf("copy the program's folder: %w", err)
	}
	start, err := m.source.Program.Start()
	if err != nil {
		return nil, err
	}
	w.env = m.variables(p, w)
	if !start.IsZero() {
		w.env = append(w.env, "NOEMA_CLOCK="+strconv.FormatInt(start.Unix(), 10))
	}
	for _, name := range slices.Sorted(maps.Keys(m.source.Program.Env)) {
		w.set(name, m.source.Program.Env[name])
	}
	return w, nil
}

// joined are variables with which package numbering comes in, and what stands between the parts
// of their values.
var joined = map[string]string{"PYTHONPATH": string(os.PathListSeparator), "NODE_OPTIONS": " "}

// set gives a variable the value that the manifest says.
func (w *world) set(name, value string) {
	for _, pair := range w.env {
		if ours, ok := strings.CutPrefix(pair, name+"="); ok && joined[name] != "" {
			value = ours + joined[name] + value
		}
	}
	w.env = append(w.env, name+"="+value)
}

// anyKey is the key that clients demand; the endpoint asks for none.
const anyKey = "sk-noema"

// variables are those that point clients to the endpoint, keep them from calling elsewhere,
// and make two executions equal.
func (m *Method) variables(p methods.Problem, w *world) []string {
	base := "http://" + m.address
	seed := strconv.FormatUint(p.Seed, 10)
	numbering := filepath.Join(m.scratch, "numbering")
	return []string{
		"PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "TZ=UTC",
		"HOME=" + w.home, "TMPDIR=" + w.tmp, "PWD=" + w.work, "USER=noema", "LOGNAME=noema",

		"OPENAI_BASE_URL=" + base + "/v1", "OPENAI_API_BASE=" + base + "/v1", "OPENAI_API_KEY=" + anyKey, "OPENAI_HOST=" + base,
		"ANTHROPIC_BASE_URL=" + base, "ANTHROPIC_API_BASE=" + base, "ANTHROPIC_API_KEY=" + anyKey, "ANTHROPIC_AUTH_TOKEN=",
		"NOEMA_URL=" + base, "NOEMA_TOOLS=" + base + "/tools", "NOEMA_MCP=" + base + "/tools/mcp",

		"NOEMA_SEED=" + seed, "PYTHONHASHSEED=" + strconv.FormatUint(p.Seed%(1<<32), 10),
		"PYTHONPATH=" + numbering, "PYTHONUNBUFFERED=1", "PYTHONDONTWRITEBYTECODE=1",
		"NODE_OPTIONS=--require=" + filepath.Join(numbering, "numbering.cjs"),

		"DO_NOT_TRACK=1", "OPENAI_AGENTS_DISABLE_TRACING=1", "LITELLM_LOCAL_MODEL_COST_MAP=True", "LITELLM_TELEMETRY=False",
		"ANONYMIZED_TELEMETRY=False", "LANGCHAIN_TRACING_V2=false", "LANGSMITH_TRACING=false", "CREWAI_DISABLE_TELEMETRY=true", "OTEL_SDK_DISABLED=true",
		"HF_HUB_OFFLINE=1", "HF_HUB_DISABLE_TELEMETRY=1", "DSPY_CACHEDIR=" + filepath.Join(w.tmp, "dspy"), "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1", "DISABLE_AUTOUPDATER=1", "NO_COLOR=1", "TERM=dumb", "CI=true",
	}
}

// remove takes the world away. What is left fails the next trial, which lays out its own.
func (w *world) remove() { plugins.RemoveAll(w.root) }

// copyTo copies a folder, so that a program may write in it.
func copyTo(from, to string) error {
	if from == "" {
		return nil
	}
	return filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil || name == "." {
			return err
		}
		target := filepath.Join(to, name)
		switch info, err := os.Stat(path); { // a link counts as what it leads to
		case err != nil:
			return nil // a link that leads nowhere
		case slices.Contains(linked, e.Name()) || info.IsDir() && !e.IsDir():
			return errors.Join(os.Symlink(path, target), skip(e))
		case e.IsDir():
			return os.Mkdir(target, 0o700)
		case info.Mode().IsRegular():
			return copyFile(path, target, info.Mode().Perm()|0o600)
		}
		return nil
	})
}

// skip leaves a folder out of a walk.
func skip(e fs.DirEntry) error {
	if e.IsDir() {
		return fs.SkipDir
	}
	return nil
}

func copyFile(from, to string, mode fs.FileMode) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// join writes a command for people.
func join(command []string) string { return strings.Join(command, " ") }
