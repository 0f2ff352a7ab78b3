package pack

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"noema/cache"
	"noema/cache/packfile"
	"noema/kernel/result/record"
	"noema/kernel/run/runner"
	"noema/methods"
	"noema/plugins"
)

// again writes the pack a second time from what was read of it, as [Source.Write] does.
// What no noema writes is found so, wherever it is: a key that is not known, a file or a
// record that no run refers to, another text for people, another order.
func (x *verification) again(ctx context.Context) error {
	other, err := x.pack.Again(func(w *packfile.Writer) error {
		y := &rewriter{
			x: x, recordKeys: keys{},
			w: &writer{pack: w, code: map[string]bool{}, study: Study{Format: Format, Noema: x.study.Noema, Redacted: x.study.Redacted, Runs: []Run{}}},
		}
		for _, s := range x.study.Runs {
			if err := y.run(ctx, s); err != nil {
				return fmt.Errorf("run %q: %w", s.ID, err)
			}
		}
		for _, id := range x.study.Studies {
			if err := y.ofStudy(id); err != nil {
				return fmt.Errorf("study %q: %w", id, err)
			}
		}
		if err := y.records(ctx); err != nil {
			return err
		}
		return y.w.head()
	}, x.differs)
	if err == nil && len(other) > 0 {
		x.unchecked("", fmt.Sprintf("the compression of %d files, such as %s", len(other), other[0]), "this noema compresses the same content to other bytes")
	}
	return err
}

// differs says where an entry differs from what noema writes. An older noema wrote less:
// that is listed.
func (x *verification) differs(said, now []byte) string {
	if earlier(string(said)) == string(said) { // for people, it has the older words or none
		now = []byte(earlier(string(now)))
	}
	if bytes.Equal(said, now) {
		return ""
	}
	if first, ok := lacks(said, now, true); ok {
		x.unchecked("", "a file of another build", fmt.Sprintf("it has no %s, which this noema writes: sha256 %.16x", first, sha256.Sum256(said)))
		return ""
	}
	return difference(said, now)
}

// earlier gives a text for people the words that older builds wrote, when "pack verify" was a
// verb of its own.
func earlier(text string) string {
	pairs := []string{readmeVerify, strings.NewReplacer("pack ", "", "\n     ", "\n").Replace(readmeVerify)}
	for _, now := range []string{`\"noema pack verify\" computes every trial`, `\"noema pack verify\" says what can`, texWritten} {
		pairs = append(pairs, now, strings.Replace(now, "pack ", "", 1))
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// rewriter writes the parts of a verified pack.
type rewriter struct {
	x          *verification
	w          *writer
	recordKeys keys
}

// run writes what is a run's own.
func (y *rewriter) run(ctx context.Context, s Run) error {
	run, err := recordOf(y.x.pack, s.ID)
	if err != nil {
		return err
	}
	listed := placeless(*run)
	listed.Format = record.Format
	if err := y.w.addRecord(&listed); err != nil {
		return err
	}
	for _, write := range []func(context.Context, *record.Run) error{y.code, y.blobs, y.trials} {
		if err := write(ctx, run); err != nil {
			return err
		}
	}
	for _, name := range []string{labelFile, tableFile} { // of the first the lines are listed, the second was recomputed
		if name = runEntry(s.ID, name); !y.x.pack.Has(name) {
			continue
		}
		raw, err := y.x.pack.Read(name)
		if err == nil {
			err = y.w.pack.Add(name, raw)
		}
		if err != nil {
			return err
		}
	}
	y.w.runs, y.w.study.Runs = append(y.w.runs, &listed), append(y.w.study.Runs, s)
	return nil
}

// blobs notes which samples a run needs, and what else.
func (y *rewriter) blobs(ctx context.Context, run *record.Run) error {
	var parts []string
	if !y.x.out().has(items) {
		err := runner.CheckTask(ctx, y.x.store, run)
		if err == nil {
			parts, err = runner.TaskBlobs(ctx, y.x.store, run)
		}
		if err != nil {
			return err
		}
	}
	return y.recordKeys.addRun(run, parts)
}

func (y *rewriter) trials(ctx context.Context, run *record.Run) error {
	lines := y.w.pack.Lines(runEntry(run.ID, trialFolder))
	for line, err := range y.x.pack.Lines(ctx, runEntry(run.ID, trialFolder)) {
		if err != nil {
			return err
		}
		t, err := record.UnmarshalTrial(line)
		if err != nil {
			return err
		}
		again, err := record.Marshal(t)
		if err = errors.Join(err, y.recordKeys.addTrial(t), lines.Add(again)); err != nil {
			return err
		}
	}
	return lines.Close()
}

// records writes what the runs share: all records of a pack without runs.
func (y *rewriter) records(ctx context.Context) error {
	for _, folder := range folders {
		if err := y.folder(ctx, folder); err != nil {
			return fmt.Errorf("the %s: %w", folder, err)
		}
	}
	return nil
}

func (y *rewriter) folder(ctx context.Context, folder string) error {
	needed, n, sum := y.recordKeys[folder], 0, sha256.New()
	lines := y.w.pack.Lines(folder)
	for line, err := range y.x.pack.Lines(ctx, folder) {
		if err != nil {
			return err
		}
		n++
		sum.Write(line)
		record := bytes.TrimSuffix(line, []byte("\n"))
		if folder == samples {
			record = line
		}
		key, err := keyOf(folder, record)
		if err != nil {
			return err
		}
		if y.x.onlyAnswers() {
			needed = map[cache.Key]bool{key: true}
		}
		if !needed[key] {
			return fmt.Errorf("no run needs record %s", key)
		}
		again, err := cache.Canonical(spaceOf[folder], record)
		if err == nil && folder == replaced {
			again, err = byHand(record)
		}
		if err = errors.Join(err, lines.Add(again)); err != nil {
			return fmt.Errorf("record %s: %w", key, err)
		}
	}
	whole := y.x.onlyAnswers() || folder == seeds || folder == samples && y.x.out().has(items) || folder == replaced && y.x.out().has(allReplies)
	if !whole && n != len(needed) {
		return fmt.Errorf("the runs need %d records, and %d are there", len(needed), n)
	}
	if what := believedFolders[folder]; (n > 0 || y.x.onlyAnswers()) && what != "" {
		y.x.said("", folder, fmt.Sprintf("%d records, sha256 %.16x: %s", n, sum.Sum(nil), what))
	}
	return lines.Close()
}

// onlyAnswers reports whether the pack holds no run, and no trial.
func (x *verification) onlyAnswers() bool { return x.study != nil && len(x.study.Runs) == 0 }

// byHand is a reply by hand as a fork keeps it.
func byHand(raw []byte) ([]byte, error) {
	var c methods.Completion
	if err := json.Unmarshal(raw, &c); err != nil {
		return nil, err
	}
	return json.Marshal(c)
}

// code writes the plugins of a run that are not built in, each once: from the pack, since
// what was unpacked may have been built again.
func (y *rewriter) code(ctx context.Context, run *record.Run) error {
	for _, p := range run.Plugins {
		if p.Builtin || y.w.code[p.Digest] || run.Imported != nil {
			continue
		}
		i := len(y.w.study.Code)
		if i == len(y.x.study.Code) {
			return fmt.Errorf("%s does not name the code of method %q", studyName, p.Method)
		}
		said := y.x.study.Code[i]
		at, err := unpackCode(y.x.pack, said, filepath.Join(y.x.home, "again", fmt.Sprint(i)))
		if err != nil {
			return err
		}
		src, err := plugins.At(at)
		if err != nil {
			return err
		}
		c := Code{Digest: p.Digest, Name: p.Method, Folder: src.Dir != ""}
		source, err := c.built(src, "")
		if err != nil {
			return err
		}
		if c.Platform != "" && c.Source == "" && builtWith(at) == unknownToolchain {
			c.Platform = said.Platform // of this machine, for what says nothing of its own
			y.x.said("", "platform of the program of method "+c.Name, said.Platform)
		}
		if err := errors.Join(y.w.addFiles(ctx, src, c), y.w.addSource(ctx, source, c)); err != nil {
			return err
		}
		if len(source) > 0 && !y.x.rebuilt[c.Digest] {
			y.x.said("", "source of the program of method "+c.Name, fmt.Sprintf("%d files: --rebuild shows what they make", len(source)))
		}
		y.w.code[p.Digest] = true
		y.w.study.Code = append(y.w.study.Code, c)
	}
	return nil
}
