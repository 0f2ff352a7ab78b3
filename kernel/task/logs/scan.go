package logs

import (
	"bytes"
	"context"
	"fmt"
	"io"
)

const (
	chunkSize = 1 << 20
	// maxLine bounds a record: a longer line is skipped and counted, because
	// something that size is not a record and must not take the memory.
	maxLine = 1 << 20
	// skippedExamples bounds how many skipped lines are told with their numbers.
	skippedExamples = 20
)

// Skipped is a line that is not a record.
type Skipped struct {
	Line   int    `json:"line"` // from 1
	Reason string `json:"reason"`
}

// Skips counts the lines that a scan passed over.
type Skips struct {
	Rows     int       `json:"rows"`
	Examples []Skipped `json:"examples"` // the first of them
}

func (s *Skips) add(line int, format string, args ...any) {
	s.Rows++
	if len(s.Examples) < skippedExamples {
		s.Examples = append(s.Examples, Skipped{line, fmt.Sprintf(format, args...)})
	}
}

// lines calls each for every line of r that holds needle, with its number and
// without its end; from is the number of the first line, and an empty needle is in
// every line. The line is valid until the
// next one. It reads in chunks and looks for the needle in the whole chunk at
// once, as grep does: lines without it cost no more than the look.
func lines(ctx context.Context, r io.Reader, from int, needle []byte, skips *Skips, each func(number int, line []byte) error) error {
	s := lineScanner{needle: needle, skips: skips, each: each, next: from}
	buf := make([]byte, chunkSize+maxLine)
	held := 0 // bytes of an unfinished line at the start of buf
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := fill(r, buf[held:held+chunkSize])
		data := buf[:held+n]
		last := err == io.EOF
		if err != nil && !last {
			return fmt.Errorf("read log: line %d: %w", s.next, err)
		}
		end := len(data)
		if !last {
			end = bytes.LastIndexByte(data, '\n') + 1
		}
		if err := s.chunk(data[:end]); err != nil {
			return err
		}
		if last {
			if s.long {
				skips.add(s.next, "longer than %d bytes", maxLine)
			}
			return nil
		}
		held = copy(buf, data[end:])
		if held >= maxLine {
			s.long = true
			held = 0
		}
	}
}

// lineScanner walks over chunks of whole lines.
type lineScanner struct {
	needle []byte
	skips  *Skips
	each   func(int, []byte) error
	next   int  // number of the line that the next chunk begins with
	long   bool // the chunk begins inside a line that is too long
}

func (s *lineScanner) chunk(data []byte) error {
	if s.long && len(data) > 0 {
		end := bytes.IndexByte(data, '\n')
		if end < 0 {
			return nil
		}
		s.skips.add(s.next, "longer than %d bytes", maxLine)
		data, s.next, s.long = data[end+1:], s.next+1, false
	}
	for len(data) > 0 {
		at := 0
		if len(s.needle) > 0 {
			if at = bytes.Index(data, s.needle); at < 0 {
				break
			}
		}
		start := bytes.LastIndexByte(data[:at], '\n') + 1
		end := bytes.IndexByte(data[at:], '\n')
		after := len(data)
		if end >= 0 {
			after = at + end + 1
		}
		s.next += bytes.Count(data[:start], []byte{'\n'})
		line := bytes.TrimRight(data[start:after], "\r\n")
		number := s.next
		if end >= 0 {
			s.next++
		}
		data = data[after:]
		if err := s.line(number, line); err != nil {
			return err
		}
	}
	s.next += bytes.Count(data, []byte{'\n'})
	return nil
}

func (s *lineScanner) line(number int, line []byte) error {
	switch {
	case len(line) == 0:
		return nil
	case len(line) > maxLine:
		s.skips.add(number, "longer than %d bytes", maxLine)
		return nil
	}
	return s.each(number, line)
}
