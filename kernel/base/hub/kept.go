package hub

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"noema/kernel/base/files"
)

// keptFolder is where a repository's folder in the cache has the listings of commits.
// The hub's Python tools leave it alone.
const keptFolder = ".noema"

// maxListing bounds a kept listing: a file takes less than 300 bytes of it.
const maxListing = 300 * maxFiles

// Keep remembers in the cache which files a commit has. Links in a snapshot alone do
// not tell whether some are missing still.
func (c *Client) Keep(l Listing) error {
	raw, err := json.Marshal(l)
	if err != nil {
		return err
	}
	path := filepath.Join(c.folder(l.Ref), keptFolder, l.Commit+".json")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return files.Write(path, raw, 0o644)
}

// Kept gives what [Client.Keep] remembers of a revision, and the snapshot with those
// of its files that were fetched, without a request. The error is [ErrNotFetched] if
// there is nothing.
func (c *Client) Kept(r Ref) (l Listing, s Snapshot, err error) {
	if s, err = c.Find(r); err != nil {
		return l, s, err
	}
	path := filepath.Join(c.folder(r), keptFolder, s.Commit+".json")
	raw, err := files.Read(path, maxListing)
	if os.IsNotExist(err) {
		return l, s, fmt.Errorf("%q: %w", r, ErrNotFetched)
	}
	if err == nil {
		err = json.Unmarshal(raw, &l)
	}
	if err != nil {
		return l, s, fmt.Errorf("read the listing of %q: %w: remove %s and fetch again", r, err, path)
	}
	for _, f := range l.Files {
		if !safe(f.Path) {
			return l, s, fmt.Errorf("the listing %s names a file that cannot be, %.200q: remove it and fetch again", path, f.Path)
		}
	}
	l.Ref, l.Commit = r, s.Commit
	return l, s, nil
}

// File is where the snapshot has a file; ok is false if it is not there whole.
func (s Snapshot) File(f File) (path string, ok bool) {
	path = filepath.Join(s.Dir, filepath.FromSlash(f.Path))
	return path, whole(path, f)
}
