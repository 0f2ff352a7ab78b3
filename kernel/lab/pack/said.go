package pack

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"hash"
	"maps"
	"slices"
	"time"

	"noema/kernel/result/record"
)

// believedFolders says of the records of a folder what nothing shows.
var believedFolders = map[string]string{
	replies:  "that the model gave these replies, when, at what cost and after which failed attempts",
	tools:    "that the tools gave these results, when, and after which failed attempts",
	seeds:    "that they were built when and at the cost that they say",
	replaced: "they were written by hand",
}

// computed are the fields of a run that verifying computes again or compares. All others,
// also those that a later noema adds, are listed.
var computed = []string{"format", "id", "config", "config_digest", "status", "root_hash", "task_blob", "asked"}

// declared are the parts of a configuration that its trials are computed with, and that
// say more than these can show.
var declared = []string{"model", "graders", "design", "limits"}

// said lists what the pack says and verifying believes.
func (x *verification) said(run, what, value string) {
	x.note(&x.verdict.Believed, Claim{Run: run, What: what, Value: value})
}

// fields lists what a run's record says beyond what is computed.
func (x *verification) fields(run *record.Run, recomputed bool) error {
	raw, err := x.pack.Read(runEntry(run.ID, runFile))
	if err != nil {
		return err
	}
	var all struct {
		Config  map[string]json.RawMessage `json:"config"`
		Plugins []json.RawMessage          `json:"plugins"`
	}
	var rest map[string]json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		return err
	}
	if err := json.Unmarshal(raw, &rest); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(all.Config)) {
		if value := string(all.Config[name]); value != "{}" && (!recomputed || slices.Contains(declared, name)) {
			x.said(run.ID, name, brief(value))
		}
	}
	for _, p := range all.Plugins {
		x.said(run.ID, "plugin", brief(string(p)))
	}
	for _, name := range slices.Sorted(maps.Keys(rest)) {
		if name != "plugins" && !slices.Contains(computed, name) {
			x.said(run.ID, name, brief(string(rest[name])))
		}
	}
	return nil
}

// brief is a value as it is listed. What is long keeps its beginning, its length and its
// digest, which no other value has.
func brief(value string) string {
	const most = 1000
	if len(value) <= most {
		return value
	}
	return fmt.Sprintf("%.*s … (%d bytes, sha256 %.16x)", most/2, value, len(value), sha256.Sum256([]byte(value)))
}

// digestLine is the digest by which a file is told that nobody checked.
func (x *verification) digestLine(name string) string {
	for _, e := range x.pack.Entries() {
		if e.Name == name {
			return fmt.Sprintf("%d bytes, sha256 %.16s", e.Size, e.SHA256)
		}
	}
	return "not there"
}

// times is what trials say of their own execution.
type times struct {
	first, last time.Time
	wall        time.Duration
	calls       int
	sum         hash.Hash // over all of each: a change that the sums hide changes it
}

func (s *times) add(t *record.Trial) {
	if s.sum == nil {
		s.sum, s.first, s.last = sha256.New(), t.Started, t.Started
	}
	if t.Started.Before(s.first) {
		s.first = t.Started
	}
	if t.Started.After(s.last) {
		s.last = t.Started
	}
	s.wall, s.calls = s.wall+t.Wall, s.calls+t.Provider
	fmt.Fprintln(s.sum, t.Started.Format(time.RFC3339Nano), t.Wall, t.Provider)
	for _, c := range slices.Concat(t.Calls, t.Grading) {
		if c.Timing != (record.Timing{}) { // records of before keep the sum that verdicts on them name
			fmt.Fprintln(s.sum, c.Path, c.Draw, c.Timing)
		}
	}
}

func (s *times) String() string {
	return fmt.Sprintf("begun from %s to %s, %v and %d new calls in all, sha256 %.16x",
		s.first.Format(time.RFC3339Nano), s.last.Format(time.RFC3339Nano), s.wall, s.calls, s.sum.Sum(nil))
}
