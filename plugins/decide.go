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
