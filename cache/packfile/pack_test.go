package packfile

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// sample writes a small pack and returns its bytes and digest.
func sample(t testing.TB, lines int) ([]byte, string) {
	t.Helper()
	var b bytes.Buffer
	w, err := NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Add("README.md", []byte("a pack\n")); err != nil {
		t.Fatal(err)
	}
	l := w.Lines("replies")
	for i := range lines {
		if err := l.Add(fmt.Appendf(nil, `{"n":%d}`, i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	digest, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), digest
}

// openBytes opens a pack of these bytes and checks it whole.
func openBytes(t testing.TB, raw []byte) (*File, error) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "study.noema")
	if err := os.WriteFile(name, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := Open(name)
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { p.Close() })
	return p, p.Check(t.Context())
}

func TestPackRoundTrip(t *testing.T) {
	const lines = 500_000 // more than a batch
	raw, digest := sample(t, lines)
	again, _ := sample(t, lines)
	if !bytes.Equal(raw, again) {
		t.Error("equal content gave other bytes")
	}
	p, err := openBytes(t, raw)
	if err != nil {
		t.Fatal(err)
	}
	if p.Digest() != digest {
		t.Errorf("digest %s, not %s", p.Digest(), digest)
	}
	if text, err := p.Read("README.md"); string(text) != "a pack\n" || err != nil {
		t.Errorf("read %q: %v", text, err)
	}
	n := 0
	for line, err := range p.Lines(t.Context(), "replies") {
		if err != nil || string(line) != fmt.Sprintf("{\"n\":%d}\n", n) {
			t.Fatalf("line %d is %q: %v", n, line, err)
		}
		n++
	}
	if n != lines {
		t.Errorf("%d lines", n)
	}
	if batches := len(p.Entries()) - 1; batches < 2 {
		t.Errorf("%d batches", batches)
	}
}

func TestEveryFlippedByteIsFound(t *testing.T) {
	raw, _ := sample(t, 5)
	for i := range raw {
		bad := bytes.Clone(raw)
		bad[i] ^= 1 << (i % 8)
		if _, err := openBytes(t, bad); err == nil {
			t.Errorf("byte %d of %d was changed and not found", i, len(raw))
		}
	}
	for _, cut := range []int{0, 1, len(raw) / 2, len(raw) - 1} {
		if _, err := openBytes(t, raw[:cut]); err == nil {
			t.Errorf("%d of %d bytes were accepted", cut, len(raw))
		}
	}
	for _, more := range [][]byte{append(bytes.Clone(raw), 0), append([]byte{0}, raw...)} {
		if _, err := openBytes(t, more); err == nil {
			t.Error("a byte more was accepted")
		}
	}
}

func TestNamesOfEntries(t *testing.T) {
	w, err := NewWriter(&bytes.Buffer{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", ".", "..", "../x", "/etc/passwd", "a/../b", "a//b", `a\b`, "C:x", "a\x00b", "a\nb", "a.", "a /b", strings.Repeat("a", 600), "\xff"} {
		if err := w.Add(name, nil); err == nil {
			t.Errorf("%q was accepted", name)
		}
	}
	if err := w.Add("code/Über uns.py", nil); err != nil {
		t.Error(err)
	}
	if err := w.Add("CODE/über uns.PY", nil); err == nil {
		t.Error("two names that some systems take for one were accepted")
	}
}

// zipped is a zip with the given entries, which no Writer made.
func zipped(t *testing.T, method uint16, entries ...[2]string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range entries {
		f, err := w.CreateHeader(&zip.FileHeader{Name: e[0], Method: method})
		if err == nil {
			_, err = f.Write([]byte(e[1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestHostilePacks(t *testing.T) {
	list := func(text string) [2]string { return [2]string{manifestName, text} }
	for _, c := range []struct {
		what string
		raw  []byte
		says string
	}{
		{"not a zip", []byte("%PDF-1.7 and so on"), "not a valid zip"},
		{"no entry", zipped(t, zip.Store), "0 entries"},
		{"traversal", zipped(t, zip.Store, [2]string{"../x", ""}, list(`{}`)), "not a relative path"},
		{"absolute", zipped(t, zip.Store, [2]string{"/x", ""}, list(`{}`)), "not a relative path"},
		{"folder", zipped(t, zip.Store, [2]string{"x/", ""}, list(`{}`)), "not a relative path"},
		{"twice", zipped(t, zip.Store, [2]string{"x", ""}, [2]string{"x", ""}, list(`{}`)), "twice"},
		{"no manifest", zipped(t, zip.Store, [2]string{"x", ""}), "its last entry"},
		{"compressed twice", zipped(t, zip.Deflate, [2]string{"x", strings.Repeat("x", 999)}, list(`{}`)), "not stored"},
		{"no JSON", zipped(t, zip.Store, list(`{`)), "read manifest.json"},
		{"later format", zipped(t, zip.Store, list(`{"format":99}`)), "newer noema"},
		{"entry not listed", zipped(t, zip.Store, [2]string{"x", ""}, list(`{"format":1}`)), "lists 0 entries"},
		{"other size", zipped(t, zip.Store, [2]string{"x", "1"}, list(`{"format":1,"entries":[{"name":"x","size":2}]}`)), "with 1 bytes"},
		{"other form of zip", zipped(t, zip.Store, list(`{"format":1}`)), "has to be"},
	} {
		if _, err := openBytes(t, c.raw); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", c.what, err)
		}
	}
}

func TestBomb(t *testing.T) {
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	zeros := enc.EncodeAll(make([]byte, 64<<20), nil)
	bomb := bytes.Repeat(zeros, 40) // frames in a row are read as one
	var b bytes.Buffer
	w, err := NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	w.entries = []Entry{{Name: "replies/00000.jsonl.zst", Size: int64(len(bomb))}}
	if err := w.write("replies/00000.jsonl.zst", bomb); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "bomb.noema")
	if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	p.budget = 128 << 20
	for _, err = range p.Lines(t.Context(), "replies") {
		if err != nil {
			break
		}
	}
	if err == nil || !strings.Contains(err.Error(), "times its size") && !strings.Contains(err.Error(), "too long") {
		t.Errorf("a bomb was read: %v", err)
	}
}

// TestHostileHeaders opens zips whose entries are more than plain files.
func TestHostileHeaders(t *testing.T) {
	for what, change := range map[string]func(*zip.FileHeader){
		"a link":             func(h *zip.FileHeader) { h.SetMode(fs.ModeSymlink | 0o777) },
		"a FIFO":             func(h *zip.FileHeader) { h.SetMode(fs.ModeNamedPipe | 0o600) },
		"a comment":          func(h *zip.FileHeader) { h.Comment = "run me" },
		"an extra field":     func(h *zip.FileHeader) { h.Extra = []byte{0x75, 0x70, 2, 0, 1, 0} },
		"encrypted":          func(h *zip.FileHeader) { h.Flags |= 1 },
		"sizes that follow":  func(h *zip.FileHeader) { h.Flags |= 8 },
		"a larger size":      func(h *zip.FileHeader) { h.UncompressedSize64 = 1 << 40 },
		"a size of zip64":    func(h *zip.FileHeader) { h.UncompressedSize64, h.CompressedSize64 = 1<<63, 1<<63 },
		"a NUL in its name":  func(h *zip.FileHeader) { h.Name = "x\x00.sh" },
		"a name of a device": func(h *zip.FileHeader) { h.Name = "x:y" },
		"another checksum":   func(h *zip.FileHeader) { h.CRC32 = 7 },
		//lint:ignore SA1019 it is what zip.Writer.CreateRaw writes
		"another day": func(h *zip.FileHeader) { h.ModifiedDate = 1<<9 | 1<<5 | 1 },
	} {
		var b bytes.Buffer
		w := zip.NewWriter(&b)
		for _, e := range [][2]string{{"x", "1"}, {manifestName, `{"format":1,"entries":[{"name":"x","size":1,"sha256":"6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b"}]}`}} {
			h := header(e[0], uint64(len(e[1])), crc32.ChecksumIEEE([]byte(e[1])))
			if e[0] == "x" {
				change(h)
			}
			f, err := w.CreateRaw(h)
			if err == nil {
				_, err = f.Write([]byte(e[1]))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := openBytes(t, b.Bytes()); !errors.Is(err, ErrNoPack) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestDirectoryThatLies changes the zip's list of entries.
func TestDirectoryThatLies(t *testing.T) {
	raw, _ := sample(t, 5)
	end := len(raw) - 22 // the record at its end
	list := int(binary.LittleEndian.Uint32(raw[end+16:]))
	for what, change := range map[string]func(b []byte){
		"more entries":          func(b []byte) { binary.LittleEndian.PutUint16(b[end+10:], 0xffff) },
		"less entries":          func(b []byte) { binary.LittleEndian.PutUint16(b[end+10:], 1) },
		"zip64 that is none":    func(b []byte) { binary.LittleEndian.PutUint32(b[end+16:], 0xffffffff) },
		"a list elsewhere":      func(b []byte) { binary.LittleEndian.PutUint32(b[end+16:], 7) },
		"entries that overlap":  func(b []byte) { binary.LittleEndian.PutUint32(b[list+42:], uint32(len("x"))) },
		"an entry past the end": func(b []byte) { binary.LittleEndian.PutUint32(b[list+42:], 0xfffffff0) },
	} {
		bad := bytes.Clone(raw)
		change(bad)
		if _, err := openBytes(t, bad); !errors.Is(err, ErrNoPack) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
