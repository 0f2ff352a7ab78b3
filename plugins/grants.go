package plugins

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Grants is the file that lists what the user granted: a line each of a request's digest
// and the plugin's name. Another request of the same plugin, for it is edited or moved, is
// asked for again.
type Grants struct{ File string }

// Has reports whether what src asks for is granted. A plugin that asks for nothing needs
// no grant.
func (g Grants) Has(src Source) (bool, error) {
	if src.Request == "" {
		return true, nil
	}
	raw, err := os.ReadFile(g.File)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("read what plugins are allowed: %w", err)
	}
	return slices.Contains(strings.Fields(string(raw)), src.Request), nil
}

// Add grants src what it asks for.
func (g Grants) Add(src Source) error {
	if err := os.MkdirAll(filepath.Dir(g.File), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(g.File, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, src.Request, src.Name)
	return errors.Join(err, f.Close())
}
