package packfile

import (
	"archive/zip"
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"noema/kernel/base/files"
)

// Limits on what a pack may be and unpack to. A pack that says more of itself is refused
// before it is read.
const (
	maxEntries = 50_000
	maxFile    = 256 << 20 // of an entry that is read at once, and of a line
	maxRatio   = 200       // unpacked bytes for each byte of the file …
	minBudget  = 1 << 30   // … where that is more than this
	readings   = 2         // how often all is unpacked: to compute with it, and by Again
)

// ErrNoPack says that a file is not a pack, or one that was cut or changed.
var ErrNoPack = errors.New("not a whole pack")

// File is an open pack. It is safe for one goroutine.
type File struct {
	file    *os.File
	size    int64
	zip     *zip.Reader
	list    manifest
	byName  map[string]*zip.File
	digest  string
	budget  int64 // bytes that may still be unpacked
	decoder *zstd.Decoder
}

// Open opens a pack and checks the names and sizes of its entries. [File.Check] checks
// what is in them.
func Open(name string) (*File, error) {
	f, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	p, err := open(f)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("open pack %q: %w", name, err)
	}
	return p, nil
}

func open(f *os.File) (*File, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	archive, err := zip.NewReader(f, info.Size())
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoPack, err)
	}
	p := &File{file: f, size: info.Size(), zip: archive, byName: map[string]*zip.File{}, budget: readings * max(minBudget, maxRatio*info.Size())}
	if len(archive.File) == 0 || len(archive.File) > maxEntries {
		return nil, fmt.Errorf("%w: it has %d entries, and 1 to %d are allowed", ErrNoPack, len(archive.File), maxEntries)
	}
	for _, e := range archive.File {
		if err := CheckName(e.Name); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrNoPack, err)
		}
		if _, twice := p.byName[e.Name]; twice {
			return nil, fmt.Errorf("%w: entry %q is there twice", ErrNoPack, e.Name)
		}
		if e.Method != zip.Store || e.CompressedSize64 != e.UncompressedSize64 || e.UncompressedSize64 > uint64(p.size) {
			return nil, fmt.Errorf("%w: entry %q is not stored as it is", ErrNoPack, e.Name)
		}
		p.byName[e.Name] = e
	}
	return p, p.readManifest()
}

// readManifest reads the last entry, which must list all others.
func (p *File) readManifest() error {
	last := len(p.zip.File) - 1
	if p.zip.File[last].Name != manifestName {
		return fmt.Errorf("%w: its last entry is %q, not %s", ErrNoPack, p.zip.File[last].Name, manifestName)
	}
	raw, err := p.Read(manifestName)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, &p.list); err != nil {
		return fmt.Errorf("%w: read %s: %w", ErrNoPack, manifestName, err)
	}
	if p.list.Format > Format {
		return fmt.Errorf("its format is %d, and this noema reads up to %d: use a newer noema", p.list.Format, Format)
	}
	if len(p.list.Entries) != last {
		return fmt.Errorf("%w: %s lists %d entries, and there are %d", ErrNoPack, manifestName, len(p.list.Entries), last)
	}
	for i, e := range p.list.Entries {
		if z := p.zip.File[i]; e.Name != z.Name || uint64(e.Size) != z.UncompressedSize64 {
			return fmt.Errorf("%w: entry %d is %q with %d bytes, and %s says %q with %d", ErrNoPack, i+1, z.Name, z.UncompressedSize64, manifestName, e.Name, e.Size)
		}
	}
	sum := sha256.Sum256(raw)
	p.digest = hex.EncodeToString(sum[:])
	return nil
}

// Close closes the file.
func (p *File) Close() error {
	if p.decoder != nil {
		p.decoder.Close()
	}
	return p.file.Close()
}

// Digest identifies the pack: the SHA-256 of its manifest, in hex.
func (p *File) Digest() string { return p.digest }

// Size is the length of the file in bytes.
func (p *File) Size() int64 { return p.size }

// Entries lists what is in the pack, without the manifest.
func (p *File) Entries() []Entry { return slices.Clone(p.list.Entries) }

// Read returns a file of the pack, unpacked where its name ends in .zst.
func (p *File) Read(name string) ([]byte, error) {
	r, err := p.reader(name)
	if err != nil {
		return nil, err
	}
	raw, err := files.ReadAll(r, name, maxFile)
	if err != nil {
		return nil, fmt.Errorf("read entry %q: %w", name, err)
	}
	return raw, nil
}

// Has reports whether the pack has a file.
func (p *File) Has(name string) bool { return p.byName[name] != nil }

// reader reads an entry in a stream, which is good until the next one is asked for.
func (p *File) reader(name string) (io.Reader, error) {
	e := p.byName[name]
	if e == nil {
		return nil, fmt.Errorf("%w: it has no entry %q", ErrNoPack, name)
	}
	opened, err := e.Open()
	if err != nil {
		return nil, fmt.Errorf("%w: entry %q: %w", ErrNoPack, name, err)
	}
	var r io.Reader = opened
	if strings.HasSuffix(name, compressed) {
		if p.decoder == nil {
			p.decoder, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(batchBytes*2), zstd.WithDecoderLowmem(true))
			if err != nil {
				return nil, fmt.Errorf("prepare decompression: %w", err)
			}
		}
		if err := p.decoder.Reset(opened); err != nil {
			return nil, fmt.Errorf("entry %q: %w", name, err)
		}
		r = p.decoder
	}
	return &metered{r, p}, nil
}

// metered counts what is unpacked.
type metered struct {
	r io.Reader
	p *File
}

// Read implements io.Reader.
func (m *metered) Read(b []byte) (int, error) {
	n, err := m.r.Read(b)
	if m.p.budget -= int64(n); m.p.budget < 0 {
		return n, fmt.Errorf("%w: it unpacks to more than %d times its size", ErrNoPack, maxRatio)
	}
	return n, err
}

// Lines yields the lines of the batches in a folder, each with its line's end. A line is
// good until the next one.
func (p *File) Lines(ctx context.Context, folder string) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for n := 0; p.Has(batchName(folder, n)); n++ {
			name := batchName(folder, n)
			r, err := p.reader(name)
			if err != nil {
				yield(nil, err)
				return
			}
			if !eachLine(ctx, r, name, yield) {
				return
			}
		}
	}
}

// eachLine reports whether all lines were yielded and well.
func eachLine(ctx context.Context, r io.Reader, name string, yield func([]byte, error) bool) bool {
	from, line := bufio.NewReaderSize(r, 64<<10), []byte(nil)
	for {
		err := ctx.Err()
		if err == nil {
			line, err = readLine(from, line[:0])
		}
		switch {
		case errors.Is(err, io.EOF):
			return true
		case err != nil:
			yield(nil, fmt.Errorf("read entry %q: %w", name, err))
			return false
		case !yield(line, nil):
			return false
		}
	}
}

// readLine appends the next line, with its end, to line.
func readLine(r *bufio.Reader, line []byte) ([]byte, error) {
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxFile:
			return nil, fmt.Errorf("%w: a line is too long", ErrNoPack)
		case errors.Is(err, io.EOF) && len(line) > 0:
			return nil, fmt.Errorf("%w: its last line has no end", ErrNoPack)
		case !errors.Is(err, bufio.ErrBufferFull):
			return line, err
		}
	}
}
