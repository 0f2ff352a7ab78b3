package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"noema/cache"
	"noema/kernel/result/record"
	"noema/kernel/task"
	"noema/methods"
)

// savedTask is a task as the store keeps it: with its environment's tools, as
// the problems list them. In format 2, the samples that a run uses are blobs of
// their own, so that a task may be larger than any record; before, Format was
// absent and all samples of the task were in Samples.
type savedTask struct {
	*task.Task
	Format int                `json:",omitempty"`
	Tools  []methods.ToolSpec `json:",omitempty"`
	// PerTrial says that the results of its tools depend on the problem.
	PerTrial bool     `json:",omitempty"`
	Parts    []string `json:",omitempty"` // keys of blobs, each with one sample
}

// taskFormat is the version of what saveTask writes.
const taskFormat = 2

// blobsAtOnce is how many blobs are written or read at a time: the store commits
// writes that come together as one.
const blobsAtOnce = 64

// saveTask keeps the task and the samples that a run uses in the store, so that
// it can be replayed where the files or the generator are not.
func saveTask(ctx context.Context, store *cache.Store, t *task.Task, used []task.Sample) (string, error) {
	head := *t
	head.Samples = nil
	saved := savedTask{Task: &head, Format: taskFormat, Parts: make([]string, len(used))}
	if t.Environment != nil {
		saved.Tools = t.Environment.Tools()
		saved.PerTrial = task.IsPerTrial(t.Environment)
	}
	all, ctxAll := errgroup.WithContext(ctx)
	all.SetLimit(blobsAtOnce)
	for i, s := range used {
		all.Go(func() error {
			key, err := putJSON(ctxAll, store, s)
			if err != nil {
				return fmt.Errorf("save sample %q of task %q: %w", s.ID, t.Name, err)
			}
			saved.Parts[i] = key.String()
			return nil
		})
	}
	if err := all.Wait(); err != nil {
		return "", err
	}
	key, err := putJSON(ctx, store, saved)
	if err != nil {
		return "", fmt.Errorf("save task %q: %w", t.Name, err)
	}
	return key.String(), nil
}

// putJSON keeps raw JSON in v, such as the schemas of tools, as it is: methods
// show it in prompts, and an escaped < would be another prompt.
func putJSON(ctx context.Context, store *cache.Store, v any) (cache.Key, error) {
	raw, err := encoded(v)
	if err != nil {
		return cache.Key{}, err
	}
	return store.PutBlob(ctx, raw)
}

func encoded(v any) ([]byte, error) {
	raw, err := methods.EncodeJSON(v)
	return append(raw, '\n'), err
}

// LoadTask returns the task of a run as it was when the run began, with the
// samples that the run uses. Of its environment there are only the tools as the
// problems list them: their results are in the store.
func LoadTask(ctx context.Context, store *cache.Store, run *record.Run) (*task.Task, error) {
	t, err := loadTask(ctx, store, run)
	if err != nil {
		return nil, fmt.Errorf("load task of run %q: %w", run.ID, err)
	}
	return t, nil
}

func loadTask(ctx context.Context, store *cache.Store, run *record.Run) (*task.Task, error) {
	saved := savedTask{Task: &task.Task{}}
	if err := getJSON(ctx, store, run.Blob, &saved); err != nil {
		return nil, err
	}
	if saved.Format > taskFormat {
		return nil, fmt.Errorf("its format is %d, and this noema reads up to %d: use a newer noema", saved.Format, taskFormat)
	}
	if len(saved.Tools) > 0 {
		saved.Environment = replayEnvironment{saved.Tools}
		if saved.PerTrial {
			saved.Environment = replayPerTrial{replayEnvironment{saved.Tools}}
		}
	}
	if saved.Format < 2 {
		return saved.Task, nil
	}
	saved.Samples = make([]task.Sample, len(saved.Parts))
	all, ctx := errgroup.WithContext(ctx)
	all.SetLimit(blobsAtOnce)
	for i, part := range saved.Parts {
		all.Go(func() error { return getJSON(ctx, store, part, &saved.Samples[i]) })
	}
	return saved.Task, all.Wait()
}

// TaskBlobs are the keys of the blobs that hold the samples of a run's task, beside
// run.Blob itself.
func TaskBlobs(ctx context.Context, store *cache.Store, run *record.Run) ([]string, error) {
	var saved savedTask
	if err := getJSON(ctx, store, run.Blob, &saved); err != nil {
		return nil, fmt.Errorf("load task of run %q: %w", run.ID, err)
	}
	return saved.Parts, nil
}

func getJSON(ctx context.Context, store *cache.Store, name string, into any) error {
	raw, err := blob(ctx, store, name)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}

func blob(ctx context.Context, store *cache.Store, name string) ([]byte, error) {
	key, err := cache.ParseKey(name)
	if err != nil {
		return nil, err
	}
	return store.Blob(ctx, key)
}

// CheckTask refuses a stored task that holds more than is read of it, such as a key that
// this noema does not know.
func CheckTask(ctx context.Context, store *cache.Store, run *record.Run) error {
	saved := savedTask{Task: &task.Task{}}
	if err := sameJSON(ctx, store, run.Blob, &saved); err != nil {
		return fmt.Errorf("task of run %q: %w", run.ID, err)
	}
	for _, part := range saved.Parts {
		if err := sameJSON(ctx, store, part, &task.Sample{}); err != nil {
			return fmt.Errorf("sample in blob %.12s of run %q: %w", part, run.ID, err)
		}
	}
	return nil
}

// sameJSON refuses a blob that putJSON would not write of what it is read as.
func sameJSON(ctx context.Context, store *cache.Store, name string, into any) error {
	raw, err := blob(ctx, store, name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return err
	}
	again, err := encoded(into)
	if err == nil && !bytes.Equal(raw, again) {
		err = errors.New("it holds more than noema reads, or is written in another way")
	}
	return err
}
