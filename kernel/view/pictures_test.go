package view

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"noema/kernel/lab"
	"noema/kernel/result/record"
)

// madeFrom is the file beside the pictures that says which pages they show.
const madeFrom = "made-from.txt"

// pictured gives, for each picture of the README, a digest of the page that it shows: of
// all that the server sends, styles included, without what every run changes.
func pictured(t *testing.T, base string, p *Page, run *lab.Result) string {
	t.Helper()
	get := visitor(t, base, p)
	var list strings.Builder
	for _, c := range []struct{ picture, page string }{
		{"comparison", "/run/" + run.ID()},
		{"sample", "/run/" + run.ID() + "/sample?s=R02"},
		{"trial", "/run/" + run.ID() + "/trial?m=anot&s=R03&e=1"},
	} {
		all := ""
		for _, path := range []string{c.page, "/style.css", "/script.js"} {
			code, text := get(path)
			if code != 200 {
				t.Fatalf("%s: status %d: %s", path, code, text)
			}
			all += text
		}
		all = strings.ReplaceAll(everyRuns.ReplaceAllString(all, "-"), turnBegins, "\n"+turnBegins)
		lines := slices.Sorted(strings.Lines(all)) // calls at the same time come in either order
		fmt.Fprintf(&list, "%s.png %x\n", c.picture, sha256.Sum256([]byte(strings.Join(lines, ""))))
	}
	return list.String()
}

// turnBegins is how a call begins in a transcript.
const turnBegins = `<details class="turn`

// everyRuns is what two runs of one experiment show otherwise: names, days, times, when calls
// ran, and commands.
var everyRuns = regexp.MustCompile(record.RunIDPattern + `|(?s)<svg class="wf".*?</svg>|\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d)?)?|(?s)<small>command</small>.*?</pre>`)

// TestPicturesAreOfThesePages: the README's pictures show the pages as they are now.
func TestPicturesAreOfThesePages(t *testing.T) {
	l := newLab(t)
	run := cafesRun(t, l)
	base, p := serve(t, l)
	got := pictured(t, base, p, run)
	want, err := os.ReadFile(filepath.Join("pictures", madeFrom))
	if err != nil || string(want) != got {
		t.Errorf("the pictures show other pages than these: make them anew with \"just pictures\", which needs Chromium (%v)\nthey are of\n%s\nthe pages are\n%s", err, want, got)
	}
}
