package library

import (
	"os"
	"path/filepath"

	"noema/kernel/base/hub"
)

// Formats of a model.
const (
	Safetensors = "safetensors"
	GGUF        = "gguf"
)

// Model is a model on this machine.
type Model struct {
	Name    string `json:"name"`    // after local/ in a model's name
	Format  string `json:"format"`  // safetensors or gguf
	Size    int64  `json:"size"`    // bytes of the files that are read
	Version string `json:"version"` // commit on the hub, or sha256: and the digest of what was imported
	Path    string `json:"path"`    // folder, or GGUF file
}

// List lists the models on this machine: the imported ones, then those in the
// cache of the hub, each by name. Repositories without all files of a model are
// left out.
func (l Library) List() ([]Model, error) {
	var all []Model
	names, err := l.importedNames()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if m, err := l.imported(name); err == nil {
			all = append(all, m)
		}
	}
	snapshots, err := l.Hub.Snapshots(hub.Model)
	if err != nil {
		return nil, err
	}
	for _, s := range snapshots {
		all = append(all, inSnapshot(s)...)
	}
	return all, nil
}

// inSnapshot lists the models of one repository: the one in safetensors, and
// each GGUF file.
func inSnapshot(s hub.Snapshot) (found []Model) {
	if missing(s.Dir) == "" {
		if m, err := measure(s.Dir); err == nil {
			m.Name, m.Version = write(s.Ref), s.Commit
			found = append(found, m)
		}
	}
	for _, name := range ggufs(s.Dir) {
		r := s.Ref
		r.File = name
		at := filepath.Join(s.Dir, filepath.FromSlash(name))
		if info, err := os.Stat(at); err == nil {
			found = append(found, Model{Name: write(r), Format: GGUF, Size: info.Size(), Version: s.Commit, Path: at})
		}
	}
	return found
}

// measure sums up the files of a model in safetensors.
func measure(dir string) (Model, error) {
	m := Model{Format: Safetensors, Path: dir}
	names, err := tree(dir)
	if err != nil {
		return m, err
	}
	if names, err = choose(names); err != nil {
		return m, err
	}
	for _, name := range names {
		info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			return m, err
		}
		m.Size += info.Size()
	}
	return m, nil
}
