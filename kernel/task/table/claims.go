package table

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
)

// A Parquet file says how long its parts are, and the library makes room for what is said. So
// each length is checked against the file before: those of its footer, of the columns in it,
// and of every page.
const (
	maxFooter  = 16 << 20
	maxStructs = 500_000 // of a footer: what is made of each takes a few hundred bytes
	maxPage    = 1 << 30 // bytes of a page once it is unpacked
	maxPacked  = 1000    // how many times larger than its packed bytes a page may be, above packedFree
	packedFree = 64 << 20
	maxValues  = 50_000_000 // of a page
	maxHeader  = 64 << 10   // of a page
)

// errClaim says that a length is not that of anything in the file.
var errClaim = errors.New("a length in it is larger than the file has room for")

// checkFooter checks the lengths of a file's footer.
func checkFooter(f io.ReaderAt, size int64) error {
	var end [8]byte
	if size < 12 {
		return fmt.Errorf("%w: it ends too early", errDamaged)
	}
	if _, err := f.ReadAt(end[:], size-8); err != nil {
		return err
	}
	length := int64(binary.LittleEndian.Uint32(end[:]))
	if length > size-12 || length > maxFooter {
		return fmt.Errorf("%w: its footer has %d bytes by what it says, and the file has %d: %w", errDamaged, length, size, errClaim)
	}
	raw := make([]byte, length)
	if _, err := f.ReadAt(raw, size-8-length); err != nil {
		return err
	}
	w := thrift{raw: raw}
	w.structure(nil)
	return w.fault("its footer")
}

// checkPages checks the lengths of the columns and of their pages.
func checkPages(f io.ReaderAt, size int64, file *parquet.File) error {
	for _, group := range file.Metadata().RowGroups {
		for _, c := range group.Columns {
			at := c.MetaData.DataPageOffset
			if d := c.MetaData.DictionaryPageOffset; d > 0 && d < at {
				at = d
			}
			end := at + c.MetaData.TotalCompressedSize
			if at < 4 || end < at || end > size {
				return fmt.Errorf("%w: a column lies outside of it: %w", errDamaged, errClaim)
			}
			for at < end {
				next, err := checkPage(f, at, end)
				if err != nil {
					return err
				}
				at = next
			}
		}
	}
	return nil
}

// checkPage checks the page at an offset, and returns where the next one is.
func checkPage(f io.ReaderAt, at, end int64) (next int64, err error) {
	raw := make([]byte, min(maxHeader, end-at))
	if _, err := f.ReadAt(raw, at); err != nil {
		return 0, err
	}
	w := thrift{raw: raw}
	var unpacked, packed, values int64
	w.structure(func(path [2]int, value int64) {
		switch path {
		case [2]int{2, 0}:
			unpacked = value
		case [2]int{3, 0}:
			packed = value
		case [2]int{5, 1}, [2]int{7, 1}, [2]int{8, 1}:
			values = value
		}
	})
	if err := w.fault("a page of it"); err != nil {
		return 0, err
	}
	next = at + int64(w.at) + packed
	if packed < 0 || next > end || unpacked < 0 || unpacked > maxPage || unpacked > max(packedFree, maxPacked*packed) || values < 0 || values > maxValues {
		return 0, fmt.Errorf("%w: a page has %d bytes, %d unpacked, and %d values by what it says: %w", errDamaged, packed, unpacked, values, errClaim)
	}
	return next, nil
}

// thrift walks a structure in Thrift's compact form, and checks each length in it.
type thrift struct {
	raw     []byte
	at      int
	structs int
	wrong   bool
}

func (w *thrift) fault(what string) error {
	if w.wrong {
		return fmt.Errorf("%w: %s cannot be read, or %w", errDamaged, what, errClaim)
	}
	return nil
}

// number reads a varint.
func (w *thrift) number() uint64 {
	n, width := binary.Uvarint(w.raw[min(w.at, len(w.raw)):])
	if width <= 0 {
		w.wrong = true
		return 0
	}
	w.at += width
	return n
}

// skip passes over n bytes.
func (w *thrift) skip(n uint64) {
	if n > uint64(len(w.raw)-w.at) {
		w.wrong = true
		return
	}
	w.at += int(n)
}

// structure walks a structure and hands the whole numbers of it, and of the structures in it, to
// tell, with the numbers of their fields.
func (w *thrift) structure(tell func(path [2]int, value int64)) { w.fields(0, 0, tell) }

func (w *thrift) fields(outer, depth int, tell func(path [2]int, value int64)) {
	if w.structs++; w.structs > maxStructs || depth > 32 {
		w.wrong = true
	}
	for id := 0; !w.wrong; {
		if w.at >= len(w.raw) {
			w.wrong = true
			return
		}
		head := w.raw[w.at]
		w.at++
		if head == 0 {
			return
		}
		if delta := int(head >> 4); delta > 0 {
			id += delta
		} else {
			n := w.number()
			id = int(n>>1) ^ -int(n&1)
		}
		path := [2]int{id, 0}
		if depth > 0 {
			path = [2]int{outer, id}
		}
		w.value(head&15, path, depth, tell)
	}
}

// value passes over a value of a kind; booleans of fields are in the kind.
func (w *thrift) value(kind byte, path [2]int, depth int, tell func([2]int, int64)) {
	switch kind {
	case 1, 2:
	case 3:
		w.skip(1)
	case 4, 5, 6:
		n := w.number()
		if tell != nil && depth < 2 {
			tell(path, int64(n>>1)^-int64(n&1))
		}
	case 7:
		w.skip(8)
	case 8:
		w.skip(w.number())
	case 9, 10:
		w.list(depth)
	case 12:
		w.fields(path[0], depth+1, tell)
	default: // a map, of which Parquet has none
		w.wrong = true
	}
}

// list passes over a list, whose elements have at least a byte each.
func (w *thrift) list(depth int) {
	if w.at >= len(w.raw) {
		w.wrong = true
		return
	}
	head := w.raw[w.at]
	w.at++
	n, kind := uint64(head>>4), head&15
	if n == 15 {
		n = w.number()
	}
	if n > uint64(len(w.raw)-w.at) {
		w.wrong = true
	}
	for ; n > 0 && !w.wrong; n-- {
		if kind == 1 || kind == 2 {
			w.skip(1)
			continue
		}
		w.value(kind, [2]int{-1, -1}, depth, nil)
	}
}
