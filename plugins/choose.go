package plugins

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"noema/kernel/base/files"
	"noema/kernel/base/redact"
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

// decide adds the texts that the code names and what is declared, and takes out what is withheld
// or holds a key.
func (c *chooser) decide() error {
	c.addTexts()
	var all []string
	var size int64
	words := c.src.words()
	for _, path := range c.code {
		if why := c.secret(path, words); why != "" {
			c.leave(path, why)
			continue
		}
		all = append(all, path)
		if info, err := os.Stat(path); err == nil {
			size += info.Size()
		}
	}
	if len(all) > maxChosenFiles || size > maxChosen {
		return fmt.Errorf("its folder %q holds %d files of code, of %d MiB together, and each run copies them: at most %d and %d MiB are taken unasked: put the program into a folder of its own, or name its files in the line files of a %s",
			c.src.Dir, len(all), size>>20, maxChosenFiles, maxChosen>>20, ManifestName)
	}
	for path := range c.declared {
		if why, err := c.declaredWhy(path, words); err != nil {
			return err
		} else if why != "" {
			c.leave(path, why)
			continue
		}
		all = append(all, path)
	}
	slices.Sort(all)
	slices.SortFunc(c.left, func(a, b Left) int { return cmp.Or(cmp.Compare(b.rank(), a.rank()), strings.Compare(a.Name, b.Name)) })
	c.code = slices.Compact(all)
	for _, path := range c.code {
		info, err := os.Lstat(path)
		if err == nil {
			err = c.src.reaches(path, fs.FileInfoToDirEntry(info))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// secret is why a file that nobody declared is not taken although it is code.
func (c *chooser) secret(path string, words []string) string {
	info, err := os.Stat(path)
	if err != nil {
		return "it cannot be read"
	}
	if why := c.taken(path, info); why != "" {
		return why
	}
	if line, found := keyIn(path); found && !slices.Contains(words, path) {
		return fmt.Sprintf("line %d has the shape of a key", line)
	}
	return ""
}

// taken is why a file is withheld, now or when it was left out before.
func (c *chooser) taken(path string, info fs.FileInfo) string {
	if name, err := filepath.Rel(c.src.Dir, path); err == nil && c.src.without[filepath.ToSlash(name)] {
		return "it was left out before as one" + ofTask
	}
	return c.withheld.Why(path, info)
}

// declaredWhy is why a declared file is left out all the same; the program itself cannot be.
func (c *chooser) declaredWhy(path string, words []string) (string, error) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return "", cmp.Or(err, fmt.Errorf("files: %q is not a file", path))
	}
	why := c.taken(path, info)
	if why != "" && slices.Contains(words, path) {
		return "", fmt.Errorf("%s cannot be given to the method that is measured: %s: take that out of the command and of the program", path, why)
	}
	return why, nil
}

// addTexts takes the texts whose names, or whose folder's names, stand in the code.
func (c *chooser) addTexts() {
	var code []byte
	for _, path := range slices.Concat(c.code, c.src.words()) {
		if raw, err := files.Read(path, files.MaxConfig); err == nil {
			code = append(append(code, raw...), 0)
		}
	}
	named := string(code)
	for _, path := range c.texts {
		name, err := filepath.Rel(c.src.Dir, path)
		if err != nil {
			continue
		}
		top, _, below := strings.Cut(filepath.ToSlash(name), "/")
		inFolder := below && (strings.Contains(named, `"`+top) || strings.Contains(named, "'"+top) || strings.Contains(named, top+"/"))
		switch {
		case secretName(strings.ToLower(filepath.Base(path))):
			c.leave(path, "its name is that of a secret")
		case strings.Contains(named, filepath.Base(path)) || inFolder:
			c.code = append(c.code, path)
		default:
			c.leave(path, "it is not plainly code, and the code does not name it")
		}
	}
}

// keyIn reports whether a file has the shape of a key in it, and where.
func keyIn(path string) (line int, found bool) {
	raw, err := files.Read(path, maxChosen)
	if err != nil {
		return 0, false
	}
	return redact.Shape(raw)
}

// ErrKey says that code which would leave this machine has a key in it.
var ErrKey = errors.New("which has the shape of a key: take it out of the code and read it from the environment")

// Keyless refuses a file of code that would leave this machine with what has the shape of a key.
func Keyless(path, name string) error {
	if line, found := keyIn(path); found {
		return fmt.Errorf("%s has in line %d something %w", name, line, ErrKey)
	}
	return nil
}
