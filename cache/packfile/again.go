package packfile

import (
	"bytes"
	"fmt"
	"io"
	"slices"
)

// comparison is the pack that a Writer has to give again.
type comparison struct {
	file   *File
	differ func(said, now []byte) string
	let    []string // entries whose difference may be
}

// Again writes the pack a second time, from what write makes of it, and refuses the first
// entry that is another one, stands elsewhere or holds something else; differ says where two
// contents differ, and nothing where that may be. It returns the other entries whose bytes
// differ: those that hold the same in another compression, as other builds may write it. After [File.Check] no byte of the file is left out.
func (p *File) Again(write func(*Writer) error, differ func(said, now []byte) string) (recompressed []string, err error) {
	w, err := NewWriter(io.Discard)
	if err != nil {
		return nil, err
	}
	w.like = &comparison{file: p, differ: differ}
	if err := write(w); err != nil {
		return nil, err
	}
	if n := len(w.entries); n < len(p.list.Entries) {
		return nil, fmt.Errorf("%s: no noema writes this file here", p.list.Entries[n].Name)
	}
	for i, e := range w.entries {
		if e != p.list.Entries[i] && !slices.Contains(w.like.let, e.Name) {
			recompressed = append(recompressed, e.Name)
		}
	}
	return recompressed, nil
}

// entry compares the n-th entry with the one of the pack.
func (c *comparison) entry(n int, name string, data []byte) error {
	if n == len(c.file.list.Entries) {
		return fmt.Errorf("%s: it is missing", name)
	}
	if have := c.file.list.Entries[n].Name; have != name {
		return fmt.Errorf("%s stands where noema writes %s", have, name)
	}
	said, err := c.file.Read(name)
	if err != nil || bytes.Equal(said, data) {
		return err
	}
	if where := c.differ(said, data); where != "" {
		return fmt.Errorf("%s: %s", name, where)
	}
	c.let = append(c.let, name)
	return nil
}
