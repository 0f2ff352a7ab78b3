package cluster

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"

	"github.com/klauspost/compress/zstd"

	"noema/plugins"
)

// Build says what a noema is, so that a run has the same code everywhere.
type Build struct {
	Digest   string `json:"digest"`           // of the program's file
	Commit   string `json:"commit,omitempty"` // empty if the build does not know it, or changed it
	Platform string `json:"platform"`         // as in linux/amd64
	Go       string `json:"go"`
}

// ThisBuild is what this program is.
func ThisBuild() (Build, error) {
	b := Build{Platform: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version()}
	if info, ok := debug.ReadBuildInfo(); ok {
		set := map[string]string{}
		for _, s := range info.Settings {
			set[s.Key] = s.Value
		}
		if set["vcs.modified"] == "false" {
			b.Commit = set["vcs.revision"]
		}
	}
	self, err := os.Executable()
	if err != nil {
		return b, err
	}
	b.Digest, err = plugins.CodeDigest(plugins.Source{Name: "noema", Path: self})
	return b, err
}

// differs says why a worker of build b cannot take part in runs of build a; it is empty if
// it can. Builds of one commit for two platforms are the same code.
func (a Build) differs(b Build) string {
	switch {
	case a.Digest == b.Digest:
		return ""
	case a.Go != b.Go:
		return fmt.Sprintf("it is built with %s, and the coordinator with %s", b.Go, a.Go)
	case a.Platform == b.Platform:
		return fmt.Sprintf("it is another build of noema (%.12s) than the coordinator (%.12s): copy the coordinator's program", b.Digest, a.Digest)
	case a.Commit == "" || a.Commit != b.Commit:
		return fmt.Sprintf("it is built for %s of commit %s, and the coordinator for %s of commit %s: build both of one commit without changes",
			b.Platform, orUnknown(b.Commit), a.Platform, orUnknown(a.Commit))
	}
	return ""
}

func orUnknown(commit string) string {
	if commit == "" {
		return "unknown or with changes"
	}
	return commit[:min(12, len(commit))]
}

// maxCode bounds the code of one plugin, in bytes.
const maxCode = 512 << 20

// packCode is the code of a plugin as it travels: the files that its digest covers.
func packCode(ctx context.Context, src plugins.Source) ([]byte, error) {
	all, err := plugins.CodeFiles(src)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	z, err := zstd.NewWriter(&out)
	if err != nil { // only a wrong option
		return nil, err
	}
	w := tar.NewWriter(z)
	var size int64
	for _, path := range all {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n, err := addCode(w, src, path)
		if err == nil {
			err = plugins.Keyless(path, filepath.Base(path))
		}
		if err != nil {
			return nil, fmt.Errorf("pack the code of method %q: %w", src.Name, err)
		}
		if size += n; size > maxCode {
			return nil, fmt.Errorf("pack the code of method %q: it has more than %d MiB", src.Name, maxCode>>20)
		}
	}
	err = errors.Join(w.Close(), z.Close())
	return out.Bytes(), err
}

func addCode(w *tar.Writer, src plugins.Source, path string) (int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	name, err := src.NameOf(path)
	if err != nil {
		return 0, err
	}
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	if err := w.WriteHeader(&tar.Header{Name: name, Mode: int64(info.Mode().Perm()), Size: info.Size()}); err != nil {
		return 0, err
	}
	return io.Copy(w, io.LimitReader(f, info.Size()))
}

// unpackCode writes code into a folder that is empty. Nothing is written outside of it.
func unpackCode(packed []byte, dir string) error {
	z, err := zstd.NewReader(bytes.NewReader(packed), zstd.WithDecoderMaxMemory(maxCode))
	if err != nil {
		return err
	}
	defer z.Close()
	r := tar.NewReader(io.LimitReader(z, maxCode+1<<20))
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		name := filepath.FromSlash(h.Name)
		if h.Typeflag != tar.TypeReg || !filepath.IsLocal(name) {
			return fmt.Errorf("%q is not a file below the folder", h.Name)
		}
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			return err
		}
		f, err := os.OpenFile(at, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fs.FileMode(h.Mode).Perm()&0o555|0o400)
		if err != nil {
			return err
		}
		_, err = io.Copy(f, r)
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
}
