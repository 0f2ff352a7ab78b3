package checkpoint

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"noema/kernel/base/files"
)

// Others are the files besides the weights that change what a model answers.
// Those that a folder lacks are left out.
var others = []string{
	"1_Pooling/config.json", "chat_template.jinja", "config.json", "generation_config.json", "sentence_bert_config.json",
	"special_tokens_map.json", "tokenizer.json", "tokenizer_config.json",
}

// Digest is a SHA-256 over all files in dir that change what the model
// answers: names, sizes and contents. Where the folder lies does not matter.
func Digest(dir string) (string, error) {
	names, err := weightFiles(dir)
	if err != nil {
		return "", err
	}
	for _, name := range others {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	sum := sha256.New()
	for _, name := range names {
		if err := add(sum, dir, name); err != nil {
			return "", fmt.Errorf("digest of the model: %w", err)
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// add writes a file's name, size and content.
func add(sum io.Writer, dir, name string) error {
	f, err := files.Open(filepath.Join(dir, name))
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	fmt.Fprintf(sum, "%q %d\n", name, info.Size())
	_, err = io.Copy(sum, f)
	return err
}

// Digest is a SHA-256 over the file. Its name does not matter.
func (g *GGUF) Digest() (string, error) {
	sum := sha256.New()
	if _, err := io.Copy(sum, io.NewSectionReader(g.file, 0, 1<<62)); err != nil {
		return "", fmt.Errorf("digest of the model: %w", err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
