package view

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"noema/kernel/base/files"
	"noema/kernel/base/redact"
	"noema/kernel/lab"
	"noema/kernel/lab/pack"
	"noema/kernel/result/record"
)

// Bundle is the page over chosen runs as static files, to be sent: they work from a file
// server, under any path, and unpacked from a zip. The same runs give the same bytes with
// the same build.
type Bundle struct {
	Lab      *lab.Lab
	Runs     []*record.Run    // finished ones; their order does not matter
	Noema    string           // the build that writes it
	Redactor *redact.Redactor // takes the user's keys out; may be nil
	Show     []string         // what to leave in, of [Showable]
}

// Written is what a bundle came to.
type Written struct {
	Files int
	Bytes int64
}

const (
	bundleFile = "bundle.json" // marks a whole bundle: a [pack.Study], as in a pack of the runs
	maxBundle  = 1 << 30       // bytes, as much as a repository's pages may have
)

// Write makes the folder dir, which must not be there, be empty, or be a bundle, which is
// replaced. Until everything is written, dir stays as it was.
func (b Bundle) Write(ctx context.Context, dir string) (Written, error) {
	w := &bundler{ctx: ctx, Bundle: b, places: map[string]string{}}
	err := errors.Join(b.check(), free(dir))
	if err != nil {
		err = lab.Misused(err)
	} else {
		err = w.write(dir)
	}
	if err != nil {
		return Written{}, fmt.Errorf("bundle: %w", err)
	}
	return w.written, nil
}

func (b Bundle) check() error {
	for _, name := range b.Show {
		if !slices.Contains(Showable(), name) {
			return fmt.Errorf("show %q: choose among %s", name, strings.Join(Showable(), ", "))
		}
	}
	for _, run := range b.Runs {
		if run.Status != record.Finished {
			return fmt.Errorf("run %q is not finished: run its command again to finish it", run.ID)
		}
	}
	return nil
}

// free refuses a folder that holds anything but a bundle.
func free(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%w: name a folder", err)
	}
	var s pack.Study
	raw, err := files.Read(filepath.Join(dir, bundleFile), 1<<20)
	if err != nil || json.Unmarshal(raw, &s) != nil || s.Format != pack.Format {
		return fmt.Errorf("%q is not empty and not a bundle: name a new folder", dir)
	}
	for _, e := range entries {
		if !slices.Contains([]string{bundleFile, "index.html", "style.css", "script.js", "compare.html", "run"}, e.Name()) {
			return fmt.Errorf("%q is a bundle with %q added, which would be lost: move that away, or name a new folder", dir, e.Name())
		}
	}
	return nil
}

// bundler carries out one Write.
type bundler struct {
	Bundle
	ctx     context.Context
	page    *Page
	root    string
	places  map[string]string // the file of each address that the page has when it is served
	entries []entry           // what to write, in order
	written Written
}

// entry is a page to write.
type entry struct {
	address, file string
	finish        func(page []byte, file string) error // writes it, if it is more than a page
}

// write writes a new folder and puts it in the place of the old one, if there is one.
func (w *bundler) write(dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	if w.root, err = os.MkdirTemp(filepath.Dir(dir), filepath.Base(dir)+".part-*"); err != nil {
		return err
	}
	defer os.RemoveAll(w.root)
	if err := errors.Join(w.all(), os.Chmod(w.root, 0o755)); err != nil {
		return err
	}
	old := w.root + ".old"
	if err := os.Rename(dir, old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Rename(w.root, dir); err != nil {
		return err
	}
	return os.RemoveAll(old)
}

func (w *bundler) all() error {
	runs, err := w.Lab.Runs()
	if err != nil {
		return err
	}
	out := &leaving{home: []string{w.Lab.Home()}, show: w.Show, redactor: w.Redactor}
	if home, err := os.UserHomeDir(); err == nil {
		out.home = append(out.home, home)
	}
	for _, r := range runs { // in their own order, each once
		if slices.ContainsFunc(w.Runs, func(x *record.Run) bool { return x.ID == r.ID }) {
			out.runs = append(out.runs, r.ID)
		}
	}
	if w.page, err = runsPage(w.Lab, out); err != nil {
		return err
	}
	if err := w.plan(); err != nil {
		return err
	}
	for _, e := range w.entries {
		page, err := w.get(e.address)
		switch {
		case err != nil:
		case e.finish != nil:
			err = e.finish(page, e.file)
		default:
			err = w.file(e.file, w.relinked(page, e.file))
		}
		if err != nil {
			return err
		}
	}
	return w.mark()
}

// mark writes the file by which a bundle is known.
func (w *bundler) mark() error {
	s := pack.Study{Format: pack.Format, Noema: w.Noema}
	for _, id := range w.page.leaving.runs {
		l, err := w.page.cache.get(id)
		if err != nil {
			return err
		}
		cells, err := l.cells()
		if err != nil {
			return err
		}
		c := l.Run.Config
		s.Runs = append(s.Runs, pack.Run{
			ID: id, Root: l.Run.Root, Trials: cells.trials, Tree: cells.tree, Task: c.Task.String(), Digest: c.Task.Digest, Model: c.Model.ID.String(), Simulated: c.Model.Simulated,
		})
	}
	raw, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return w.file(bundleFile, append(raw, '\n'))
}

// file writes a file, unless the bundle grows too large.
func (w *bundler) file(name string, content []byte) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	w.written.Files++
	if w.written.Bytes += int64(len(content)); w.written.Bytes > maxBundle {
		return lab.Misused(fmt.Errorf("it has more than %d MiB: choose fewer runs", maxBundle>>20))
	}
	to := filepath.Join(w.root, filepath.FromSlash(name))
	return errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.WriteFile(to, content, 0o644))
}

// between is the part of a page from one text to the next occurrence of another.
func between(page []byte, from, to string) []byte {
	_, rest, _ := bytes.Cut(page, []byte(from))
	part, _, _ := bytes.Cut(rest, []byte(to))
	return part
}

// rows writes a page of samples, and its rows once more for the filters.
func (w *bundler) rows(number int) func([]byte, string) error {
	return func(page []byte, file string) error {
		page = w.relinked(page, file)
		var script bytes.Buffer
		script.WriteString("noemaRows(")
		text := json.NewEncoder(&script)
		text.SetEscapeHTML(false)
		if err := text.Encode(string(between(page, `<tbody id="rows">`, "</tbody>"))); err != nil {
			return err
		}
		script.WriteString(")\n")
		name := fmt.Sprintf("%s/rows-%d.js", path.Dir(file), number)
		return errors.Join(w.file(file, page), w.file(name, script.Bytes()))
	}
}
