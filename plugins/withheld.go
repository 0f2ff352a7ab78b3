package plugins

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"noema/kernel/base/files"
)

// Withheld is what no program may be given to read: the data of the tasks that it is measured on.
// A file is such data by its path, by its content, or since it has several of the questions in it,
// however they are written down. The zero value withholds nothing.
type Withheld struct {
	infos   []fs.FileInfo              // of the files of the tasks
	digests map[[sha256.Size]byte]bool // of their content
	pieces  map[uint64]int             // which question each piece of text is of, counted from 1; 0 if of several
	piece   int                        // how many letters and digits make a question known
	asked   int                        // questions that are long enough
	leading uint64                     // base to the power of piece
}

// enough is how many different questions make a file a part of a task: one or two may be in
// a program as examples.
const enough = 3

// maxWithheld bounds the files of one task that are known by their content.
const maxWithheld = 2000

// File withholds a file, or all files in a folder but for what is plainly code.
func (w *Withheld) File(path string) {
	left := maxWithheld
	_ = filepath.WalkDir(path, func(file string, _ fs.DirEntry, err error) error { // what cannot be read cannot be copied either
		if info, statErr := os.Stat(file); err == nil && statErr == nil && info.Mode().IsRegular() && (file == path || !plainCode(file, info)) {
			if left--; left < 0 {
				return filepath.SkipAll
			}
			w.infos = append(w.infos, info)
			if raw, err := files.Read(file, maxChosen); err == nil { // what is larger is never copied
				if w.digests == nil {
					w.digests = map[[sha256.Size]byte]bool{}
				}
				w.digests[sha256.Sum256(raw)] = true
			}
		}
		return nil
	})
}

// Questions withholds what has questions in it: each is given as its texts, such as its query and
// its data.
func (w *Withheld) Questions(all [][]string) {
	w.pieces, w.piece = map[uint64]int{}, 24
	short := 0
	for _, texts := range all {
		if len(texts[0]) < 48 {
			short++
		}
	}
	if 4*short > len(all) {
		w.piece = 16
	}
	for i, texts := range all {
		known := false
		for _, text := range texts {
			known = w.question(i+1, plainly([]byte(text))) || known
		}
		if known {
			w.asked++
		}
	}
	w.leading = 1
	for range w.piece {
		w.leading *= base
	}
}

// question notes the beginning, the middle and the end of a text, and reports whether it is long
// enough.
func (w *Withheld) question(number int, plain []byte) bool {
	if len(plain) < w.piece {
		return false
	}
	for _, at := range []int{0, (len(plain) - w.piece) / 2, len(plain) - w.piece} {
		var key uint64
		for _, c := range plain[at : at+w.piece] {
			key = key*base + uint64(c)
		}
		if of, known := w.pieces[key]; known && of != number {
			w.pieces[key] = 0
		} else {
			w.pieces[key] = number
		}
	}
	return true
}

// ofTask ends the reasons that have to do with a task.
const ofTask = " of the task"

// Why is why a file is withheld; empty if it is not.
func (w *Withheld) Why(path string, info fs.FileInfo) string {
	if w == nil || len(w.infos) == 0 && w.asked == 0 {
		return ""
	}
	if why := w.whole(path, info); why != "" {
		return why
	}
	raw, err := files.Read(path, maxChosen)
	if err != nil {
		return "" // it is too large to be copied, or cannot be
	}
	if w.within(raw, 2) {
		return "it has in it questions" + ofTask
	}
	return ""
}

// whole is why a file is withheld as one of the task's, or as a copy of one.
func (w *Withheld) whole(path string, info fs.FileInfo) string {
	if w == nil {
		return ""
	}
	for _, own := range w.infos {
		if os.SameFile(own, info) {
			return "it is a file" + ofTask
		}
		if own.Size() != info.Size() {
			continue
		}
		if raw, err := files.Read(path, maxChosen); err == nil && w.digests[sha256.Sum256(raw)] {
			return "it is a copy of a file" + ofTask
		}
	}
	return ""
}

// within reports whether data have enough of the questions in them, also packed, to a depth.
func (w *Withheld) within(raw []byte, depth int) bool {
	if w.digests[sha256.Sum256(raw)] {
		return true
	}
	plain, found := plainly(raw), map[int]bool{}
	var hash uint64
	for i, c := range plain {
		if hash = hash*base + uint64(c); i >= w.piece {
			hash -= uint64(plain[i-w.piece]) * w.leading
		}
		if of := w.pieces[hash]; of > 0 && i >= w.piece-1 {
			if found[of] = true; len(found) >= min(enough, w.asked) {
				return true
			}
		}
	}
	if depth == 0 {
		return false
	}
	for _, form := range []string{files.Gzip, files.Bzip2, files.Zstd} {
		if !bytes.HasPrefix(raw, []byte(form)) {
			continue
		}
		if in, err := files.Unpack(bytes.NewReader(raw), form); err == nil {
			inner, _ := io.ReadAll(io.LimitReader(in, maxChosen)) // what is there of it
			_ = in.Close()
			return w.within(inner, depth-1)
		}
	}
	return w.inZip(raw, depth)
}

// inZip is within for the files of an archive.
func (w *Withheld) inZip(raw []byte, depth int) bool {
	archive, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		return false
	}
	left := int64(maxChosen)
	for _, f := range archive.File {
		in, err := f.Open()
		if err != nil {
			continue
		}
		inner, _ := io.ReadAll(io.LimitReader(in, left))
		_ = in.Close()
		if left -= int64(len(inner)); w.within(inner, depth-1) {
			return true
		}
	}
	return false
}

// base makes the hash of a piece of text: its characters are the digits of a number in this base.
const base = 1099511628211

// plainly are the letters and digits of a text, in lower case: what stands between them differs
// with the format of a file.
func plainly(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for _, c := range text {
		switch {
		case 'A' <= c && c <= 'Z':
			out = append(out, c+'a'-'A')
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9':
			out = append(out, c)
		}
	}
	return out
}
