package compare

import (
	"cmp"
	"fmt"
	"slices"

	"noema/kernel/result/record"
	"noema/kernel/task"
)

// Recorded is a run with its finished trials, in canonical order, and its task.
type Recorded struct {
	Run    *record.Run
	Trials []*record.Trial
	Task   *task.Task
	Labels []record.Label // what people say of the answers, to calibrate graders
}

// Samples are the samples that the run is over, in its order.
func (r Recorded) Samples() []task.Sample {
	at := map[string]int{}
	for i, id := range r.Run.Config.Task.Samples {
		at[id] = i
	}
	chosen := slices.DeleteFunc(slices.Clone(r.Task.Samples), func(s task.Sample) bool { _, has := at[s.ID]; return !has })
	slices.SortFunc(chosen, func(a, b task.Sample) int { return cmp.Compare(at[a.ID], at[b.ID]) })
	return chosen
}

// lacks says which trials a run does not have that its limit ended; nothing for any
// other run.
func (r Recorded) lacks() []string {
	if r.Run.Stopped == "" || r.Run.Status == record.Finished {
		return nil
	}
	all := r.Run.Config.Size()
	return []string{fmt.Sprintf("run %s was ended by its limit of %s: it lacks %d of %d trials", r.Run.ID, r.Run.Stopped, all-len(r.Trials), all)}
}

// origin is the digest of the task that a run's task is, or was made from.
func (r Recorded) origin() string {
	if d := r.Task.SeedDigest; d != "" {
		return d
	}
	return r.Run.Config.Task.Digest
}
