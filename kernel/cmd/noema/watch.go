package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"noema/kernel/lab"
	"noema/kernel/lab/plugindev"
	"noema/plugins"
)

// watchEvery is how often the code of plugins is looked at.
const watchEvery = 40 * time.Millisecond

// watch compares again whenever the code of a plugin among the methods changes,
// until ctx ends. What needs a build is built first; a build or a run that
// fails is told, and waits for the next change.
func (a *app) watch(cmd *cobra.Command, c *comparison) error {
	ctx := cmd.Context()
	dirs := a.watched(c.Methods)
	if len(dirs) == 0 {
		return usage(errors.New("--watch: none of the methods is a plugin: built-in methods do not change"))
	}
	for {
		err := a.build(ctx, dirs)
		seen := stamp(dirs) // with what the build wrote
		if err == nil {
			err = a.compare(cmd, c)
		}
		if err != nil {
			fmt.Fprintln(a.stderr, "noema:", err)
		}
		fmt.Fprintf(a.stderr, "watching %s; press Ctrl-C to stop\n", strings.Join(dirs, ", "))
		if !changed(ctx, dirs, seen) {
			return nil
		}
	}
}

// build builds what needs it.
func (a *app) build(ctx context.Context, dirs []string) error {
	for _, dir := range dirs {
		if !plugindev.NeedsBuild(dir) {
			continue
		}
		begun := time.Now()
		if err := plugindev.Build(ctx, a.lab.Copies(), dir, a.stderr); err != nil {
			return err
		}
		fmt.Fprintf(a.stderr, "built %s in %.1f s\n", filepath.Base(dir), time.Since(begun).Seconds())
	}
	return nil
}

// watched are the folders and files of the plugins among the methods.
func (a *app) watched(methods []string) (dirs []string) {
	sources, _ := a.lab.Plugins() // a faulty one is told when it is run
	for _, m := range methods {
		s, err := lab.ParseSpec(strings.TrimSpace(m))
		if err != nil {
			continue // told when it is run
		}
		if plugins.IsPath(s.Name) {
			dirs = append(dirs, s.Name)
			continue
		}
		for _, src := range sources {
			if src.Name == s.Name && !src.Builtin {
				dirs = append(dirs, src.Path)
			}
		}
	}
	return dirs
}

// stamp tells apart two states of the code in folders, by the files' times and
// sizes. What a build writes does not count.
func stamp(dirs []string) string {
	var b strings.Builder
	for _, dir := range dirs {
		_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return nil // it is gone by now: the next look sees that
			case e.IsDir() && (e.Name() == "bin" || e.Name() == "__pycache__" || strings.HasPrefix(e.Name(), ".") && path != dir):
				return filepath.SkipDir
			case e.IsDir():
				return nil
			}
			if info, err := e.Info(); err == nil {
				fmt.Fprintln(&b, path, info.Size(), info.ModTime().UnixNano())
			}
			return nil
		})
	}
	return b.String()
}

// changed waits until the code is another than was seen, and stays the same for
// two looks, since editors write a file in parts. It returns false when ctx ends.
func changed(ctx context.Context, dirs []string, seen string) bool {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for last := seen; ; {
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
		now := stamp(dirs)
		if now != seen && now == last {
			return true
		}
		last = now
	}
}
