package cluster

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"

	"noema/kernel/result/record"
)

// What the two sides say to each other as JSON. Names of trials are those of
// [record.TrialID].

// hello is what a worker says to join, sealed with the token's key for it.
type hello struct {
	Worker string   `json:"worker"` // its secret name
	Nonce  string   `json:"nonce"`  // of this attempt
	Shown  string   `json:"shown"`  // its name for people: host and process
	Slots  int      `json:"slots"`  // trials at once
	Serves []served `json:"serves,omitempty"`
	Build  Build    `json:"build"`
}

// welcome is the answer, sealed with a key for the nonce.
type welcome struct {
	Link    string `json:"link,omitempty"`    // what the keys of the link are derived from
	Refused string `json:"refused,omitempty"` // why it cannot join
}

// group is a method's code. Trials of one group wait for the same workers.
type group struct {
	ID string `json:"id"`
	Code
}

// Code is what a method's code is known by.
type Code struct {
	Name    string `json:"name"`              // of the method
	Digest  string `json:"digest"`            // see [plugins.CodeDigest]
	File    string `json:"file"`              // name of the file or folder
	Builtin bool   `json:"builtin,omitempty"` // the program itself serves it
}

func groupOf(p record.Plugin) group {
	id := sha256.Sum256([]byte(p.Method + "\x00" + p.Digest))
	return group{ID: "m" + hex.EncodeToString(id[:8]), Code: Code{Name: p.Method, Digest: p.Digest, File: filepath.Base(p.Path), Builtin: p.Builtin}}
}

// offered is a run's methods.
type offered struct {
	Run    uint64  `json:"run"`
	Groups []group `json:"groups"`
}

// readied says that a worker can run a group, or why it cannot.
type readied struct {
	Run   uint64 `json:"run"`
	Group string `json:"group"`
	Error string `json:"error,omitempty"`
}

// taken is a batch that a worker has.
type taken struct {
	Run   uint64 `json:"run"`
	Batch uint64 `json:"batch"`
	Ack   string `json:"ack"` // the subject by which it is acknowledged
}

// claimed is a trial that a worker begins.
type claimed struct {
	Run   uint64 `json:"run"`
	Trial string `json:"trial"`
	Alone bool   `json:"alone,omitempty"` // nothing else runs on the worker
}
