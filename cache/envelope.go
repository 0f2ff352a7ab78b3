package cache

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/klauspost/compress/zstd"
)

// An envelope is what the store holds under a key:
//
//	format (1 byte), space (1), flags (1), 0 (1), CRC-32C (4, little endian), payload
//
// The checksum covers the first four bytes, the key and the payload as
// stored, so a record that turns up under another's key is found out, too.
// Its place and meaning are fixed for all formats.
const (
	envelopeFormat = 1
	envelopeSize   = 8
	flagZstd       = 1

	// compressFrom is the payload size from which compression pays.
	compressFrom = 512
	// maxPayload bounds what decompression may yield.
	maxPayload = 256 << 20
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// codec compresses. Both halves are safe for concurrent use, work on whole
// frames only, and hold no goroutine, so there is nothing to close.
type codec struct {
	enc *zstd.Encoder
	dec *zstd.Decoder
}

func newCodec() (*codec, error) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(1<<20))
	if err != nil {
		return nil, fmt.Errorf("prepare compression: %w", err)
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(maxPayload), zstd.WithDecoderLowmem(true))
	if err != nil {
		return nil, fmt.Errorf("prepare compression: %w", err)
	}
	return &codec{enc, dec}, nil
}

// seal puts payload into an envelope for key.
func (c *codec) seal(key, payload []byte) ([]byte, error) {
	if len(payload) > maxPayload {
		return nil, fmt.Errorf("write record of %d bytes: the limit is %d", len(payload), maxPayload)
	}
	out := make([]byte, envelopeSize, envelopeSize+len(payload))
	out[0], out[1] = envelopeFormat, key[0]
	if len(payload) > compressFrom {
		out[2] = flagZstd
		out = c.enc.EncodeAll(payload, out)
	} else {
		out = append(out, payload...)
	}
	binary.LittleEndian.PutUint32(out[4:], checksum(key, out))
	return out, nil
}

// unseal returns the payload of the envelope found under key. The error is
// ErrNewerFormat for an intact envelope of a later format; any other error
// means damage.
func (c *codec) unseal(key, env []byte) ([]byte, error) {
	if len(env) < envelopeSize {
		return nil, fmt.Errorf("truncated to %d bytes", len(env))
	}
	if have, want := checksum(key, env), binary.LittleEndian.Uint32(env[4:]); have != want {
		return nil, fmt.Errorf("checksum is %08x, not %08x", have, want)
	}
	if env[0] != envelopeFormat {
		return nil, fmt.Errorf("record has format %d and this noema knows %d: update noema: %w", env[0], envelopeFormat, ErrNewerFormat)
	}
	if env[1] != key[0] {
		return nil, fmt.Errorf("record belongs to %q", env[1])
	}
	if env[2]&flagZstd == 0 {
		return env[envelopeSize:], nil
	}
	payload, err := c.dec.DecodeAll(env[envelopeSize:], nil)
	if err != nil {
		return nil, fmt.Errorf("decompress: %w", err)
	}
	return payload, nil
}

// checksum is that of an envelope, without the bytes that hold it.
func checksum(key, env []byte) uint32 {
	sum := crc32.Update(0, castagnoli, env[:4])
	sum = crc32.Update(sum, castagnoli, key)
	return crc32.Update(sum, castagnoli, env[envelopeSize:])
}
