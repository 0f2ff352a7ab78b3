package pack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"noema/cache"
	"noema/cache/packfile"
	"noema/kernel/lab"
	"noema/kernel/result/record"
)

// Import adds what a pack holds to the store of a lab: its answers, which later runs find
// instead of asking, its runs, and copies of the code that served them. Nothing that is
// there is overwritten. The bytes of the pack are checked; whether its runs are what they
// say is for [Verify] to tell.
func Import(ctx context.Context, l *lab.Lab, p *packfile.File) (*Imported, error) {
	if err := p.Check(ctx); err != nil {
		return nil, err
	}
	s, err := Read(p)
	if err != nil {
		return nil, err
	}
	store, err := l.Store()
	if err != nil {
		return nil, err
	}
	if len(s.Redacted) > 0 && !redaction(s.Redacted).computable() {
		return nil, fmt.Errorf("its %s were taken out: such a pack can be verified, not imported", strings.Join(s.Redacted, " and "))
	}
	done, err := addRecords(ctx, p, store, false)
	if err != nil {
		return done, err
	}
	code := map[string]string{}
	for _, c := range s.Code {
		if code[c.Digest], err = keepCode(l, p, c); err != nil {
			return done, err
		}
	}
	for _, run := range s.Runs {
		if err := done.addRun(ctx, p, store, run, code); err != nil {
			return done, fmt.Errorf("import run %q: %w", run.ID, err)
		}
	}
	for _, id := range s.Studies {
		if err := done.addStudy(ctx, p, store, id); err != nil {
			return done, fmt.Errorf("import study %q: %w", id, err)
		}
	}
	return done, nil
}

// keepCode keeps a copy of a plugin's code and returns where it is.
func keepCode(l *lab.Lab, p *packfile.File, c Code) (string, error) {
	at, err := l.Copies().Keep(c.Digest, func(dir string) error {
		_, err := unpackCode(p, c, dir)
		return err
	})
	if err != nil || c.Folder {
		return at, err
	}
	files, err := filepath.Glob(filepath.Join(at, "*"))
	files = slices.DeleteFunc(files, func(name string) bool { return filepath.Base(name)+"/" == sourceFolder })
	if err != nil || len(files) != 1 {
		return "", errors.Join(err, fmt.Errorf("the copy of the code of method %q, in %s, is not one file: remove it, and import again", c.Name, at))
	}
	return files[0], nil
}

// addRun adds a run unless the store has one of its id. Its plugins are those that came
// with it: a path of another machine may lead to anything on this one.
func (i *Imported) addRun(ctx context.Context, p *packfile.File, store *cache.Store, s Run, code map[string]string) error {
	run, err := readRun(p, s)
	if err != nil {
		return err
	}
	for n, plugin := range run.Plugins {
		at, has := code[plugin.Digest]
		if !plugin.Builtin && !has && run.Imported == nil {
			return fmt.Errorf("the code of method %q is not in the pack", plugin.Method)
		}
		run.Plugins[n].Path = at
	}
	return i.unless(ctx, store, run, func() error {
		_, err := addRun(ctx, p, store, run, nil, nil)
		return err
	})
}

// unless adds a run or a study by add, unless the store has one of its id.
func (i *Imported) unless(ctx context.Context, store *cache.Store, run *record.Run, add func() error) error {
	switch had, err := store.Run(ctx, run.ID); {
	case errors.Is(err, cache.ErrNotFound):
		i.Runs = append(i.Runs, run.ID)
		return add()
	case err != nil:
		return err
	case !sameRun(had, run):
		i.Conflicts = append(i.Conflicts, "run "+run.ID)
	}
	return nil
}

// sameRun compares a run of the store with one of a pack: where the code is differs.
func sameRun(had []byte, run *record.Run) bool {
	stored, err := record.UnmarshalRun(had)
	if err != nil {
		return false
	}
	var texts [2][]byte
	for i, r := range []record.Run{placeless(*stored), placeless(*run)} {
		for n := range r.Plugins {
			r.Plugins[n].Path = ""
		}
		if texts[i], err = record.Marshal(r); err != nil {
			return false
		}
	}
	return bytes.Equal(texts[0], texts[1])
}

// WriteRecords writes all answers and method seeds of a store into a pack, without any
// run, and returns its digest.
func (s Source) WriteRecords(ctx context.Context, p *packfile.Writer) (string, error) {
	store, err := s.Lab.Store()
	if err != nil {
		return "", err
	}
	all := keys{}
	for _, folder := range []string{replies, tools, seeds} {
		all[folder] = map[cache.Key]bool{}
		for key, err := range store.Keys(ctx, spaceOf[folder]) {
			if err != nil {
				return "", err
			}
			all[folder][key] = true
		}
	}
	w := &writer{Source: s, store: store, pack: p, study: Study{Format: Format, Noema: s.Noema, Runs: []Run{}}}
	if err := errors.Join(all.write(ctx, store, p, nil), w.head()); err != nil {
		return "", fmt.Errorf("export: %w", err)
	}
	return p.Close()
}
