// Package plugindev makes, builds, promotes and checks plugins: from a name, a folder
// with a method that works; from such a folder, something that the kernel can
// start; from a function in a script, a plugin with the same behaviour. It is
// the short way from an idea to a comparison.
package plugindev

import (
	"bytes"
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"text/template"

	"noema/kernel/base/files"
	"noema/kernel/lab"
	"noema/plugins/python"
)

//go:embed all:templates
var templates embed.FS

// Options say what to make.
type Options struct {
	Name     string // of the method
	Language string // "go" or "python"
	Dir      string // the folder in which the plugin's own is made
	Checkout string // noema's source, which a plugin in Go is built with; "" finds it
	Python   string // the interpreter of a plugin in Python; "" is python3
}

var validName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,39}$`)

// New makes the folder Dir/Name with a working method, its test, manifest and
// README, and returns its path.
func New(o Options) (string, error) {
	switch o.Language {
	case "go":
		v, err := o.values()
		if err != nil {
			return "", err
		}
		return o.write(v, "module", "go")
	case "python":
		v, err := nameValues(o.Name)
		if err != nil {
			return "", err
		}
		v.Python = cmp.Or(o.Python, "python3")
		return o.write(v, "python")
	}
	return "", lab.Misused(fmt.Errorf("new plugin: language %q: use go or python", o.Language))
}

// Next are the commands that lead from the new folder dir of a plugin to one that starts, in
// their order; by is what "plugin build" finds it by. A plugin in Python needs the SDK, for
// which a fresh machine has no environment yet.
func (o Options) Next(dir, by string) ([]string, error) {
	build := "noema plugin build " + files.Word(by)
	if o.Language != "python" {
		return []string{build}, nil
	}
	wheel, _, err := python.Wheel()
	venv, folder := filepath.Join(dir, ".venv"), filepath.Dir(dir)
	steps := []string{
		"python3 -m venv " + files.Word(venv), ". " + files.Word(filepath.Join(venv, "bin", "activate")), "noema plugin sdk " + files.Word(folder),
		files.Word(cmp.Or(o.Python, "python3")) + " -m pip install " + files.Word(filepath.Join(folder, wheel)), build,
	}
	if o.Python != "" {
		steps = steps[2:]
	}
	return steps, err
}

// values are what the templates are filled in with.
type values struct {
	Name, Module, GoVersion, Checkout string
	Class, Python                     string // of the method in Python

	// Of a promoted function: its file's name and its declarations, its own
	// name, and the arguments that it was added with.
	File, Body, Function, Kinds, Version string
}

// nameValues are the values that follow from a method's name.
func nameValues(name string) (values, error) {
	if !validName.MatchString(name) {
		return values{}, lab.Misused(fmt.Errorf("new plugin: name %q: use lower-case letters, digits and '-', starting with a letter", name))
	}
	class := ""
	for _, part := range strings.Split(name, "-") {
		if part != "" {
			class += strings.ToUpper(part[:1]) + part[1:]
		}
	}
	return values{Name: name, Module: strings.ReplaceAll(name, "-", ""), Class: class}, nil
}

func (o Options) values() (values, error) {
	v, err := nameValues(o.Name)
	if err != nil {
		return v, err
	}
	if v.Checkout, err = FindCheckout(o.Checkout); err != nil {
		return v, err
	}
	v.GoVersion = goVersion(v.Checkout)
	return v, nil
}

// write fills in the templates of the folders. It does not change what is there
// already, and removes a folder that it could not complete.
func (o Options) write(v values, folders ...string) (string, error) {
	dir, err := filepath.Abs(filepath.Join(o.Dir, o.Name))
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return "", fmt.Errorf("new plugin: %w", err)
	}
	if err := os.Mkdir(dir, 0o755); errors.Is(err, fs.ErrExist) {
		return "", lab.Misused(fmt.Errorf("new plugin: %s already exists: choose another name, or remove it", dir))
	} else if err != nil {
		return "", fmt.Errorf("new plugin: %w", err)
	}
	for _, folder := range folders {
		names, err := fs.Glob(templates, path.Join("templates", folder, "*.tmpl"))
		for i := 0; err == nil && i < len(names); i++ {
			err = fill(names[i], filepath.Join(dir, strings.TrimSuffix(path.Base(names[i]), ".tmpl")), v)
		}
		if err != nil {
			return "", errors.Join(fmt.Errorf("new plugin: %w", err), os.RemoveAll(dir))
		}
	}
	return dir, nil
}

// fill fills in one template.
func fill(name, to string, v values) error {
	raw, err := templates.ReadFile(name)
	if err != nil {
		return err
	}
	t, err := template.New(name).Option("missingkey=error").Parse(string(raw))
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := t.Execute(&b, v); err != nil {
		return err
	}
	return os.WriteFile(to, b.Bytes(), 0o644)
}

// FindCheckout finds noema's source: where it is given, or the nearest folder
// above that holds it, or where this program was built from.
func FindCheckout(given string) (string, error) {
	tried := []string{given}
	if given == "" {
		tried = above()
		if _, file, _, ok := runtime.Caller(0); ok {
			tried = append(tried, filepath.Join(filepath.Dir(file), "..", "..", ".."))
		}
	}
	for _, dir := range tried {
		raw, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && strings.HasPrefix(string(raw), "module noema\n") {
			return filepath.Abs(dir)
		}
	}
	if given != "" {
		return "", lab.Misused(fmt.Errorf("find noema's source: %q is not a clone of it: give the folder that holds its go.mod", given))
	}
	return "", lab.Misused(errors.New("find noema's source, which is needed to build: run this in a clone, or name one with --source"))
}

// above lists the working folder and those above it.
func above() (dirs []string) {
	dir, err := os.Getwd()
	for err == nil {
		dirs = append(dirs, dir)
		parent := filepath.Dir(dir)
		if parent == dir {
			break
		}
		dir = parent
	}
	return dirs
}

var goLine = regexp.MustCompile(`(?m)^go (\S+)$`)

// goVersion is the version of Go that the checkout asks for.
func goVersion(checkout string) string {
	raw, err := os.ReadFile(filepath.Join(checkout, "go.mod"))
	if m := goLine.FindSubmatch(raw); err == nil && m != nil {
		return string(m[1])
	}
	return strings.TrimPrefix(runtime.Version(), "go")
}
