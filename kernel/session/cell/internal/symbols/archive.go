package symbols

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"
)

var (
	//go:embed types.zst
	typesZst []byte
	//go:embed docs.zst
	docsZst []byte
)

// The archives are opened once for all importers: unpacked they are a few
// megabytes, which takes some 10 ms.
var (
	typesArchive = sync.OnceValue(func() *archive { return openArchive(typesZst) })
	docsArchive  = sync.OnceValue(func() *archive { return openArchive(docsZst) })
)

// archive is a set of named texts.
type archive struct{ entries map[string]*zip.File }

// openArchive unpacks what the generator packed. It panics on anything else,
// which a broken build alone can bring about.
func openArchive(packed []byte) *archive {
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		panic(fmt.Sprintf("symbols: open archive: %v", err))
	}
	defer dec.Close()
	data, err := dec.DecodeAll(packed, nil)
	if err != nil {
		panic(fmt.Sprintf("symbols: unpack archive: %v", err))
	}
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		panic(fmt.Sprintf("symbols: read archive: %v", err))
	}
	a := &archive{entries: map[string]*zip.File{}}
	for _, f := range r.File {
		a.entries[f.Name] = f
	}
	return a
}

// open gives one text, and false if there is none of that name.
func (a *archive) open(name string) (io.Reader, bool) {
	f, ok := a.entries[name]
	if !ok {
		return nil, false
	}
	r, err := f.OpenRaw() // stored, not compressed
	return r, err == nil
}

// entry is what the sources say of one exported name: the declaration of a func,
// method or type as go doc prints it, and the doc comment.
type entry [2]string

// docsOf reads a package's entries. The keys are "Cut", "Reader.Read" for a
// method or field, and "" for the package itself.
func docsOf(path string) map[string]entry {
	r, ok := docsArchive().open(path)
	if !ok {
		return nil
	}
	var entries map[string]entry
	if err := json.NewDecoder(r).Decode(&entries); err != nil {
		panic(fmt.Sprintf("symbols: read docs of %q: %v", path, err))
	}
	return entries
}
