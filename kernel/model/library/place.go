package library

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"

	"noema/kernel/base/files"
)

// sum is a file's size and SHA-256.
func sum(ctx context.Context, path string) (int64, string, error) {
	f, err := files.Open(path)
	if err != nil {
		return 0, "", err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, stoppable{ctx, f})
	return n, hex.EncodeToString(h.Sum(nil)), err
}

// place makes a file at to with the content of from, in the cheapest way.
func place(ctx context.Context, from, to string) error {
	if real, err := filepath.EvalSymlinks(from); err == nil {
		from = real // a hard link to a link would be one
	}
	source, err := files.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	if clone(target, source) == nil {
		return target.Close()
	}
	if os.Remove(to) == nil && os.Link(from, to) == nil {
		return target.Close()
	}
	target.Close()
	if target, err = os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644); err != nil {
		return err
	}
	_, err = io.Copy(target, stoppable{ctx, source})
	return errors.Join(err, target.Close())
}

// stoppable ends with its context.
type stoppable struct {
	ctx context.Context
	io.Reader
}

// Read implements [io.Reader].
func (s stoppable) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.Reader.Read(p)
}
