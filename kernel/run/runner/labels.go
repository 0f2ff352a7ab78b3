package runner

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"noema/cache"
	"noema/kernel/result/record"
)

// LabelFile is where people's labels of a run's answers are kept: JSON Lines of
// [record.Label] in the folder of the store.
func LabelFile(store *cache.Store, run string) string {
	return filepath.Join(store.Dir(), "labels", run+".jsonl")
}

// ReadLabels reads the labels of a run; there may be none.
func ReadLabels(store *cache.Store, run string) ([]record.Label, error) {
	file := LabelFile(store, run)
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the labels: %w", err)
	}
	defer f.Close()
	labels, err := record.ReadLabels(f)
	if err != nil {
		return nil, fmt.Errorf("read the labels in %s: %w: correct the line or remove it", file, err)
	}
	return labels, nil
}

// AddLabels makes labels durable. A line of the file that was cut off is removed.
func AddLabels(store *cache.Store, run string, labels ...record.Label) (err error) {
	file := LabelFile(store, run)
	defer func() {
		if err != nil {
			err = fmt.Errorf("write the labels: %w", err)
		}
	}()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := mend(f, file); err != nil {
		return err
	}
	var lines bytes.Buffer
	for _, l := range labels {
		raw, err := record.Marshal(l)
		if err != nil {
			return err
		}
		lines.Write(append(raw, '\n'))
	}
	if _, err := f.Write(lines.Bytes()); err != nil {
		return err
	}
	return f.Sync()
}

// mend ends the last line of a file, or removes it if it is not whole.
func mend(f *os.File, file string) error {
	raw, err := os.ReadFile(file)
	if err != nil || len(raw) == 0 || raw[len(raw)-1] == '\n' {
		return err
	}
	begin := bytes.LastIndexByte(raw, '\n') + 1
	if json.Valid(raw[begin:]) {
		_, err = f.Write([]byte("\n"))
		return err
	}
	return f.Truncate(int64(begin))
}
