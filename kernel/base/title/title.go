// Package title compares titles of articles as MediaWiki does. Nothing that tells
// two articles apart is lost: "2016 election" and "2017 election" are two.
package title

import (
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Canonical is the form in which two spellings of one title are equal: Unicode's
// NFC, underscores as spaces, single spaces, and the first letter in upper case.
//
// Source: MediaWiki's manual, "Page title".
func Canonical(title string) string {
	title = norm.NFC.String(strings.ToValidUTF8(title, "\ufffd"))
	title = strings.Join(strings.Fields(strings.ReplaceAll(title, "_", " ")), " ")
	first, size := utf8.DecodeRuneInString(title)
	if size == 0 {
		return ""
	}
	return string(unicode.ToUpper(first)) + title[size:]
}

// Fold is a form in which titles that differ only in case are equal, too. Two
// articles may have the same: who looks one up by it must show all that it finds.
func Fold(title string) string { return strings.ToLower(Canonical(title)) }

// Of is the title in an article's address, or the text itself if it is a title.
// An address is a URL, or a path such as "wiki/Ada_Lovelace" or "./Ada_Lovelace".
func Of(address string) string {
	address = strings.TrimSpace(address)
	path, isPath := strings.CutPrefix(strings.TrimPrefix(address, "/"), "wiki/")
	if !isPath {
		path, isPath = strings.CutPrefix(address, "./")
	}
	if !isPath && (strings.Contains(address, "://") || strings.HasPrefix(address, "//")) {
		if path, isPath = inURL(address); path == "" {
			return address
		}
	}
	if !isPath {
		return strings.ReplaceAll(address, "_", " ")
	}
	path, _, _ = strings.Cut(path, "#") // of a heading: no title has this character
	if plain, err := url.PathUnescape(path); err == nil {
		path = plain
	}
	return strings.ReplaceAll(path, "_", " ")
}

// inURL finds the title in a URL, still escaped: in ".../wiki/Title" or in
// "...?title=Title".
func inURL(address string) (string, bool) {
	u, err := url.Parse(address)
	if err != nil {
		return "", false
	}
	if t := u.Query().Get("title"); t != "" {
		return url.PathEscape(t), true
	}
	if _, rest, ok := strings.Cut(u.EscapedPath(), "/wiki/"); ok {
		return rest, true
	}
	return "", false
}

// URL is the address of an article in a corpus.
func URL(title string) string { return "wiki/" + url.PathEscape(strings.ReplaceAll(title, " ", "_")) }
