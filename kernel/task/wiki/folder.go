package wiki

import (
	"bytes"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark"

	"noema/kernel/base/files"
	"noema/kernel/base/title"
)

// What a folder may hold. A corpus is searched in memory.
const (
	maxFolder   = 256 << 20 // bytes of articles
	maxArticles = 50_000
)

// folder reads the articles of a folder.
type folder struct {
	dir    string
	pages  []*Page
	taken  map[string]bool // titles, in canonical form
	bytes  int64
	binary []string // files that are named like text but are binary
}

// loadFolder reads the Markdown, HTML and text files of a folder and of those in
// it. Hidden files and folders, links, and files that are not text are left out,
// the last with a note: a folder from elsewhere must not have any file of the
// user's read and sent to a model. Of two articles with one title the second is
// named after its file, too.
func loadFolder(dir string) ([]*Page, []string, error) {
	f := &folder{dir: dir, taken: map[string]bool{}}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		hidden := path != dir && strings.HasPrefix(e.Name(), ".")
		switch {
		case err != nil:
			return fmt.Errorf("load corpus: %w", err)
		case e.IsDir() && hidden:
			return fs.SkipDir
		case e.IsDir(), hidden, !e.Type().IsRegular():
			return nil
		}
		return f.add(path)
	})
	if err != nil {
		return nil, nil, err
	}
	notes := []string{fmt.Sprintf("%d articles of the folder %s", len(f.pages), filepath.Base(absolute(dir)))}
	if n := len(f.binary); n > 0 {
		notes = append(notes, fmt.Sprintf("files that are not UTF-8 text are left out: %d, such as %s", n, f.binary[0]))
	}
	return f.pages, notes, nil
}

// absolute gives a folder such as "." its name.
func absolute(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		return abs
	}
	return dir
}

// add reads a file, if it is an article.
func (f *folder) add(path string) error {
	extension := strings.ToLower(filepath.Ext(path))
	if !slices.Contains([]string{".html", ".htm", ".md", ".markdown", ".txt"}, extension) {
		return nil
	}
	name, err := filepath.Rel(f.dir, path)
	if err != nil {
		name = filepath.Base(path)
	}
	raw, err := files.Read(path, files.MaxText)
	if err != nil {
		return fmt.Errorf("load corpus: %w", err)
	}
	if f.bytes += int64(len(raw)); f.bytes > maxFolder || len(f.pages) >= maxArticles {
		return fmt.Errorf("load corpus %s: more than %d MiB or %d articles: name a folder within it", f.dir, maxFolder>>20, maxArticles)
	}
	if !utf8.Valid(raw) || bytes.IndexByte(raw, 0) >= 0 {
		f.binary = append(f.binary, filepath.ToSlash(name))
		return nil
	}
	p, err := readArticle(path, extension, raw)
	if err != nil {
		return err
	}
	if title.Canonical(p.Title) == "" || f.taken[title.Canonical(p.Title)] {
		p.Title = strings.TrimSpace(fmt.Sprintf("%s (%s)", p.Title, filepath.ToSlash(name)))
	}
	f.taken[title.Canonical(p.Title)] = true
	f.pages = append(f.pages, p)
	return nil
}

// readArticle reads the content of a file.
func readArticle(path, extension string, raw []byte) (*Page, error) {
	name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	switch extension {
	case ".txt":
		lead, _, _ := strings.Cut(strings.TrimSpace(string(raw)), "\n\n")
		return &Page{Title: name, Lead: lead, Sections: []Section{{Title: "Text", Level: 2, Text: strings.TrimSpace(string(raw))}}}, nil
	case ".md", ".markdown":
		if line := deepLine(raw); line > 0 {
			return nil, fmt.Errorf("load corpus: %s:%d: more than %d quotes or lists within each other: write it flatter", path, line, maxNested)
		}
		var b bytes.Buffer
		if err := goldmark.Convert(raw, &b); err != nil {
			return nil, fmt.Errorf("load corpus %s: %w", path, err)
		}
		raw = b.Bytes()
	}
	return Parse(bytes.NewReader(raw), name, "")
}
