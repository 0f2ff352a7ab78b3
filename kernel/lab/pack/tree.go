package pack

import (
	"encoding/hex"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"

	"noema/kernel/result/record"
)

// Tree is the Merkle tree of RFC 6962 over a run's trials in canonical order, by which one
// trial is shown to be part of a run while the others stay private. A leaf holds a trial's
// id and hash. The run's root hash, which is older and covers the configuration too, cannot
// prove a part.
type Tree struct {
	size   int64
	hashes []tlog.Hash // as tlog stores a tree
}

// leaf is what the tree covers of a trial.
func leaf(id record.TrialID, hash string) []byte {
	return fmt.Appendf(nil, "%s\n%s\n", id, hash)
}

// Add appends a trial.
func (t *Tree) Add(id record.TrialID, hash string) error {
	more, err := tlog.StoredHashes(t.size, leaf(id, hash), t)
	if err != nil {
		return fmt.Errorf("add trial %s to the tree: %w", id, err)
	}
	t.hashes = append(t.hashes, more...)
	t.size++
	return nil
}

// ReadHashes implements tlog.HashReader.
func (t *Tree) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	found := make([]tlog.Hash, len(indexes))
	for i, at := range indexes {
		found[i] = t.hashes[at]
	}
	return found, nil
}

// Root is the tree's hash, in hex.
func (t *Tree) Root() (string, error) {
	h, err := tlog.TreeHash(t.size, t)
	return hex.EncodeToString(h[:]), err
}
