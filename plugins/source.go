package plugins

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"noema/kernel/base/files"
)

// Source says where a plugin's code is and how to start it.
type Source struct {
	Name    string   // as written after --methods
	Command []string // program and arguments
	Dir     string   // folder that its working directory leads to; empty if it is one file
	Builtin bool     // served by the noema binary itself
	File    bool     // Path is a file of Go that the noema binary interprets
	Path    string   // the file or folder that holds the code
	Digest  string   // if set, a process starts only while the code has it; see [CodeDigest]
	Serial  bool     // a process serves one trial at a time; by the manifest's concurrent: false

	// What the manifest asks for beyond what every plugin may do. It counts only
	// once the user has granted it.
	Network bool     // open connections
	Read    []string // files and folders, absolute
	Granted bool
	Request string // identifies what is asked for; empty if nothing is
	NoCalls bool   // it answers without a model or tool call by nature

	Files   []string        // what of the folder is code beside what plainly is, by the manifest
	Left    []Left          // what of the folder is not, once [Choose] has looked
	copied  int             // how many files of the folder are
	chosen  []string        // paths of the files that are; nil means all
	without map[string]bool // names of files that were left out before
	links   []string        // paths that a copy only leads to

	Starts  []string // of a Program: its own command, where Command is what serves it
	Program *Program // if the folder holds a program that is a method as it is; else nil

	StartLimit time.Duration // for a process to answer; 0 means the host's
}

// ManifestName is the file that makes a folder a plugin.
const ManifestName = "plugin.yaml"

// manifest is the content of a plugin.yaml.
type manifest struct {
	Name     string   `yaml:"name"`
	Language string   `yaml:"language"`
	Command  []string `yaml:"command"`
	// Concurrent says whether a process may serve several trials at a time, as
	// the contract of a Method has it; the default is true.
	Concurrent *bool         `yaml:"concurrent"`
	Network    bool          `yaml:"network"`
	Read       []string      `yaml:"read"`
	Files      []string      `yaml:"files"` // what of the folder is code beside what plainly is
	Calls      string        `yaml:"calls"` // "none" declares a method that answers without any
	StartLimit time.Duration `yaml:"start_limit"`
	Program    `yaml:",inline"`
}

// Builtins returns the sources of methods that the running binary serves
// itself when it is started with the given arguments and a method's name.
func Builtins(args []string, names []string) ([]Source, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find own executable: %w", err)
	}
	sources := make([]Source, len(names))
	for i, name := range names {
		command := append([]string{self}, args...)
		sources[i] = Source{Name: name, Command: append(command, name), Builtin: true, Path: self}
	}
	return sources, nil
}

// FileVerb is the first argument with which a program starts itself to serve
// the method in a file of Go; the second is the file.
const FileVerb = "serve-file"

// goFile is the extension of files of Go.
const goFile = ".go"

// IsPath reports whether a method is given as a path, as ./name or name.go,
// rather than by its name alone.
func IsPath(method string) bool {
	return method == "." || strings.ContainsRune(method, filepath.Separator) || strings.HasSuffix(method, goFile)
}

// Discover finds the plugins of the given folders: executable files, named
// after the file, and subfolders with a plugin.yaml. Files of Go are found by
// their path alone, since such a folder may hold other code. Folders that do not
// exist are skipped. Of two plugins with one name the first found counts.
// Faulty manifests do not hide the other plugins: their errors are joined.
func Discover(dirs []string) ([]Source, error) {
	var sources []Source
	var faults []error
	seen := map[string]bool{}
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("read plugin folder: %w", err))
			continue
		}
		for _, e := range entries {
			if filepath.Ext(e.Name()) == goFile {
				continue
			}
			src, err := At(filepath.Join(dir, e.Name()))
			if errors.Is(err, errNoPlugin) {
				continue
			}
			if err != nil {
				faults = append(faults, err)
				continue
			}
			if !seen[src.Name] {
				seen[src.Name] = true
				sources = append(sources, src)
			}
		}
	}
	return sources, errors.Join(faults...)
}

// FileMethod is the name of the method in a file of Go: my-method for my_method.go.
func FileMethod(path string) string {
	return strings.ReplaceAll(strings.TrimSuffix(filepath.Base(path), goFile), "_", "-")
}

// errNoPlugin says that a path is neither an executable nor a plugin folder.
var errNoPlugin = errors.New("neither an executable, nor a file of Go, nor a folder with " + ManifestName)

// At returns the plugin at a path: an executable file, a file of Go, which the
// running program interprets, or a folder with a plugin.yaml.
func At(path string) (Source, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return Source{}, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return Source{}, fmt.Errorf("find plugin: %w", err)
	}
	if info.IsDir() {
		return fromManifest(path)
	}
	if filepath.Ext(path) == goFile && info.Mode().IsRegular() {
		self, err := os.Executable()
		if err != nil {
			return Source{}, fmt.Errorf("find own executable: %w", err)
		}
		return Source{Name: FileMethod(path), Command: []string{self, FileVerb, path}, Path: path, File: true}, nil
	}
	if !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
		return Source{}, fmt.Errorf("find plugin: %q is %w", path, errNoPlugin)
	}
	return Source{Name: filepath.Base(path), Command: []string{path}, Path: path}, nil
}

func fromManifest(dir string) (Source, error) {
	file := filepath.Join(dir, ManifestName)
	raw, err := files.Read(file, files.MaxConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return Source{}, fmt.Errorf("find plugin: %q is %w", dir, errNoPlugin)
	}
	if err != nil {
		return Source{}, fmt.Errorf("read manifest: %w", err)
	}
	var m manifest
	if err := files.YAML(raw, &m, yaml.Strict()); err != nil {
		return Source{}, fmt.Errorf("read manifest %s: %w", file, err)
	}
	if m.Name == "" {
		m.Name = filepath.Base(dir)
	}
	if len(m.Command) == 0 {
		return Source{}, fmt.Errorf("read manifest %s: no command: add a line such as command: [python3, main.py]", file)
	}
	if m.Calls != "" && m.Calls != "none" {
		return Source{}, fmt.Errorf("read manifest %s: calls: %q: leave the line out, or write calls: none", file, m.Calls)
	}
	if l := m.StartLimit; l != 0 && l < time.Second || l > 10*time.Minute {
		return Source{}, fmt.Errorf("read manifest %s: start_limit: %v: write a time from 1s to 10m, as in 120s", file, l)
	}
	m.Command[0] = elsewhere(dir, m.Command[0])
	src := Source{
		Name: m.Name, Command: m.Command, Dir: dir, Path: dir, Serial: m.Concurrent != nil && !*m.Concurrent,
		Network: m.Network, Files: m.Files, NoCalls: m.Calls == "none", StartLimit: m.StartLimit,
	}
	if err := src.program(m); err != nil {
		return Source{}, fmt.Errorf("read manifest %s: %w", file, err)
	}
	for _, path := range m.Read {
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		src.Read = append(src.Read, filepath.Clean(path))
	}
	if len(src.Asks()) > 0 {
		src.Request = fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%q %s", dir, raw)))
	}
	return src, nil
}

// elsewhere is the program that a command names. A pack and a fresh checkout lack the folders of
// packages beside the code: then the program of the same name in PATH takes its place.
func elsewhere(dir, program string) string {
	top, _, below := strings.Cut(program, string(filepath.Separator))
	if _, err := os.Stat(filepath.Join(dir, top)); below && slices.Contains(linked, top) && errors.Is(err, fs.ErrNotExist) {
		return filepath.Base(program)
	}
	return program
}

// tooLate says how a plugin with a manifest gets longer to start.
func (s Source) tooLate() string {
	if s.Dir == "" {
		return ""
	}
	return ": if it needs longer to start, write a start_limit in its " + ManifestName + ", as in start_limit: 120s"
}

// Asks lists what the manifest asks for beyond what every plugin may do.
func (s Source) Asks() []string {
	var all []string
	if s.Network {
		all = append(all, "network")
	}
	for _, path := range s.Read {
		all = append(all, "read "+path)
	}
	return all
}
