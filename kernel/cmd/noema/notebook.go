package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"noema/kernel/session/builtin"
	"noema/kernel/session/jupyter"
	"noema/kernel/show/report"
)

// notebook runs a notebook from the top in a fresh session and compares what its
// cells show with what is saved; with update, it saves that instead.
func (a *app) notebook(ctx context.Context, file string, update bool, memory byteSize, engine engineName) error {
	book, err := jupyter.ReadNotebook(file)
	if err != nil {
		return usage(err)
	}
	tuneSession(memory)
	o := a.sessionOptions()
	o.Capture, o.Memory, o.Engine = true, int64(memory), string(engine)
	o.Dir = filepath.Dir(file)
	session, lab, err := builtin.NewSession(o)
	if err != nil {
		return err
	}
	found, err := book.Run(ctx, session, jupyter.Options{Version: version(), Commands: listings(lab)})
	session.Close() // before anything is printed, since it captures what is
	lab.Close()
	if err != nil {
		return fmt.Errorf("run notebook %s: %w", file, err)
	}
	if update {
		return a.updateNotebook(file, book, found)
	}
	for _, d := range found {
		fmt.Fprintf(a.stdout, "%s: cell %d differs, saved (-) and now (+):\n%s", file, d.Cell, d.Diff)
	}
	switch n := len(found); {
	case n == 0:
		fmt.Fprintf(a.stdout, "%s: the outputs are those that are saved\n", file)
		return nil
	case found[n-1].Failed:
		return fmt.Errorf("run notebook %s: cell %d failed, and the rest did not run", file, found[n-1].Cell)
	default:
		return &codedError{exitDiverged, fmt.Errorf("run notebook %s: another output than the saved one in %s: %s; --update saves it",
			file, report.Plural(n, "cell"), cellNumbers(found))}
	}
}

func cellNumbers(found []jupyter.Difference) string {
	var numbers []string
	for _, d := range found {
		numbers = append(numbers, fmt.Sprint(d.Cell))
	}
	return strings.Join(numbers, ", ")
}

// updateNotebook replaces the outputs that differ, all at once.
func (a *app) updateNotebook(file string, book *jupyter.Notebook, found []jupyter.Difference) error {
	if len(found) == 0 {
		fmt.Fprintf(a.stdout, "%s: nothing to update\n", file)
		return nil
	}
	raw, err := book.Updated()
	if err != nil {
		return err
	}
	if err := replaceFile(file, raw); err != nil {
		return fmt.Errorf("update notebook: %w", err)
	}
	fmt.Fprintf(a.stdout, "%s: updated %s: %s\n", file, report.Plural(len(found), "cell"), cellNumbers(found))
	if d := found[len(found)-1]; d.Failed {
		return fmt.Errorf("run notebook %s: cell %d failed, and the rest did not run", file, d.Cell)
	}
	return nil
}
