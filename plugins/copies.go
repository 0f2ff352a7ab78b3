package plugins

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"noema/kernel/base/files"
)

// Copies is a folder of copies of plugins' code. A run must not mix two versions of a
// plugin's code, and code is edited while runs are under way. So a plugin is run from a
// copy of its code, in a folder named after its digest: a run that has begun goes on with
// the copy, the next one finds another digest.
type Copies struct{ Folder string }

// snapshotAge is how long an unused copy is kept.
const snapshotAge = 14 * 24 * time.Hour

// linked are folders beside a plugin's code that are not part of its digest; the copy leads
// to them.
var linked = []string{".venv", "node_modules"}

// bytecode is the folder that Python keeps its own in. It is not copied: what it holds may be
// of other code. "plugin build" makes one in the copy.
const bytecode = "__pycache__"

// Snapshot returns the source of a copy of src, whose digest is given.
func (c Copies) Snapshot(src Source, digest string) (Source, error) {
	if src.Builtin {
		return src, nil
	}
	write := func(to string) error {
		if err := copyCode(src, to); err != nil {
			return err
		}
		// The copy stands for the digest from now on, so it must be of that code.
		copied, err := CodeDigest(moved(src, to))
		if err == nil && copied != digest {
			err = errors.New("its code changed while it was copied: run again")
		}
		return err
	}
	dir, err := c.Keep(digest, write)
	if err == nil {
		if _, missing := os.Stat(moved(src, dir).Path); missing != nil { // the same file under another name is there
			err = write(dir)
		}
	}
	if err != nil {
		return src, fmt.Errorf("copy plugin %q: %w", src.Name, err)
	}
	return moved(src, dir), nil
}

// Keep returns the folder of the copy of the code with a digest. Where there is none,
// write makes one in a folder that is empty.
func (c Copies) Keep(digest string, write func(dir string) error) (string, error) {
	if len(digest) != 64 || strings.Trim(digest, "0123456789abcdef") != "" {
		return "", fmt.Errorf("keep code: %q is not a SHA-256 digest in hex", digest)
	}
	dir := filepath.Join(c.Folder, digest[:32])
	now := time.Now()
	if err := os.Chtimes(dir, now, now); err == nil {
		return dir, nil
	}
	dropOld(c.Folder, now.Add(-snapshotAge))
	if err := os.MkdirAll(c.Folder, 0o700); err != nil {
		return "", err
	}
	fresh, err := os.MkdirTemp(c.Folder, ".new-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(fresh) // nothing is left of it once it is renamed
	if err := write(fresh); err != nil {
		return "", err
	}
	// Another process may have made the same copy meanwhile.
	if err := os.Rename(fresh, dir); err != nil && !errors.Is(err, fs.ErrExist) {
		if _, statErr := os.Stat(dir); statErr != nil {
			return "", err
		}
	}
	return dir, nil
}

// Find is the code that has a digest: its copy, or what is at path if it is still that.
func (c Copies) Find(path, digest string) (Source, bool) {
	copied := filepath.Join(c.Folder, digest[:min(32, len(digest))])
	for _, at := range []string{copied, filepath.Join(copied, filepath.Base(path)), path} {
		src, err := At(at)
		if err != nil {
			continue
		}
		if found, err := CodeDigest(src); err == nil && found == digest {
			return src, true
		}
		if chosen, err := Choose(src, nil); err == nil && at == path {
			if found, err := CodeDigest(chosen); err == nil && found == digest {
				return chosen, true
			}
		}
	}
	return Source{}, false
}

// moved is src with its code in another folder.
func moved(src Source, dir string) Source {
	src.Command = slices.Clone(src.Command)
	if src.Dir == "" { // one file
		at := filepath.Join(dir, filepath.Base(src.Path))
		src.Command[slices.Index(src.Command, src.Path)] = at
		src.Path = at
		return src
	}
	for i, word := range src.Command {
		if rest, ok := strings.CutPrefix(word, src.Dir+string(filepath.Separator)); ok {
			src.Command[i] = filepath.Join(dir, rest)
		}
	}
	src.Dir, src.Path, src.chosen, src.links = dir, dir, nil, nil
	return src
}

// copyCode copies what a plugin's digest covers.
func copyCode(src Source, to string) error {
	if src.Dir == "" {
		return copyFile(src.Path, filepath.Join(to, filepath.Base(src.Path)))
	}
	if src.chosen != nil {
		return src.copyChosen(to)
	}
	return filepath.WalkDir(src.Dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(src.Dir, path)
		if err != nil || name == "." {
			return err
		}
		target := filepath.Join(to, name)
		switch {
		case e.IsDir() && (leftOut(path, e) || path == to):
			return filepath.SkipDir
		case e.IsDir() && slices.Contains(linked, e.Name()):
			if err := os.Symlink(path, target); err != nil {
				return err
			}
			return filepath.SkipDir
		case e.IsDir():
			return os.Mkdir(target, 0o700)
		case e.Type().IsRegular():
			return copyFile(path, target)
		case e.Type()&fs.ModeSymlink != 0:
			return src.copyLink(path, target, e)
		}
		return nil
	})
}

// copyChosen copies the files that were chosen, and leads to what is only linked.
func (s Source) copyChosen(to string) error {
	for i, path := range slices.Concat(s.chosen, s.links) {
		name, err := filepath.Rel(s.Dir, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, name)
		if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
			return err
		}
		if i < len(s.chosen) {
			err = copyFile(path, target)
		} else {
			err = s.lead(path, target)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// lead makes a link to a folder, or to where a link leads.
func (s Source) lead(path, target string) error {
	info, err := os.Lstat(path)
	if err == nil && info.IsDir() {
		return os.Symlink(path, target)
	}
	if err != nil {
		return err
	}
	return s.copyLink(path, target, fs.FileInfoToDirEntry(info))
}

// leftOut reports whether a folder is not code: Python's bytecode, git's own, and a home of noema,
// which each run changes, and which may be below the folder of the program that it runs.
func leftOut(path string, e fs.DirEntry) bool {
	if e.Name() == bytecode || e.Name() == ".git" {
		return true
	}
	_, err := os.Stat(filepath.Join(path, "store", "FORMAT"))
	return err == nil
}

// copyLink copies the file that a link leads to. Any other link leads on to the
// same place, also from a folder elsewhere.
func (s Source) copyLink(path, target string, e fs.DirEntry) error {
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		if err := s.reaches(path, e); err != nil {
			return err
		}
		return copyFile(path, target)
	}
	to, err := os.Readlink(path)
	if err != nil {
		return err
	}
	if !filepath.IsAbs(to) {
		to = filepath.Join(filepath.Dir(path), to)
	}
	return os.Symlink(to, target)
}

// copyFile makes a copy that cannot be written: through its working directory a
// plugin reaches these files, and what one trial left in them would be in all
// later ones, under a digest that says otherwise.
func copyFile(from, to string) error {
	in, err := files.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm()&^0o222)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// dropOld removes copies that were not used since a time, and what a killed
// process left half made.
func dropOld(root string, since time.Time) {
	entries, err := os.ReadDir(root)
	if err != nil {
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.ModTime().Before(since) {
			_ = os.RemoveAll(filepath.Join(root, e.Name())) // it is rebuilt when it is needed
		}
	}
}
