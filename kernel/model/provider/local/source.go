package local

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"noema/kernel/model/provider/local/internal/checkpoint"
	"noema/kernel/model/provider/local/internal/tokenizer"
)

// source is a model before its weights are loaded: a folder or a GGUF file.
// Close it after use.
type source struct {
	path      string
	inFolder  bool // in files of their own, which errors name
	config    checkpoint.Config
	tokenizer *tokenizer.Tokenizer
	template  chatTemplate
	ends      map[int]bool // tokens that end a reply
	weights   *checkpoint.Weights
	digest    func() (string, error)
	close     func() error
}

// open reads all but the weights of a model.
func open(path string) (s source, err error) {
	if path, err = single(path); err != nil {
		return s, err
	}
	if strings.HasSuffix(path, ".gguf") {
		s, err = openGGUF(path)
	} else {
		s, err = openFolder(path)
	}
	if err == nil {
		err = s.check()
	}
	if err != nil && s.close != nil {
		err = errors.Join(err, s.close())
	}
	return s, err
}

// single is the GGUF file of a folder that holds one and nothing else of a
// model; any other path is itself.
func single(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return path, nil // the reader says what is wrong
	}
	found, _ := filepath.Glob(filepath.Join(path, "*.gguf"))
	if _, err := os.Stat(filepath.Join(path, "config.json")); err == nil || len(found) == 0 {
		return path, nil
	}
	if len(found) > 1 {
		return "", fmt.Errorf("%s has %d GGUF files: name one of them, as in local/%s", path, len(found), found[0])
	}
	return found[0], nil
}

// check compares the parts.
func (s *source) check() error {
	tokens, ends := "the tokenizer", "the metadata"
	if s.inFolder {
		tokens, ends = "tokenizer.json", "generation_config.json"
	}
	if n := s.tokenizer.Size(); n > s.config.Vocab {
		return fmt.Errorf("%s in %s has %d tokens, the model %d", tokens, s.path, n, s.config.Vocab)
	}
	for id := range s.ends {
		if id < 0 || id >= s.config.Vocab {
			return fmt.Errorf("%s in %s: eos_token_id %d is not among the model's %d tokens", ends, s.path, id, s.config.Vocab)
		}
	}
	return nil
}

func openFolder(dir string) (source, error) {
	s, err := readFolder(dir)
	if err != nil {
		return s, err
	}
	if s.template, s.ends, err = readChatTemplate(dir, s.tokenizer); err != nil {
		return s, err
	}
	for _, id := range s.config.EOS {
		s.ends[id] = true
	}
	s.weights, err = checkpoint.OpenWeights(dir)
	if err == nil {
		s.close = s.weights.Close
	}
	return s, err
}

// readFolder reads the config and the tokenizer of a folder.
func readFolder(dir string) (s source, err error) {
	s = source{path: dir, inFolder: true, digest: func() (string, error) { return checkpoint.Digest(dir) }}
	if s.config, err = checkpoint.ReadConfig(dir); err != nil {
		return s, err
	}
	s.tokenizer, err = tokenizer.Read(dir)
	return s, err
}

func openGGUF(file string) (source, error) {
	s := source{path: file}
	g, err := checkpoint.OpenGGUF(file)
	if err != nil {
		return s, err
	}
	s.close, s.digest = g.Close, g.Digest
	if s.config, err = g.Config(); err != nil {
		return s, err
	}
	if s.tokenizer, err = tokenizer.New(vocabulary(g)); err != nil {
		return s, fmt.Errorf("%s: %w", file, err)
	}
	tokens := g.Texts("tokenizer.ggml.tokens")
	named := func(key string) string {
		if id, ok := g.Number("tokenizer.ggml." + key); ok && id >= 0 && id < float64(len(tokens)) {
			return tokens[int(id)]
		}
		return ""
	}
	eos := named("eos_token_id")
	if s.template, err = recognise(g.Text("tokenizer.chat_template"), named("bos_token_id"), eos); err != nil {
		return s, fmt.Errorf("%s: %w", file, err)
	}
	s.ends = map[int]bool{}
	for _, token := range []string{s.template.end(), eos, named("eot_token_id")} {
		if id, ok := s.tokenizer.ID(token); ok {
			s.ends[id] = true
		}
	}
	s.weights, err = g.Weights()
	return s, err
}

// vocabulary reads the tokenizer of a file, with llama.cpp's defaults.
func vocabulary(g *checkpoint.GGUF) tokenizer.Vocabulary {
	v := tokenizer.Vocabulary{
		Model: g.Text("tokenizer.ggml.model"), Cut: g.Text("tokenizer.ggml.pre"), BOS: -1,
		Tokens: g.Texts("tokenizer.ggml.tokens"), Types: g.Numbers("tokenizer.ggml.token_type"),
		Scores: g.Numbers("tokenizer.ggml.scores"), Merges: g.Texts("tokenizer.ggml.merges"),
		SpacePrefix: g.Flag("tokenizer.ggml.add_space_prefix", true),
	}
	if id, ok := g.Number("tokenizer.ggml.bos_token_id"); ok && g.Flag("tokenizer.ggml.add_bos_token", v.Model == "llama") {
		v.BOS = int(id)
	}
	return v
}
