package cache

import (
	"slices"
	"time"

	"noema/methods"
)

// CompletionRecord is a recorded completion.
type CompletionRecord struct {
	Completion methods.Completion
	Attempts   []Attempt // the failed ones before the success, in order; see Miscount
	At         time.Time // when it was received; provenance only, never hashed
	Draw       int       // of the request
	Epoch      int       // of the trial that asked first
}

// Miscounted is the Kind of an Attempt that succeeded but for its token counts,
// which cannot be and are not used. It is the last one of its record.
const Miscounted = "miscounted"

// Miscount says which token counts of the answer were refused, and Failed how many
// attempts failed. Miscount is empty if the counts stand.
func (r CompletionRecord) Miscount() (counts string, failed int) {
	n := len(r.Attempts)
	if n > 0 && r.Attempts[n-1].Kind == Miscounted {
		return r.Attempts[n-1].Message, n - 1
	}
	return "", n
}

// Attempt is one failed attempt at a call.
type Attempt struct {
	Kind    string        // kind of failure, as the provider classifies it
	Status  int           // HTTP status; 0 if there was none
	Message string        // the error, free of keys
	Wait    time.Duration // before the next attempt
}

// RequestRecord is a recorded request.
type RequestRecord struct {
	Key     Key // of its completion
	Model   methods.ModelID
	Request methods.Request // Path is that of the call that was answered first
}

// storedRequest is what is stored of a request.
type storedRequest struct {
	Model   methods.ModelID
	Request methods.Request
}

// ToolRecord is a recorded tool result.
type ToolRecord struct {
	Call     methods.ToolCall
	Result   methods.ToolResult
	At       time.Time // provenance only
	Latency  time.Duration
	Attempts []Attempt
}

// SeedRecord is a recorded method seed.
type SeedRecord struct {
	Data  []byte
	Usage methods.Usage // what building it consumed
	At    time.Time     // provenance only
}

// Entry is a run, a trial or a look: bytes that the kernel encodes.
type Entry struct {
	ID   string // of a look: the key of its data, in hex
	Data []byte
}

// Space is a kind of record.
type Space string

// The spaces.
const (
	Completions Space = "completions"
	Requests    Space = "requests"
	Versions    Space = "versions" // completions that a refresh replaced
	ToolResults Space = "tool results"
	Embeddings  Space = "embeddings"
	Seeds       Space = "seeds"
	Runs        Space = "runs"
	Trials      Space = "trials"
	Blobs       Space = "blobs"
	Looks       Space = "looks" // at comparisons
)

// Spaces lists every Space in display order.
func Spaces() []Space {
	return []Space{Completions, Requests, Versions, ToolResults, Embeddings, Seeds, Runs, Trials, Blobs, Looks}
}

// prefixes are the first bytes of the keys of Spaces, in their order. They are
// part of the format.
const prefixes = "cqvoesrtbl"

// key is the full key of the record named by the parts.
func (s Space) key(parts ...[]byte) []byte {
	k := []byte{prefixes[slices.Index(Spaces(), s)]}
	for _, p := range parts {
		k = append(k, p...)
	}
	return k
}
