package files

import (
	"compress/bzip2"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// The forms of packed data that [Unpack] reads, and how their data begin.
const (
	Gzip  = "\x1f\x8b"
	Bzip2 = "BZh"
	Zstd  = "\x28\xb5\x2f\xfd"
)

// maxWindow bounds the memory that unpacking takes.
const maxWindow = 256 << 20

// Unpack returns what packed data hold. Data that are cut off are an error at their
// end, which no reader takes for one like any other. The size is for the caller to
// limit.
func Unpack(packed io.Reader, form string) (in io.ReadCloser, err error) {
	switch form {
	case Gzip:
		in, err = gzip.NewReader(packed)
	case Bzip2:
		in = io.NopCloser(bzip2.NewReader(packed))
	case Zstd:
		var d *zstd.Decoder
		if d, err = zstd.NewReader(packed, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxWindow), zstd.WithDecoderLowmem(true)); err == nil {
			in = d.IOReadCloser()
		}
	default:
		err = fmt.Errorf("unpack: %q is not how gzip, bzip2 or zstd begin", form)
	}
	if err != nil {
		return nil, err
	}
	return whole{in}, nil
}

// whole is unpacked data that must not end too early. What decompressors call an
// unexpected end, readers that fill a buffer take for an end like any other.
type whole struct{ io.ReadCloser }

// Read implements [io.Reader].
func (w whole) Read(p []byte) (int, error) {
	n, err := w.ReadCloser.Read(p)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("the packed data are cut off: copy the file again, or unpack what is there")
	}
	return n, err
}
