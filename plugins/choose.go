package plugins

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"noema/kernel/base/files"
)

// Left is a file or folder beside a plugin's code that is not part of it.
type Left struct {
	Name string // below the plugin's folder; a folder's ends with a slash
	Why  string
	Task bool // it holds data of a task
}

// rank brings what holds data of a task to the front of a list.
func (l Left) rank() int {
	if l.Task {
		return 1
	}
	return 0
}

// Bounds on what a folder holds: its code is chosen from it, and each run copies that.
const (
	maxChosen      = 50 << 20 // bytes
	maxChosenFiles = 500
	maxLooked      = 20_000 // entries of the folder that are looked at
)

// chooser finds out what of a folder is a plugin's code.
type chooser struct {
	src      Source
	withheld *Withheld
	ignored  ignored

	declared map[string]bool // paths that the manifest or its command names
	code     []string        // what is plainly code
	texts    []string        // what is code if the code names it
	links    []string        // links to folders, and folders of packages
	left     []Left
	looked   int
}

// Choose finds out what of a plugin's folder is its code: the files that its command and its
// manifest's line "files" name, what is plainly code, and texts that the code names. Everything
// else stays where it is, as do what git ignores, what has a dot before its name, what has the shape of
// a key in it, and what is withheld. The source that it returns is of those files alone.
func Choose(src Source, withheld *Withheld) (Source, error) {
	if src.Dir == "" || src.Builtin {
		return src, nil
	}
	if err := ownFolder(src.Dir); err != nil {
		return src, err
	}
	c := &chooser{src: src, withheld: withheld, declared: map[string]bool{}}
	if err := c.declare(); err != nil {
		return src, err
	}
	if err := filepath.WalkDir(src.Dir, c.look); err != nil {
		return src, err
	}
	if err := c.decide(); err != nil {
		return src, err
	}
	src.chosen, src.links, src.Left, src.copied = append([]string{}, c.code...), c.links, c.left, len(c.code)
	return src, nil
}

// Copied is how many files of the folder are the code, once [Choose] has looked.
func (s Source) Copied() int { return s.copied }

// Without is the source without files that were left out of its code before.
func (s Source) Without(names []string) Source {
	s.without = map[string]bool{}
	for _, name := range names {
		s.without[name] = true
	}
	return s
}

// ownFolder refuses the user's home folder, and what holds it.
func ownFolder(dir string) error {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil
	}
	if below, err := filepath.Rel(dir, home); err == nil && filepath.IsLocal(below) {
		return fmt.Errorf("its folder %q is or holds your home folder, of which no method may read a copy: put the program into a folder of its own", dir)
	}
	return nil
}

// declare notes what is named: the words of the command that are files of the folder, and what
// the manifest's files are, which may be patterns and folders.
func (c *chooser) declare() error {
	if manifest := filepath.Join(c.src.Dir, ManifestName); isRegular(manifest) {
		c.declared[manifest] = true
	}
	for _, word := range c.src.words() {
		c.declared[word] = true
	}
	for _, pattern := range c.src.Files {
		if !filepath.IsLocal(filepath.FromSlash(pattern)) {
			return fmt.Errorf("files: %q is not below the plugin's folder: write names such as data/rules.json", pattern)
		}
		found, err := filepath.Glob(filepath.Join(c.src.Dir, filepath.FromSlash(pattern)))
		if err != nil || len(found) == 0 {
			return fmt.Errorf("files: there is no file %q in %s", pattern, c.src.Dir)
		}
		for _, path := range found {
			err := filepath.WalkDir(path, func(file string, e fs.DirEntry, err error) error {
				if err == nil && !e.IsDir() {
					c.declared[file] = true
				}
				return err
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// words are the files of the folder that the command names, also behind an equals sign.
func (s Source) words() (all []string) {
	for _, word := range slices.Concat(s.Command, s.Starts) {
		_, value, _ := strings.Cut(word, "=")
		for _, name := range []string{word, value} {
			path := filepath.Join(s.Dir, name)
			if name != "" && filepath.IsLocal(name) && isRegular(path) && !inEnvironment(s.Dir, path) {
				all = append(all, path)
			}
		}
	}
	return all
}

// inEnvironment reports whether a file is in a folder of packages, to which a copy only leads.
func inEnvironment(dir, path string) bool {
	for at := filepath.Dir(path); len(at) > len(dir); at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, "pyvenv.cfg")); err == nil || slices.Contains(linked, filepath.Base(at)) {
			return true
		}
	}
	return false
}

func isRegular(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// look sorts one entry of the folder.
func (c *chooser) look(path string, e fs.DirEntry, err error) error {
	if path == c.src.Dir {
		return err
	}
	if c.looked++; c.looked > maxLooked {
		return fmt.Errorf("its folder %q holds more than %d files: put the program into a folder of its own", c.src.Dir, maxLooked)
	}
	if e.IsDir() {
		return c.folder(path, e, err)
	}
	info, statErr := os.Stat(path)
	switch why := c.outside(path, e); {
	case c.declared[path]: // decided below
	case e.Type()&fs.ModeSymlink != 0 && (statErr != nil || info.IsDir()):
		c.links = append(c.links, path)
	case statErr != nil || !info.Mode().IsRegular():
	case why != "":
		c.leave(path, why)
	case plainCode(path, info):
		c.code = append(c.code, path)
	case slices.Contains(textKinds, strings.ToLower(filepath.Ext(path))) && info.Size() <= files.MaxConfig:
		c.texts = append(c.texts, path)
	default:
		c.leave(path, cmp.Or(c.withheld.whole(path, info), "it is not plainly code"))
	}
	return nil
}

// folder decides whether to look into one.
func (c *chooser) folder(path string, e fs.DirEntry, err error) error {
	settings, noEnvironment := os.Lstat(filepath.Join(path, "pyvenv.cfg"))
	switch why := c.outside(path, e); {
	case slices.Contains(linked, e.Name()), noEnvironment == nil && settings.Mode().IsRegular():
		c.links = append(c.links, path)
		return filepath.SkipDir
	case leftOut(path, e):
		return filepath.SkipDir
	case err != nil:
		c.leave(path, "it cannot be read")
	case why != "":
		c.leave(path, why)
	case noEnvironment == nil:
		c.leave(path, "it is a virtual environment whose pyvenv.cfg is elsewhere")
	default:
		return nil
	}
	return filepath.SkipDir
}

// outside is why an entry is not code whatever it holds.
func (c *chooser) outside(path string, e fs.DirEntry) string {
	switch {
	case strings.HasPrefix(e.Name(), "."):
		return "its name begins with a dot"
	case c.ignored.has(path, e.IsDir()):
		return "git ignores it"
	}
	return ""
}

func (c *chooser) leave(path, why string) {
	name, err := filepath.Rel(c.src.Dir, path)
	if err != nil {
		name = path
	}
	if info, err := os.Lstat(path); err == nil && info.IsDir() {
		name += "/"
	}
	c.left = append(c.left, Left{Name: filepath.ToSlash(name), Why: why, Task: strings.HasSuffix(why, ofTask)})
}
