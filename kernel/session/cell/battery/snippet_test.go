package battery

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// theme is one archive of testdata: snippets that belong together.
type theme struct {
	Title    string
	Snippets []*snippet
}

// snippet is one piece of Go, in one cell or several.
//
// In its archive it begins with a line "-- name --" and a few comments of the
// form "//key: value":
//
//	title    what the page calls it
//	trap     which of the known traps it shows (see traps)
//	note     a remark for the page
//	refused  the session must refuse it, with a message that holds this
//	error    as refused, and the Go compiler refuses it with this, too
//	shown    "yes": the shown values count as output
//
// Further cells follow after "-- cell --", "-- cell fails: message --" (which
// must fail with a message that holds this) and "-- cell interrupted --" (which
// does not end by itself). After "-- go --" stands a program to compare with
// where the cells in a row are no legal program.
type snippet struct {
	Theme, Name           string
	Title, Trap, Note     string
	Refused, Error, Shown string
	Cells                 []cellText
	Go                    string // in place of the cells; empty: the cells in a row
}

// cellText is one cell of a snippet.
type cellText struct {
	Text        string
	Fails       bool
	Message     string // what the failure's message holds
	Interrupted bool
}

// refusal is what the session's message must hold, empty where it must run.
func (s *snippet) refusal() string { return s.Refused + s.Error }

// id names the snippet's package in the compiled program.
func (s *snippet) id() string {
	return strings.ReplaceAll(s.Theme+"_"+s.Name, "-", "_")
}

// loadThemes reads all archives.
func loadThemes(t testing.TB) []theme {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var themes []theme
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		th, err := parseTheme(strings.TrimSuffix(filepath.Base(path), ".txtar"), raw)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		themes = append(themes, th)
	}
	return themes
}

// parseTheme reads one archive. The name's number only orders the page.
func parseTheme(name string, raw []byte) (theme, error) {
	_, name, _ = strings.Cut(name, "-")
	archive := txtar.Parse(raw)
	th := theme{Title: strings.TrimSpace(string(archive.Comment))}
	seen := map[string]bool{}
	for _, f := range archive.Files {
		text := string(f.Data)
		kind, message, _ := strings.Cut(f.Name, ":")
		switch kind {
		case "cell", "cell fails", "cell interrupted", "go":
			if len(th.Snippets) == 0 {
				return th, fmt.Errorf("%q comes before any snippet", f.Name)
			}
			th.Snippets[len(th.Snippets)-1].add(kind, strings.TrimSpace(message), text)
			continue
		}
		if seen[f.Name] {
			return th, fmt.Errorf("%q stands there twice", f.Name)
		}
		seen[f.Name] = true
		s := &snippet{Theme: name, Name: f.Name}
		text, err := s.header(text)
		if err != nil {
			return th, fmt.Errorf("%s: %w", f.Name, err)
		}
		s.add("cell", "", text)
		th.Snippets = append(th.Snippets, s)
	}
	return th, nil
}

// add puts one more part to the snippet.
func (s *snippet) add(kind, message, text string) {
	if kind == "go" {
		s.Go = text
		return
	}
	s.Cells = append(s.Cells, cellText{
		Text: text, Fails: kind == "cell fails", Message: message, Interrupted: kind == "cell interrupted",
	})
}

// header takes the comments with keys off the text.
func (s *snippet) header(text string) (string, error) {
	keys := map[string]*string{
		"title": &s.Title, "trap": &s.Trap, "note": &s.Note,
		"refused": &s.Refused, "error": &s.Error, "shown": &s.Shown,
	}
	for strings.HasPrefix(text, "//") {
		line, rest, _ := strings.Cut(text, "\n")
		key, value, _ := strings.Cut(strings.TrimPrefix(line, "//"), ":")
		field, ok := keys[key]
		if !ok {
			return "", fmt.Errorf("unknown key %q", key)
		}
		*field = strings.TrimSpace(value)
		text = rest
	}
	if s.Title == "" {
		return "", fmt.Errorf("has no title")
	}
	return text, nil
}

// all lists the snippets of all themes.
func all(themes []theme) (out []*snippet) {
	for _, th := range themes {
		out = append(out, th.Snippets...)
	}
	return out
}
