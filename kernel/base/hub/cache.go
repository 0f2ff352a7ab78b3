package hub

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"noema/kernel/base/files"
)

// Snapshot is what the cache has of a repository at a commit.
type Snapshot struct {
	Ref
	Commit string
	Dir    string // with the files at their paths
}

// folder is where the cache keeps a repository.
func (c *Client) folder(r Ref) string {
	return filepath.Join(c.Cache, string(r.Kind)+"--"+strings.ReplaceAll(r.ID, "/", "--"))
}

// Find gives what the cache has of a repository, without a request. A branch or
// tag is the commit that it was when last fetched. The error is
// [ErrNotFetched] if there is nothing. Files may be missing still.
func (c *Client) Find(r Ref) (Snapshot, error) {
	s := Snapshot{Ref: r, Commit: r.revision()}
	if !commit.MatchString(s.Commit) {
		raw, err := files.Read(filepath.Join(c.folder(r), "refs", r.revision()), 1<<10)
		s.Commit = strings.TrimSpace(string(raw))
		if errors.Is(err, fs.ErrNotExist) || err == nil && !commit.MatchString(s.Commit) {
			return s, fmt.Errorf("%q: %w", r, ErrNotFetched)
		}
		if err != nil {
			return s, err
		}
	}
	s.Dir = filepath.Join(c.folder(r), "snapshots", s.Commit)
	if info, err := os.Stat(s.Dir); err != nil || !info.IsDir() {
		return s, fmt.Errorf("%q: %w", r, ErrNotFetched)
	}
	return s, nil
}

// Snapshots lists all that the cache has of a kind, by name and commit. The
// revision is the branch or tag that stands for the commit, else the commit.
func (c *Client) Snapshots(kind Kind) ([]Snapshot, error) {
	dirs, err := fs.Glob(os.DirFS(c.Cache), string(kind)+"--*/snapshots/*")
	if err != nil {
		return nil, err
	}
	var found []Snapshot
	for _, dir := range dirs {
		dir = filepath.Join(c.Cache, filepath.FromSlash(dir))
		name, ok := NameOf(dir)
		if !ok {
			continue
		}
		id, at, _ := strings.Cut(name, "@")
		s := Snapshot{Ref: Ref{Kind: kind, ID: id, Revision: at}, Commit: at, Dir: dir}
		refs := filepath.Join(c.folder(s.Ref), "refs")
		err := filepath.WalkDir(refs, func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return nil // without refs the commit is the name
			}
			raw, err := files.Read(path, 1<<10)
			name, _ := filepath.Rel(refs, path)
			if err == nil && strings.TrimSpace(string(raw)) == at && (s.Revision == at || name == "main") {
				s.Revision = name
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		found = append(found, s)
	}
	slices.SortFunc(found, func(a, b Snapshot) int { return strings.Compare(a.ID+"@"+a.Commit, b.ID+"@"+b.Commit) })
	return found, nil
}

// NameOf is the name ORG/NAME@COMMIT of a snapshot's folder, or
// ORG/NAME@COMMIT:FILE of a file in one; ok is false for another path.
func NameOf(path string) (name string, ok bool) {
	dir, file := path, ""
	for filepath.Base(filepath.Dir(dir)) != "snapshots" {
		if file = filepath.Join(filepath.Base(dir), file); filepath.Dir(dir) == dir {
			return "", false
		}
		dir = filepath.Dir(dir)
	}
	kind, id, ok := strings.Cut(filepath.Base(filepath.Dir(filepath.Dir(dir))), "--")
	r := Ref{Kind: Kind(kind), ID: strings.Replace(id, "--", "/", 1), Revision: filepath.Base(dir), File: filepath.ToSlash(file)}
	return r.String(), ok && commit.MatchString(r.Revision)
}

// lock takes the lock of a blob, which Python's tools take too.
func (c *Client) lock(ctx context.Context, r Ref, digest string) (unlock func(), err error) {
	dir := filepath.Join(c.Cache, ".locks", filepath.Base(c.folder(r)))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, digest+".lock"), os.O_RDWR|os.O_CREATE, 0o664)
	if err != nil {
		return nil, err
	}
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return func() { f.Close() }, nil // the lock ends with it; Python keeps the file too
		}
		if errors.Is(err, unix.EWOULDBLOCK) {
			err = c.wait(ctx, 100*time.Millisecond)
		}
		if err != nil {
			f.Close()
			return nil, fmt.Errorf("wait for the other process that fetches it: %w", err)
		}
	}
}

// link puts a blob under its path in a snapshot.
func link(blob, path string) error {
	target, err := filepath.Rel(filepath.Dir(path), blob)
	if err != nil {
		return err
	}
	if old, err := os.Readlink(path); err == nil && old == target {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return files.Replace(path, func(temporary string) error { return os.Symlink(target, temporary) })
}

// writeRef keeps the commit of a branch or tag.
func writeRef(path, commit string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return files.Write(path, []byte(commit), 0o644)
}

func remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
