// Package library keeps the models that run in this process: it fetches them
// from the Hugging Face hub, takes in files that one has, lists what there is,
// and finds the folder or file that a name stands for.
package library

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"noema/kernel/base/files"
	"noema/kernel/base/hub"
	"noema/methods"
)

// Library is what there is on this machine: the hub's cache, and what was
// imported into Home/models.
type Library struct {
	Home string // $NOEMA_HOME
	Hub  *hub.Client
}

// Short is a short name for a model of the hub.
type Short struct{ Name, Repo string }

// Shorts lists the short names. Each stands for the main branch, whose commit
// is the one that was fetched.
func Shorts() []Short {
	return []Short{
		{"smollm2-135m", "HuggingFaceTB/SmolLM2-135M-Instruct"},
		{"smollm2-360m", "HuggingFaceTB/SmolLM2-360M-Instruct"},
		{"qwen3-0.6b", "Qwen/Qwen3-0.6B"},
		{"gemma-3-270m-it", "google/gemma-3-270m-it"},
		{"minilm", "sentence-transformers/all-MiniLM-L6-v2"},
	}
}

// prefix is what names of the hub begin with.
const prefix = "hf/"

// parse reads a short name or hf/ORG/REPO[@REVISION][:FILE]; ok is false for
// another name.
func parse(name string) (r hub.Ref, ok bool, err error) {
	for _, s := range Shorts() {
		if s.Name == name {
			return hub.Ref{Kind: hub.Model, ID: s.Repo}, true, nil
		}
	}
	rest, ok := strings.CutPrefix(name, prefix)
	if !ok {
		return r, false, nil
	}
	r, err = hub.Parse(hub.Model, rest)
	if err == nil && r.File != "" && !isGGUF(r.File) {
		err = fmt.Errorf("%q: only a GGUF file can be named; leave out %q for a model in safetensors", name, ":"+r.File)
	}
	return r, true, err
}

// write is a reference as [parse] reads it.
func write(r hub.Ref) string {
	if r.Revision == "main" {
		r.Revision = ""
	}
	for _, s := range Shorts() {
		if s.Repo == r.String() {
			return s.Name
		}
	}
	return prefix + r.String()
}

func isGGUF(name string) bool { return strings.EqualFold(path.Ext(name), ".gguf") }

// Find gives the folder or the GGUF file of a model, without any request: of a
// short name, hf/ORG/REPO[@REVISION][:FILE], the name of an imported model, or
// a path, which is returned as it is.
func (l Library) Find(name string) (string, error) {
	r, onHub, err := parse(name)
	if err != nil {
		return "", err
	}
	if onHub {
		return l.fetched(name, r)
	}
	if plain.MatchString(name) {
		if m, err := l.imported(name); err == nil {
			return m.Path, nil
		}
	}
	if _, err := os.Stat(name); err != nil && !strings.ContainsRune(name, filepath.Separator) {
		return "", fmt.Errorf("no model, folder or file of the name %q%s: \"noema model list\" shows what there is", name, methods.DidYouMean(name, l.names()))
	}
	return name, nil
}

// fetched finds what was fetched from the hub.
func (l Library) fetched(name string, r hub.Ref) (string, error) {
	s, err := l.Hub.Find(r)
	if errors.Is(err, hub.ErrNotFetched) {
		return "", fmt.Errorf("%s is not on this machine: fetch it with \"noema model pull %s\"", r.ID, files.Word(name))
	}
	if err != nil {
		return "", err
	}
	if r.File != "" {
		at := filepath.Join(s.Dir, filepath.FromSlash(r.File))
		if _, err := os.Stat(at); err != nil {
			return "", fmt.Errorf("%s of %s is not on this machine: fetch it with \"noema model pull %s\"", r.File, r.ID, files.Word(name))
		}
		return at, nil
	}
	if lacks := missing(s.Dir); lacks != "" {
		if found := ggufs(s.Dir); len(found) > 0 {
			return "", fmt.Errorf("of %s there are GGUF files: name one, as in %q", r.ID, "local/"+prefix+r.String()+":"+found[0])
		}
		return "", fmt.Errorf("%s is on this machine without %s: fetch it with \"noema model pull %s\"", r.ID, lacks, files.Word(name))
	}
	return s.Dir, nil
}

// names are those that a user may have meant.
func (l Library) names() (names []string) {
	for _, s := range Shorts() {
		names = append(names, s.Name)
	}
	imported, _ := l.importedNames() // it is only for a hint
	return append(names, imported...)
}
