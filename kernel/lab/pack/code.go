package pack

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"noema/cache/packfile"
	"noema/kernel/base/files"
	"noema/kernel/result/record"
	"noema/plugins"
)

// plainCode is the size below which a file of code is in a pack as it is, to be read with
// any tool. What is larger, or ends in .zst itself, is compressed under a name with .zst
// at its end.
const plainCode = 64 << 10

// maxCode bounds a file of code.
const maxCode = 256 << 20

// writeCode adds the plugins of a run that are not built in, each once.
func (w *writer) writeCode(ctx context.Context, run *record.Run) error {
	for _, p := range run.Plugins {
		if p.Builtin || w.code[p.Digest] || run.Imported != nil {
			continue
		}
		src, err := w.Lab.Code(p)
		if err != nil {
			return err
		}
		c := Code{Digest: p.Digest, Name: p.Method, Folder: src.Dir != ""}
		source, err := c.built(src, p.Path)
		if err == nil {
			err = w.addFiles(ctx, src, c)
		}
		if err == nil {
			err = w.addSource(ctx, source, c)
		}
		if err != nil {
			return fmt.Errorf("the code of method %q: %w", p.Method, err)
		}
		w.code[p.Digest] = true
		w.study.Code = append(w.study.Code, c)
	}
	return nil
}

func (w *writer) addFiles(ctx context.Context, src plugins.Source, c Code) error {
	all, err := plugins.CodeFiles(src)
	if err != nil {
		return err
	}
	for _, file := range all {
		name, err := src.NameOf(file)
		if err != nil {
			return err
		}
		if err := w.addFile(ctx, file, path.Join(codeFolder, c.Digest, name)); err != nil {
			return err
		}
	}
	return nil
}

// addFile adds a file of code under a name.
func (w *writer) addFile(ctx context.Context, file, name string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := plugins.Keyless(file, path.Base(name)); err != nil {
		return err
	}
	data, err := files.Read(file, maxCode)
	if err != nil {
		return err
	}
	if len(data) >= plainCode || strings.HasSuffix(name, ".zst") {
		name += ".zst"
	}
	return w.pack.Add(name, data)
}

// unpackCode writes a plugin's code into a folder and returns the path by which it is
// found there. The code must have its digest; nothing of it runs here.
func unpackCode(p *packfile.File, c Code, dir string) (string, error) {
	prefix := path.Join(codeFolder, c.Digest) + "/"
	at, n := "", 0
	for _, e := range p.Entries() {
		name, ok := strings.CutPrefix(e.Name, prefix)
		if !ok {
			continue
		}
		source := !c.Folder && c.Source != "" && strings.HasPrefix(name, sourceFolder)
		if n++; n > 1 && !c.Folder && !source {
			return "", fmt.Errorf("the code of method %q is one file, and the pack has %s beside it", c.Name, e.Name)
		}
		data, err := p.Read(e.Name)
		if err != nil {
			return "", err
		}
		to := filepath.Join(dir, filepath.FromSlash(strings.TrimSuffix(name, ".zst")))
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return "", err
		}
		if err := os.WriteFile(to, data, fs.FileMode(0o500)); err != nil {
			return "", err
		}
		if !source {
			at = to
		}
	}
	if c.Folder {
		at = dir
	}
	if at == "" {
		return "", fmt.Errorf("the code of method %q is not in the pack", c.Name)
	}
	digest, err := plugins.CodeDigest(plugins.Source{Name: c.Name, Path: at})
	if err == nil && digest != c.Digest {
		err = fmt.Errorf("the code of method %q has the digest %.12s…, not %.12s…", c.Name, digest, c.Digest)
	}
	return at, err
}
