package view

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
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
		fmt.Fprintf(&list, "%s.png %x\n", c.picture, sha256.Sum256([]byte(everyRuns.ReplaceAllString(all, "-"))))
	}
	return list.String()
}

// everyRuns is what two runs of one experiment show otherwise: names, days and times.
var everyRuns = regexp.MustCompile(record.RunIDPattern + `|\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d)?)?`)

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
