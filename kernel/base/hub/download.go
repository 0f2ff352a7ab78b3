package hub

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// download gets a blob, going on where an earlier attempt ended. Where the hub gives
// nothing, as of a gated repository, it leaves nothing.
func (c *Client) download(ctx context.Context, l Listing, f File, path string) (err error) {
	part, err := os.OpenFile(path+incomplete, os.O_RDWR|unix.O_NOFOLLOW, 0o644)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	d := &download{client: c, path: path + incomplete, part: part, file: f, ref: l.Ref, sum: f.hash()}
	d.address = fmt.Sprintf("%s/%s/resolve/%s/%s", c.Endpoint, l.path(), l.Commit, escape(f.Path))
	useless := false // what there is must not serve the next attempt
	defer func() {
		d.part.Close() // on success closed already; nil if nothing came
		if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) {
			err = fmt.Errorf("%w: what was fetched of it is removed: free some space, or set HF_HOME to a folder on another disk", err)
			useless = true
		}
		if useless {
			err = errors.Join(err, remove(d.path))
		}
	}()
	earlier, err := d.resume()
	if err != nil {
		return err
	}
	for ; ; earlier = false {
		if err := c.retry(ctx, func() (bool, error) { return d.more(ctx) }); err != nil {
			return err
		}
		got := hex.EncodeToString(d.sum.Sum(nil))
		if got == f.Digest {
			break
		}
		if !earlier {
			useless = true
			return fmt.Errorf("the content has digest %s, the hub lists %s: try again; if it stays so, the hub or a proxy gives wrong data", got, f.Digest)
		}
		if err := d.restart(); err != nil { // what an earlier attempt left was wrong
			return err
		}
	}
	if err := d.create(); err != nil { // an empty file
		return err
	}
	if err := errors.Join(d.part.Sync(), d.part.Close()); err != nil {
		return err
	}
	return os.Rename(d.path, path)
}

// hash begins the digest of the content.
func (f File) hash() hash.Hash {
	if f.Large {
		return sha256.New()
	}
	h := sha1.New()
	fmt.Fprintf(h, "blob %d\x00", f.Size)
	return h
}

func escape(path string) string {
	parts := strings.Split(path, "/")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	return strings.Join(parts, "/")
}

// download is a blob that grows.
type download struct {
	client  *Client
	ref     Ref
	file    File
	address string
	path    string    // of part
	part    *os.File  // nil until there is a byte
	have    int64     // bytes of it
	sum     hash.Hash // of those
}

// resume takes what an earlier attempt left, and reports whether there was any.
func (d *download) resume() (bool, error) {
	if d.part == nil {
		return false, nil
	}
	info, err := d.part.Stat()
	if err != nil {
		return false, err
	}
	if info.Size() > d.file.Size {
		return false, d.restart()
	}
	d.have, err = io.Copy(d.sum, d.part)
	return d.have > 0, err
}

// create makes the file that grows, unless it is there, and the folders that Python's
// tools expect beside it.
func (d *download) create() (err error) {
	if d.part != nil {
		return nil
	}
	blobs := filepath.Dir(d.path)
	if err := errors.Join(os.MkdirAll(blobs, 0o755), os.MkdirAll(filepath.Join(filepath.Dir(blobs), "snapshots"), 0o755)); err != nil {
		return err
	}
	d.part, err = os.OpenFile(d.path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o644)
	return err
}

func (d *download) restart() error {
	d.have, d.sum = 0, d.file.hash()
	if d.part == nil {
		return nil
	}
	if err := d.part.Truncate(0); err != nil {
		return err
	}
	_, err := d.part.Seek(0, io.SeekStart)
	return err
}

// more makes one request for what is missing.
func (d *download) more(ctx context.Context) (further bool, err error) {
	if d.have == d.file.Size {
		return true, nil
	}
	ctx, quiet := d.client.watched(ctx)
	defer quiet.stop()
	resp, err := d.client.open(ctx, d.ref, d.address, d.have)
	if err != nil {
		return false, err
	}
	defer resp.Body.Close()
	if d.have > 0 && resp.StatusCode != http.StatusPartialContent { // the server gives all of it
		if err := d.restart(); err != nil {
			return false, err
		}
	} else if !strings.HasPrefix(resp.Header.Get("Content-Range"), fmt.Sprintf("bytes %d-", d.have)) && d.have > 0 {
		return false, fmt.Errorf("the server was asked for what follows byte %d and gives %q", d.have, resp.Header.Get("Content-Range"))
	}
	begun := d.have
	left := d.file.Size - d.have
	_, err = io.Copy(d, io.LimitReader(quiet.reader(resp.Body), left+1))
	if err == nil && d.have < d.file.Size {
		err = &transient{err: fmt.Errorf("the connection ended after %d of %d bytes", d.have, d.file.Size)}
	}
	return d.have > begun, err
}

// Write implements [io.Writer].
func (d *download) Write(p []byte) (int, error) {
	if d.have+int64(len(p)) > d.file.Size {
		return 0, fmt.Errorf("the server gives more than the %d bytes that the hub lists", d.file.Size)
	}
	if err := d.create(); err != nil {
		return 0, err
	}
	n, err := d.part.Write(p)
	d.sum.Write(p[:n]) // a hash never fails
	d.have += int64(n)
	d.client.progress(d.file, d.have)
	return n, err
}
