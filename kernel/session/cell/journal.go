package cell

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"noema/kernel/base/display"
	"noema/kernel/base/files"
)

// Journal keeps the cells of a session in a file until the session is closed. If
// the process dies before, the next one that opens the file knows what is lost. A
// nil Journal keeps nothing.
type Journal struct {
	file    string
	lost    []LostCell // in order; those that run again are taken from its beginning
	running *LostCell  // when the process died
	last    int        // the highest number of a cell
	mark    entry      // what the next entry is
}

// LostCell is a cell of a session whose process died.
type LostCell struct {
	Number int    `json:"cell"` // as the face shows it
	Text   string `json:"text"`
}

// entry is a line of the file: a cell that begins, or the end of the last one.
type entry struct {
	LostCell
	First bool `json:"first,omitempty"` // of its process
	Again bool `json:"again,omitempty"` // it is the first of the lost ones
	Ended bool `json:"ended,omitempty"`
	OK    bool `json:"ok,omitempty"`
}

// abandonedAfter is when a file is removed that no process has opened again.
const abandonedAfter = 7 * 24 * time.Hour

// OpenJournal opens the journal of a session, by a name that it shares only with
// those that take its place.
func OpenJournal(folder, name string) (*Journal, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("keep the cells: %w", err)
	}
	j := &Journal{file: filepath.Join(folder, name), mark: entry{First: true}}
	raw, err := files.Read(j.file, files.MaxText)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the cells of the last session: %w", err)
	}
	j.read(raw)
	all, _ := os.ReadDir(folder) // what cannot be listed stays
	for _, f := range all {
		if info, err := f.Info(); err == nil && time.Since(info.ModTime()) > abandonedAfter {
			_ = os.Remove(filepath.Join(folder, f.Name()))
		}
	}
	return j, nil
}

// read reads what earlier processes wrote. A damaged line, as of one that died while
// it wrote, is left out. What ran again keeps its place before what has not.
func (j *Journal) read(raw []byte) {
	var running entry
	reran := 0 // how many of lost the process had run again
	for line := range bytes.Lines(raw) {
		var e entry
		switch {
		case json.Unmarshal(line, &e) != nil:
			continue
		case !e.Ended:
			if e.First {
				reran = 0
			}
			if e.Again && reran < len(j.lost) {
				j.lost = slices.Delete(j.lost, reran, reran+1)
			}
			j.last = max(j.last, e.Number)
		case e.OK && running.Again:
			j.lost = slices.Insert(j.lost, min(reran, len(j.lost)), running.LostCell)
			reran++
		case e.OK && running.Number > 0:
			j.lost = append(j.lost, running.LostCell)
		}
		running = e
	}
	if !running.Ended && running.Number > 0 {
		j.running = &running.LostCell
	}
}

// Lost are the cells that had run without an error when the process died, and have
// not run again. running is the one that was running, if any.
func (j *Journal) Lost() (cells []LostCell, running *LostCell) {
	if j == nil {
		return nil, nil
	}
	return j.lost, j.running
}

// Last is the highest number of a cell when the process died, 0 if none ran.
func (j *Journal) Last() int {
	if j == nil {
		return 0
	}
	return j.last
}

// Run keeps a cell while f runs it and after, unless it fails. A failure to write
// does not keep it from running.
func (j *Journal) Run(number int, text string, f func() error) error {
	if j == nil {
		return f()
	}
	e := j.mark
	e.LostCell, j.mark.First = LostCell{number, text}, false
	j.add(e)
	err := f()
	j.add(entry{Ended: true, OK: err == nil})
	return err
}

// Rerun calls run with each lost cell, up to the first that fails. A cell is no
// longer lost once it begins.
func (j *Journal) Rerun(run func(LostCell) error) error {
	if j == nil {
		return nil
	}
	j.mark.Again = true
	defer func() { j.mark.Again = false }()
	for len(j.lost) > 0 {
		c := j.lost[0]
		j.lost = j.lost[1:]
		if err := run(c); err != nil {
			return err
		}
	}
	return nil
}

// add writes a line. It is in the system's hands then, whatever becomes of this
// process.
func (j *Journal) add(e entry) {
	f, err := os.OpenFile(j.file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	raw, _ := json.Marshal(e) // numbers and a string always encode
	_, _ = f.Write(append(raw, '\n'))
	_ = f.Close()
}

// Clear forgets all cells, as when the session does or ends.
func (j *Journal) Clear() {
	if j != nil {
		j.lost, j.running, j.last = nil, nil, 0
		_ = os.Remove(j.file) // it may not exist
	}
}

// maxNoticed is how many lost cells [Journal.Notice] lists.
const maxNoticed = 10

// Notice says what is lost, and that command runs it again; "" if nothing is.
func (j *Journal) Notice(command string) string {
	cells, running := j.Lost()
	if len(cells) == 0 && running == nil {
		return ""
	}
	var b strings.Builder
	b.WriteString("the process of this session died")
	if running != nil {
		fmt.Fprintf(&b, " while cell %d ran: %s", running.Number, display.Line(running.Text, 60))
	}
	b.WriteString("\n")
	if len(cells) > 0 {
		fmt.Fprintf(&b, "what its cells had declared is gone; %s runs these again:\n", command)
	}
	for i, c := range cells {
		if i == maxNoticed {
			fmt.Fprintf(&b, "  … and %d more\n", len(cells)-i)
			break
		}
		fmt.Fprintf(&b, "  %d  %s\n", c.Number, display.Line(c.Text, 60))
	}
	return b.String()
}
