package library

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"noema/kernel/base/files"
)

// Files of a model in safetensors.
const (
	configFile = "config.json"
	tokenFile  = "tokenizer.json"
	weightFile = "model.safetensors"
	indexFile  = weightFile + ".index.json"
)

var shard = regexp.MustCompile(`^model-\d+-of-\d+\.safetensors$`)

// choose picks of a repository's or folder's files those that the provider of
// local models reads.
func choose(names []string) (chosen []string, err error) {
	whole := slices.Contains(names, weightFile)
	indexed := slices.Contains(names, indexFile)
	for _, name := range names {
		switch {
		case slices.Contains([]string{
			configFile, tokenFile, "tokenizer_config.json", "special_tokens_map.json", "generation_config.json", "chat_template.jinja",
			"sentence_bert_config.json", "1_Pooling/config.json",
		}, name), name == weightFile, !whole && indexed && (name == indexFile || shard.MatchString(name)):
			chosen = append(chosen, name)
		}
	}
	switch {
	case !whole && !indexed && slices.ContainsFunc(names, isGGUF):
		return nil, errOnlyGGUF
	case !whole && !indexed:
		return nil, fmt.Errorf("no weights in safetensors (%s) and none in GGUF: models in this process need one of them", weightFile)
	}
	for _, needed := range []string{configFile, tokenFile} {
		if !slices.Contains(chosen, needed) {
			return nil, fmt.Errorf("no %s, which models in this process need", needed)
		}
	}
	return chosen, nil
}

var errOnlyGGUF = errors.New("only GGUF files")

// missing names a file without which the model in dir cannot be loaded; "" if
// none is.
func missing(dir string) string {
	lacks := func(name string) bool {
		info, err := os.Stat(filepath.Join(dir, name))
		return err != nil || !info.Mode().IsRegular()
	}
	for _, name := range []string{configFile, tokenFile} {
		if lacks(name) {
			return name
		}
	}
	if !lacks(weightFile) {
		return ""
	}
	var index struct {
		Shards map[string]string `json:"weight_map"`
	}
	raw, err := files.Read(filepath.Join(dir, indexFile), files.MaxJSON)
	if err != nil || json.Unmarshal(raw, &index) != nil || len(index.Shards) == 0 {
		return weightFile
	}
	for _, name := range index.Shards {
		if !filepath.IsLocal(name) || lacks(name) {
			return name
		}
	}
	return ""
}

// ggufs lists the GGUF files in dir, with slashes.
func ggufs(dir string) (names []string) {
	found, _ := tree(dir) // what cannot be read cannot be offered
	return slices.DeleteFunc(found, func(name string) bool { return !isGGUF(name) })
}

// tree lists the files of a folder and of those right below it, with slashes.
func tree(dir string) (names []string, err error) {
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if e.IsDir() && strings.Count(name, string(filepath.Separator)) > 0 {
			return filepath.SkipDir
		}
		if !e.IsDir() {
			names = append(names, filepath.ToSlash(name))
		}
		return nil
	})
	slices.Sort(names)
	return names, err
}
