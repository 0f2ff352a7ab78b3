package wiki

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFolder reads a folder as people have them: nested, with what is no article.
func TestFolder(t *testing.T) {
	dir := t.TempDir()
	outside := filepath.Join(t.TempDir(), "key.txt")
	for path, text := range map[string]string{
		"a.md": "# Notes\n\nLead.\n\n## Part\n\nText of it.", "deep/b.md": "# Notes\n\nOthers.", "deep/c.html": "<h1>Page</h1><p>Hello</p>",
		"plain.txt": "First part.\n\nSecond part.", "d.markdown": "no heading", "binary.md": "\x00\x01", "latin.txt": "caf\xe9",
		".git/x.md": "# Secret", ".env.txt": "KEY", "tool.go": "package x",
	} {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(outside, []byte("a private key"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "link.txt")); err != nil {
		t.Skip("no links here:", err)
	}
	c, err := LoadCorpus(dir)
	if err != nil {
		t.Fatal(err)
	}
	var titles []string
	for _, p := range c.pages {
		titles = append(titles, p.Title)
	}
	if got := strings.Join(titles, "; "); got != "Notes; d; Notes (deep/b.md); Page; plain" {
		t.Errorf("articles %s", got)
	}
	if notes := strings.Join(c.Notes(), "; "); !strings.Contains(notes, "5 articles of the folder") || !strings.Contains(notes, "left out: 2, such as binary.md") {
		t.Errorf("notes %s", notes)
	}
	plain, err := c.Page(t.Context(), "wiki/plain")
	if err != nil || plain.Lead != "First part." || !strings.Contains(plain.Text(), "Second part.") {
		t.Errorf("%+v (%v)", plain, err)
	}
	if hits, err := c.Search(t.Context(), "private secret KEY", 5); err != nil || len(hits) != 0 {
		t.Errorf("what is none of the folder's was read: %v (%v)", hits, err)
	}
	if _, err := LoadCorpus(t.TempDir()); err == nil || !strings.Contains(err.Error(), "put .md, .html or .txt files") {
		t.Errorf("an empty folder gives %v", err)
	}
}
