package packfile

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
)

// Check reads the whole file once. It finds any byte that is not as a Writer would have
// written it: it writes the zip again from what the entries hold, compares it with the
// file as it goes, and each entry with its digest in the manifest.
func (p *File) Check(ctx context.Context) error {
	same := &comparer{ctx: ctx, file: io.NewSectionReader(p.file, 0, p.size)}
	again := zip.NewWriter(same)
	for i, e := range p.zip.File {
		entry, err := again.CreateRaw(header(e.Name, e.UncompressedSize64, e.CRC32))
		if err == nil {
			err = p.checkEntry(i, entry)
		}
		if err == nil {
			err = again.Flush()
		}
		if err != nil {
			return place(e.Name, err)
		}
	}
	if err := again.Close(); err != nil {
		return place("the zip's directory", err)
	}
	if same.at != p.size {
		return fmt.Errorf("%w: %d bytes follow its end", ErrNoPack, p.size-same.at)
	}
	said, err := p.Read(manifestName)
	if err != nil {
		return err
	}
	written, err := encodeManifest(manifest{Format: Format, Entries: p.list.Entries})
	if err == nil && !bytes.Equal(said, written) {
		err = place(manifestName, fmt.Errorf("%w: it says more than noema writes, or in another way", ErrNoPack))
	}
	return err
}

func place(name string, err error) error {
	return fmt.Errorf("check %s: %w", name, err)
}

// checkEntry copies the i-th entry to again and compares its digest.
func (p *File) checkEntry(i int, again io.Writer) error {
	r, err := p.zip.File[i].Open() // its end checks the CRC
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNoPack, err)
	}
	sum := sha256.New()
	if _, err := io.Copy(io.MultiWriter(sum, again), r); err != nil {
		return fmt.Errorf("%w: %w", ErrNoPack, err)
	}
	if i == len(p.list.Entries) { // the manifest, which no digest but the pack's covers
		return nil
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != p.list.Entries[i].SHA256 {
		return fmt.Errorf("%w: its digest is %.12s…, and %s says %.12s…", ErrNoPack, got, manifestName, p.list.Entries[i].SHA256)
	}
	return nil
}

// comparer accepts only what a file holds, in its order.
type comparer struct {
	ctx  context.Context
	file io.Reader
	at   int64
	have []byte
}

// Write implements io.Writer.
func (c *comparer) Write(want []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	if cap(c.have) < len(want) {
		c.have = make([]byte, len(want))
	}
	have := c.have[:len(want)]
	n, err := io.ReadFull(c.file, have)
	for i := range n {
		if have[i] != want[i] {
			return i, fmt.Errorf("%w: byte %d is %02x and has to be %02x", ErrNoPack, c.at+int64(i), have[i], want[i])
		}
	}
	c.at += int64(n)
	if err != nil {
		return n, fmt.Errorf("%w: it ends at byte %d", ErrNoPack, c.at)
	}
	return n, nil
}
