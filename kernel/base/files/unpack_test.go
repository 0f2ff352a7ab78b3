package files

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// TestUnpack: whole data come out, and cut ones are an error that is not taken for an end.
func TestUnpack(t *testing.T) {
	text := strings.Repeat("a line of a log\n", 1000)
	for form, pack := range map[string]func(io.Writer) io.WriteCloser{
		Gzip: func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
		Zstd: func(w io.Writer) io.WriteCloser { z, _ := zstd.NewWriter(w); return z },
	} {
		var packed bytes.Buffer
		w := pack(&packed)
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(packed.String(), form) {
			t.Errorf("packed data begin with %q", packed.Bytes()[:4])
		}
		for cut, want := range map[int]string{0: "", 5: "cut off"} {
			in, err := Unpack(bytes.NewReader(packed.Bytes()[:packed.Len()-cut]), form)
			if err != nil {
				t.Fatal(err)
			}
			got := make([]byte, len(text)+1)
			_, err = io.ReadFull(in, got)
			if cut == 0 && (err != io.ErrUnexpectedEOF || string(got[:len(text)]) != text) || cut > 0 && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("%q without its last %d bytes: %v", form, cut, err)
			}
			in.Close()
		}
	}
	if _, err := Unpack(strings.NewReader("7z"), "7z"); err == nil {
		t.Error("another form is unpacked")
	}
}
