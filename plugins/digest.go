package plugins

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"noema/kernel/base/files"
)

// Digests computes the digests of plugins' code and remembers those of
// binaries in a file, by size and modification time: hashing 40 MB at every
// start would cost more than a warm run. It is not safe for concurrent use.
type Digests struct {
	file  string
	known map[string]knownDigest
}

// knownDigest is the digest of a file of that size and modification time.
type knownDigest struct {
	Size    int64  `json:"size"`
	ModTime int64  `json:"mod_time_ns"`
	Digest  string `json:"sha256"`
}

// OpenDigests returns the digests remembered in file. A file that is missing
// or damaged is as good as an empty one.
func OpenDigests(file string) *Digests {
	d := &Digests{file: file, known: map[string]knownDigest{}}
	if raw, err := os.ReadFile(file); err == nil {
		if json.Unmarshal(raw, &d.known) != nil || d.known == nil {
			d.known = map[string]knownDigest{}
		}
	}
	return d
}

// Of is the SHA-256 over a plugin's code, in hex: of the binary, or of every
// file in a manifest's folder by name and content.
func (d *Digests) Of(s Source) (string, error) {
	info, err := os.Stat(s.Path)
	if err != nil {
		return "", fmt.Errorf("digest plugin %q: %w", s.Name, err)
	}
	if info.IsDir() {
		return CodeDigest(s)
	}
	now := knownDigest{Size: info.Size(), ModTime: info.ModTime().UnixNano()}
	if was := d.known[s.Path]; was.Digest != "" && was.Size == now.Size && was.ModTime == now.ModTime {
		return was.Digest, nil
	}
	if now.Digest, err = CodeDigest(s); err != nil {
		return "", err
	}
	d.known[s.Path] = now
	d.save()
	return now.Digest, nil
}

// save writes the file. What cannot be saved is computed again next time.
func (d *Digests) save() {
	raw, err := json.Marshal(d.known)
	if err == nil && os.MkdirAll(filepath.Dir(d.file), 0o700) == nil {
		_ = files.Write(d.file, raw, 0o600)
	}
}

// ErrChanged says that a plugin's code is no longer that of its run.
var ErrChanged = errors.New("its code was changed after the run began: start the run again")

// same is ErrChanged unless the code has the digest that the source says, if it says one.
func (s Source) same() error {
	if s.Digest == "" {
		return nil
	}
	digest, err := CodeDigest(s)
	if err == nil && digest != s.Digest {
		err = ErrChanged
	}
	if err != nil {
		return &Failure{Plugin: s.Name, Reason: "cannot start: " + err.Error(), Err: err}
	}
	return nil
}

// CodeDigest is what [Digests.Of] remembers, computed.
func CodeDigest(s Source) (string, error) {
	all, err := CodeFiles(s)
	hash := sha256.New()
	switch {
	case err != nil:
	case len(all) == 1 && all[0] == s.Path:
		err = addFile(hash, s.Path)
	default:
		err = addFolder(hash, s.Path, all)
	}
	if err != nil {
		return "", fmt.Errorf("digest plugin %q: %w", s.Name, err)
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

func addFile(w io.Writer, path string) error {
	f, err := files.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(w, f)
	return err
}

// NameOf is the name of a file of [CodeFiles] where the code is packed: its path below the
// folder of the code, with slashes, or the base of its path if the code is one file.
func (s Source) NameOf(file string) (string, error) {
	if s.Dir == "" {
		return filepath.Base(file), nil
	}
	name, err := filepath.Rel(s.Dir, file)
	return filepath.ToSlash(name), err
}

// CodeFiles are the files that a plugin's digest covers, in the order of their paths: the
// one that it is, those of its folder that [Choose] chose, or all of a folder that is a copy.
// Left out is what a run of the plugin itself may write there. A link to a file counts as the
// file; a link to a folder is not covered.
func CodeFiles(s Source) ([]string, error) {
	if s.chosen != nil {
		return s.chosen, nil
	}
	info, err := os.Stat(s.Path)
	if err != nil || !info.IsDir() {
		return []string{s.Path}, err
	}
	var files []string
	err = filepath.WalkDir(s.Path, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && (leftOut(path, e) || slices.Contains(linked, e.Name())) {
			return filepath.SkipDir
		}
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			files = append(files, path)
			return s.reaches(path, e)
		}
		return nil
	})
	slices.Sort(files)
	return files, err
}

// reaches refuses a link to a file that is not beside the plugin's folder or below: as a part
// of the code, its plugin would read it, whatever it may read else, and so would whoever gets
// the code.
func (s Source) reaches(path string, e fs.DirEntry) error {
	if e.Type()&fs.ModeSymlink == 0 {
		return nil
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	own, err := filepath.EvalSymlinks(s.Path)
	if err != nil {
		return err
	}
	if strings.HasPrefix(real, own+string(filepath.Separator)) {
		return nil
	}
	name, err := filepath.Rel(filepath.Dir(own), real)
	for part := range strings.SplitSeq(name, string(filepath.Separator)) {
		if err != nil || strings.HasPrefix(part, ".") {
			return fmt.Errorf("the link %q leads to %q, which is neither in the plugin's folder nor beside it: copy the file", path, real)
		}
	}
	return nil
}

// addFolder covers the names and contents of files below dir.
func addFolder(w io.Writer, dir string, all []string) error {
	for _, path := range all {
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		one := sha256.New()
		if err := addFile(one, path); err != nil {
			return err
		}
		fmt.Fprintf(w, "%d %s %x\n", len(name), name, one.Sum(nil))
	}
	return nil
}
