package hub

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Fetch gets files of a listing that the cache lacks, checks their digests, and
// then links them into the snapshot of the commit. What other processes fetch
// at the time is waited for. After an error the snapshot is as it was, and what
// was fetched serves the next attempt.
func (c *Client) Fetch(ctx context.Context, l Listing, wanted []File) (Snapshot, error) {
	s, err := c.fetch(ctx, l, wanted)
	if err != nil {
		return s, fmt.Errorf("fetch %q: %w", l.ID, err)
	}
	return s, nil
}

func (c *Client) fetch(ctx context.Context, l Listing, wanted []File) (Snapshot, error) {
	s := Snapshot{Ref: l.Ref, Commit: l.Commit, Dir: filepath.Join(c.folder(l.Ref), "snapshots", l.Commit)}
	blobs := filepath.Join(c.folder(l.Ref), "blobs")
	if err := os.MkdirAll(c.Cache, 0o755); err != nil {
		return s, err
	}
	if err := c.room(blobs, wanted); err != nil {
		return s, err
	}
	for _, f := range wanted {
		if err := c.blob(ctx, l, f); err != nil {
			return s, fmt.Errorf("file %q: %w", f.Path, err)
		}
	}
	for _, f := range wanted {
		if err := link(filepath.Join(blobs, f.Digest), filepath.Join(s.Dir, filepath.FromSlash(f.Path))); err != nil {
			return s, err
		}
	}
	if l.revision() == l.Commit {
		return s, nil
	}
	return s, writeRef(filepath.Join(c.folder(l.Ref), "refs", l.revision()), l.Commit)
}

// incomplete is where a blob grows.
const incomplete = ".incomplete"

// room refuses to begin what the disk cannot hold.
func (c *Client) room(blobs string, wanted []File) error {
	need := int64(0)
	for _, f := range wanted {
		path := filepath.Join(blobs, f.Digest)
		if whole(path, f) {
			continue
		}
		need += f.Size
		if info, err := os.Stat(path + incomplete); err == nil {
			need -= min(info.Size(), f.Size)
		}
	}
	var disk unix.Statfs_t
	if err := unix.Statfs(c.Cache, &disk); err != nil {
		return nil // writing will tell
	}
	if free := int64(disk.Bavail) * int64(disk.Bsize); free < need {
		return fmt.Errorf("%d MiB are to be fetched, and the disk of %s has %d MiB free: free some space, or set HF_HOME to a folder on another disk", need>>20, c.Cache, free>>20)
	}
	return nil
}

// whole reports whether a blob is there. It got its name when its digest was
// right; the size shows whether it was cut since.
func whole(path string, f File) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Size() == f.Size
}

// blob makes sure that the cache has the content of f.
func (c *Client) blob(ctx context.Context, l Listing, f File) error {
	path := filepath.Join(c.folder(l.Ref), "blobs", f.Digest)
	if whole(path, f) {
		c.progress(f, f.Size)
		return nil
	}
	unlock, err := c.lock(ctx, l.Ref, f.Digest)
	if err != nil {
		return err
	}
	defer unlock()
	if whole(path, f) { // by now another process has fetched it
		c.progress(f, f.Size)
		return nil
	}
	return c.download(ctx, l, f, path)
}

func (c *Client) progress(f File, have int64) {
	if c.Progress != nil {
		c.Progress(f.Path, have, f.Size)
	}
}
