package lab

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"noema/plugins"
)

// grantsFile is the file in the home that lists what the user granted: a line
// each of a request's digest and the plugin's name. Another request of the same
// plugin, for it is edited or moved, is asked for again.
const grantsFile = "allowed"

// granted marks a plugin's request as granted, or says how to grant it. A plugin
// that asks for nothing needs no grant.
func (l *Lab) granted(src plugins.Source) (plugins.Source, error) {
	if src.Request == "" {
		return src, nil
	}
	raw, err := os.ReadFile(filepath.Join(l.o.Home, grantsFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return src, fmt.Errorf("read what plugins are allowed: %w", err)
	}
	if src.Granted = slices.Contains(strings.Fields(string(raw)), src.Request); src.Granted {
		return src, nil
	}
	name := src.Name
	if found, err := l.plugin(name); err != nil || found.Path != src.Path {
		name = src.Path
	}
	return src, fmt.Errorf("open plugin %q: its %s asks for more than other plugins may do (%s): if you trust it, run: noema plugin allow %s",
		src.Name, plugins.ManifestName, strings.Join(src.Asks(), ", "), name)
}

// Allow grants the plugin of a name or at a path what its manifest asks for, and
// returns that.
func (l *Lab) Allow(name string) ([]string, error) {
	src, err := l.plugin(name)
	if err != nil {
		return nil, err
	}
	if src.Request == "" {
		return nil, Misused(fmt.Errorf("allow plugin %q: it asks for nothing beyond what every plugin may do", src.Name))
	}
	if _, err := l.granted(src); err == nil {
		return src.Asks(), nil
	}
	if err := os.MkdirAll(l.o.Home, 0o700); err != nil {
		return nil, fmt.Errorf("allow plugin %q: %w", src.Name, err)
	}
	f, err := os.OpenFile(filepath.Join(l.o.Home, grantsFile), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("allow plugin %q: %w", src.Name, err)
	}
	_, err = fmt.Fprintln(f, src.Request, src.Name)
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("allow plugin %q: %w", src.Name, err)
	}
	return src.Asks(), nil
}
