package lab

import (
	"fmt"
	"path/filepath"
	"strings"

	"noema/kernel/base/files"
	"noema/kernel/result/record"
	"noema/plugins"
)

// Copies are those of the code that runs were made with.
func (l *Lab) Copies() plugins.Copies { return plugins.Copies{Folder: filepath.Join(l.o.Home, "code")} }

// Code finds the code that served a method of a run: the copy that was made then, or where
// it was if it is still the same.
func (l *Lab) Code(p record.Plugin) (plugins.Source, error) {
	if p.Path == functionPath {
		return plugins.Source{}, Misused(fmt.Errorf("method %q is a function of a script: make it a plugin first, by \"noema plugin promote\"", p.Method))
	}
	src, ok := l.Copies().Find(p.Path, p.Digest)
	if !ok {
		return src, fmt.Errorf("the code of method %q as it was, with digest %.12s, is neither at %s nor in the copies: put it back there", p.Method, p.Digest, p.Path)
	}
	return src, nil
}

func (l *Lab) grants() plugins.Grants {
	return plugins.Grants{File: filepath.Join(l.o.Home, "allowed")}
}

// granted marks a plugin's request as granted, or says how to grant it.
func (l *Lab) granted(src plugins.Source) (plugins.Source, error) {
	has, err := l.grants().Has(src)
	if err != nil {
		return src, err
	}
	if has {
		src.Granted = src.Request != ""
		return src, nil
	}
	name := src.Name
	if found, err := l.plugin(name, nil); err != nil || found.Path != src.Path {
		name = src.Path
	}
	return src, fmt.Errorf("open plugin %q: its %s asks for more than other plugins may do (%s): if you trust it, run: noema plugin allow %s",
		src.Name, plugins.ManifestName, strings.Join(src.Asks(), ", "), files.Word(name))
}

// Allow grants the plugin of a name or at a path what its manifest asks for, and
// returns that.
func (l *Lab) Allow(name string) ([]string, error) {
	src, err := l.plugin(name, nil)
	if err != nil {
		return nil, err
	}
	if src.Request == "" {
		return nil, Misused(fmt.Errorf("allow plugin %q: it asks for nothing beyond what every plugin may do", src.Name))
	}
	if has, err := l.grants().Has(src); err == nil && has {
		return src.Asks(), nil
	}
	if err := l.grants().Add(src); err != nil {
		return nil, fmt.Errorf("allow plugin %q: %w", src.Name, err)
	}
	return src.Asks(), nil
}
