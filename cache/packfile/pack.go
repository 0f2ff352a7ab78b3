// Package packfile is the file in which a part of a store travels: to a colleague, to an
// archive, beside a paper. It is a zip that any tool opens; noema opens it only if it is
// whole, and never believes what it says of itself. PACK.md in the folder above describes
// the format.
//
// Equal content gives equal bytes: nothing of the clock, the machine or the order of the
// store enters a pack. So a reader can write the zip again from what it holds and compare:
// a byte that was changed anywhere, also one that zip tools do not look at, is found with
// its place.
//
// A pack comes from anyone. Names, sizes and counts are checked before anything is read,
// entries are read in a stream, and what a pack unpacks to is bounded; see [Limits].
package packfile

import (
	"archive/zip"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// Format is the version of the format.
const Format = 1

// manifestName is the entry that lists the others. It is the last one.
const manifestName = "manifest.json"

// compressed ends the names of entries that hold zstd frames.
const compressed = ".zst"

// Entry is what the manifest says of a file in the pack.
type Entry struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`   // bytes in the pack, so compressed where the name ends in .zst
	SHA256 string `json:"sha256"` // of these bytes, in hex
}

// manifest is the last entry of a pack.
type manifest struct {
	Format  int     `json:"format"`
	Entries []Entry `json:"entries"` // in their order in the pack
}

// header is the only form in which an entry of a pack may stand: stored, on the first day
// that a zip can name, with nothing else said of it.
func header(name string, size uint64, crc uint32) *zip.FileHeader {
	h := &zip.FileHeader{Name: name, Method: zip.Store, CRC32: crc, CompressedSize64: size, UncompressedSize64: size, Flags: 0x800} // names are UTF-8
	//lint:ignore SA1019 zip.Writer.CreateRaw writes this field and not Modified
	h.ModifiedDate = 1<<5 | 1 // 1980-01-01
	return h
}

// CheckName refuses names that are not a relative path of plain names on every system.
func CheckName(name string) error {
	switch {
	case !fs.ValidPath(name) || name == ".":
		return fmt.Errorf("entry %q: its name is not a relative path of plain names", name)
	case len(name) > 512 || strings.ContainsAny(name, "\\:*?\"<>|\x7f") || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' }):
		return fmt.Errorf("entry %q: its name is too long, or holds a character that some systems do not take", name)
	}
	for part := range strings.SplitSeq(name, "/") {
		if strings.HasSuffix(part, ".") || strings.HasSuffix(part, " ") {
			return fmt.Errorf("entry %q: a part of its name ends in a dot or a space", name)
		}
	}
	return nil
}

// batchName is the name of the n-th batch of lines in a folder.
func batchName(folder string, n int) string {
	return path.Join(folder, fmt.Sprintf("%05d.jsonl%s", n, compressed))
}

func encodeManifest(m manifest) ([]byte, error) {
	raw, err := json.MarshalIndent(m, "", " ")
	return append(raw, '\n'), err
}
