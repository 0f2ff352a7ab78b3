package library

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"noema/kernel/base/files"
	"noema/kernel/base/hub"
	"noema/methods"
)

// Pulled is a model that was fetched.
type Pulled struct {
	Name    string // after local/ in a model's name
	Repo    string
	Commit  string
	License string // as the repository declares it; empty if it does not
	Files   int
	Size    int64  // bytes of the files
	Path    string // of the folder or the GGUF file
}

// Pull fetches those files of a model that the cache lacks: of a short name or
// hf/ORG/REPO[@REVISION][:FILE]. found is told what the hub has before the
// files are fetched.
func (l Library) Pull(ctx context.Context, name string, found func(Pulled)) (Pulled, error) {
	r, ok, err := parse(strings.TrimPrefix(name, "local/"))
	if err == nil && !ok {
		err = fmt.Errorf("%q is neither hf/ORG/REPO[@REVISION][:FILE] nor a short name%s: those are %s", name, methods.DidYouMean(name, l.names()), strings.Join(l.shorts(), ", "))
	}
	if err != nil {
		return Pulled{}, &NameError{err}
	}
	listing, err := l.Hub.List(ctx, r)
	if err != nil {
		return Pulled{}, err
	}
	wanted, err := wanted(listing)
	if err != nil {
		return Pulled{}, fmt.Errorf("pull %q: %w", r.ID, err)
	}
	p := Pulled{Name: write(r), Repo: r.ID, Commit: listing.Commit, License: listing.License, Files: len(wanted)}
	for _, f := range wanted {
		p.Size += f.Size
	}
	found(p)
	s, err := l.Hub.Fetch(ctx, listing, wanted)
	p.Path = filepath.Join(s.Dir, filepath.FromSlash(r.File))
	return p, err
}

// NameError is a name that cannot be one of a model.
type NameError struct{ err error }

// Error implements error.
func (e *NameError) Error() string { return e.err.Error() }

// Unwrap gives the cause.
func (e *NameError) Unwrap() error { return e.err }

func (l Library) shorts() (names []string) {
	for _, s := range Shorts() {
		names = append(names, s.Name)
	}
	return names
}

// wanted picks the files to fetch.
func wanted(l hub.Listing) (chosen []hub.File, err error) {
	var names []string
	if l.File != "" {
		names = []string{l.File}
	} else if names, err = choose(paths(l.Files)); errors.Is(err, errOnlyGGUF) {
		return nil, fmt.Errorf("the repository has GGUF files: name one of them:%s", offer(l))
	}
	if err != nil {
		return nil, err
	}
	for _, f := range l.Files {
		if slices.Contains(names, f.Path) {
			chosen = append(chosen, f)
		}
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("the repository has no file %q%s%s", l.File, methods.DidYouMean(l.File, paths(l.Files)), offer(l))
	}
	return chosen, nil
}

// offer lists the GGUF files of a repository, a line each.
func offer(l hub.Listing) string {
	l.File = ""
	var b strings.Builder
	for _, f := range l.Files {
		if isGGUF(f.Path) {
			r := l.Ref
			r.File = f.Path
			fmt.Fprintf(&b, "\n  noema model pull %s (%d MiB)", files.Word(prefix+r.String()), f.Size>>20)
		}
	}
	return b.String()
}

func paths(files []hub.File) (names []string) {
	for _, f := range files {
		names = append(names, f.Path)
	}
	return names
}
