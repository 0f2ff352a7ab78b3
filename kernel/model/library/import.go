package library

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"noema/kernel/base/files"
)

// plain are the names that imported models may have.
var plain = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// recordFile says what was imported.
const recordFile = "noema.json"

func (l Library) folder() string { return filepath.Join(l.Home, "models") }

// Import takes a GGUF file, or a folder as Hugging Face lays it out, into
// Home/models/name, so that it stays when the original goes. A file becomes a
// clone where the file system can, else a hard link, else a copy: the first two
// take no space. The digest is that of now; what a model answers is kept under
// the digest that it has when it is loaded.
func (l Library) Import(ctx context.Context, source, name string) (m Model, err error) {
	if _, taken, _ := parse(name); taken || !plain.MatchString(name) {
		return m, &NameError{fmt.Errorf("%q cannot be the name of a model: use up to 64 letters, digits, \".\", \"_\" and \"-\", and no short name of the hub", name)}
	}
	final := filepath.Join(l.folder(), name)
	if _, err := os.Lstat(final); err == nil {
		return m, &NameError{fmt.Errorf("there is a model %q: choose another name, or remove %s first", name, final)}
	}
	from, names, err := contents(source)
	if err != nil {
		return m, fmt.Errorf("import %q: %w", source, err)
	}
	if err := os.MkdirAll(l.folder(), 0o755); err != nil {
		return m, err
	}
	temporary, err := os.MkdirTemp(l.folder(), ".import-")
	if err != nil {
		return m, err
	}
	defer os.RemoveAll(temporary) // by its final name it is no longer there
	m, err = take(ctx, from, temporary, names)
	if err == nil {
		err = writeRecord(temporary, m)
	}
	if err == nil {
		err = os.Rename(temporary, final)
	}
	if err != nil {
		return m, fmt.Errorf("import %q: %w", source, err)
	}
	return l.imported(name)
}

// contents lists what is to be taken in of a file's or a folder's files.
func contents(source string) (from string, names []string, err error) {
	info, err := os.Stat(source)
	if err != nil {
		return "", nil, err
	}
	if !info.IsDir() {
		return filepath.Dir(source), []string{filepath.Base(source)}, checkGGUF(source)
	}
	all, err := tree(source)
	if err == nil {
		names, err = choose(all)
	}
	if errors.Is(err, errOnlyGGUF) {
		err = fmt.Errorf("the folder has GGUF files: import one of them: %q", ggufs(source))
	}
	return source, names, err
}

// checkGGUF looks at the first bytes.
func checkGGUF(path string) error {
	f, err := files.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	magic := make([]byte, 4)
	if _, err := io.ReadFull(f, magic); err != nil || string(magic) != "GGUF" || !isGGUF(path) {
		return errors.New("not a GGUF file: import a GGUF file, or the folder of a model in safetensors")
	}
	return nil
}

// take puts files into a folder and reads them for their digest.
func take(ctx context.Context, from, to string, names []string) (m Model, err error) {
	m.Format = Safetensors
	if isGGUF(names[0]) {
		m.Format = GGUF
	}
	all := sha256.New()
	slices.Sort(names)
	for _, name := range names {
		at := filepath.Join(to, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			return m, err
		}
		if err := place(ctx, filepath.Join(from, filepath.FromSlash(name)), at); err != nil {
			return m, err
		}
		n, digest, err := sum(ctx, at)
		if err != nil {
			return m, err
		}
		m.Size += n
		fmt.Fprintf(all, "%s %s\n", digest, name)
		m.Version = "sha256:" + digest
	}
	if len(names) > 1 { // of the list that sha256sum prints, but for a space
		m.Version = "sha256:" + hex.EncodeToString(all.Sum(nil))
	}
	return m, nil
}

func writeRecord(dir string, m Model) error {
	raw, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, recordFile), append(raw, '\n'), 0o644)
}

// imported reads the record of an imported model.
func (l Library) imported(name string) (m Model, err error) {
	dir := filepath.Join(l.folder(), name)
	raw, err := files.Read(filepath.Join(dir, recordFile), files.MaxConfig)
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return m, fmt.Errorf("read %s: %w", filepath.Join(dir, recordFile), err)
	}
	m.Name, m.Path = name, dir
	if m.Format == GGUF {
		found := ggufs(dir)
		if len(found) != 1 {
			return m, fmt.Errorf("read model %q: %d GGUF files in %s, want one", name, len(found), dir)
		}
		m.Path = filepath.Join(dir, found[0])
	}
	return m, nil
}

// importedNames lists the imported models.
func (l Library) importedNames() (names []string, err error) {
	entries, err := os.ReadDir(l.folder())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if e.IsDir() && plain.MatchString(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names, err
}
