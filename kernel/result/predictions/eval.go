package predictions

import (
	"archive/zip"
	"compress/flate"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"noema/kernel/base/files"
	"noema/kernel/result/record"
)

// zstdMethod is the number of zstd in zip archives.
const zstdMethod = 93

// maxEntries bounds the entries of an archive.
const maxEntries = maxPredictions + 100_000

// readEval reads an .eval file of Inspect: a zip archive with header.json and an
// entry samples/ID_epoch_N.json for each sample, packed by deflate or zstd. Of
// entries with one name the last counts, as for Inspect.
func (f *File) readEval(ctx context.Context, name string) error {
	in, err := files.Open(name)
	if err != nil {
		return err
	}
	defer in.Close() // opened for reading: closing cannot lose anything
	info, err := in.Stat()
	if err != nil {
		return err
	}
	archive, err := zip.NewReader(in, info.Size())
	if err != nil {
		return fmt.Errorf("%s: it is not a whole zip archive, as .eval files are: %w", f.Name, err)
	}
	if len(archive.File) > maxEntries {
		return fmt.Errorf("%s: %d entries are more than %d", f.Name, len(archive.File), maxEntries)
	}
	archive.RegisterDecompressor(zip.Deflate, flate.NewReader)
	archive.RegisterDecompressor(zstdMethod, func(r io.Reader) io.ReadCloser {
		z, err := files.Unpack(r, files.Zstd)
		if err != nil {
			return io.NopCloser(fails{err})
		}
		return z
	})
	header, samples := entries(archive)
	if header == nil {
		return fmt.Errorf("%s: it has neither header.json nor _journal/start.json: it is not a log of Inspect", f.Name)
	}
	unpacked := maxUnpacked + maxRatio*info.Size()
	var h inspectHeader
	if err := f.entry(header, &h, &unpacked); err != nil {
		return err
	}
	if err := f.takeHeader(h); err != nil {
		return fmt.Errorf("%s: %w", f.Name, err)
	}
	return f.evalSamples(ctx, samples, &unpacked)
}

// entries are the header, also that of an evaluation that did not end, and the
// samples, by name.
func entries(archive *zip.Reader) (header *zip.File, samples map[string]*zip.File) {
	samples = map[string]*zip.File{}
	for _, e := range archive.File {
		switch {
		case e.Name == "header.json", e.Name == "_journal/start.json" && header == nil:
			header = e
		case path.Dir(e.Name) == "samples" && strings.HasSuffix(e.Name, ".json"):
			samples[e.Name] = e
		}
	}
	return header, samples
}

func (f *File) evalSamples(ctx context.Context, samples map[string]*zip.File, unpacked *int64) error {
	names := slices.SortedFunc(maps.Keys(samples), record.ComparePaths)
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		var s inspectSample
		if err := f.entry(samples[name], &s, unpacked); err != nil {
			return err
		}
		p, err := s.prediction(fmt.Sprintf("%s: %.100q", f.Name, name))
		if err == nil {
			err = f.add(ctx, p)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// entry decodes an entry of an archive. unpacked is what all entries may still have
// together.
func (f *File) entry(e *zip.File, into any, unpacked *int64) error {
	fault := func(err error) error { return fmt.Errorf("%s: entry %.100q: %w", f.Name, e.Name, err) }
	in, err := e.Open()
	if errors.Is(err, zip.ErrAlgorithm) {
		return fault(fmt.Errorf("it is packed by method %d: deflate and zstd are read", e.Method))
	}
	if err != nil {
		return fault(err)
	}
	defer in.Close() // opened for reading
	part := &portion{r: in, left: maxSample}
	raw, err := io.ReadAll(files.Finite(part))
	*unpacked -= maxSample - part.left
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fault(errors.New("it ends in the middle: the file was cut short"))
	case err != nil:
		return fault(err)
	case *unpacked < 0:
		return fault(errors.New("the entries unpack to far more than such a file holds"))
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fault(words(err))
	}
	return nil
}

// fails is a reader that cannot read.
type fails struct{ err error }

// Read implements [io.Reader].
func (f fails) Read([]byte) (int, error) { return 0, f.err }
