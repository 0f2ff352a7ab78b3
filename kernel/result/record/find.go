package record

import (
	"fmt"
	"strconv"
	"strings"

	"noema/methods"
)

// FindTrial reads METHOD/SAMPLE or METHOD/SAMPLE/EPOCH. Both names may hold
// slashes, so it looks for the trial that is spelt so. The error names what the
// run does not have.
func (r *Run) FindTrial(name string) (TrialID, error) {
	if err := r.StudyError(); err != nil {
		return TrialID{}, err
	}
	for _, id := range r.Config.Trials() {
		if name == id.String() || name == strings.TrimSuffix(id.String(), "/"+strconv.Itoa(id.Epoch+1)) {
			return id, nil
		}
	}
	return TrialID{}, fmt.Errorf("find trial %q: %s", name, r.missing(name))
}

// missing says which part of a trial's name the run does not have.
func (r *Run) missing(name string) string {
	method, _, named := strings.Cut(name, "/")
	if !named {
		return fmt.Sprintf("use METHOD/SAMPLE or METHOD/SAMPLE/EPOCH, as in %s", r.Config.Trials()[0])
	}
	labels := r.Labels()
	for _, m := range r.Config.Methods {
		sample, ok := strings.CutPrefix(name, m.Label+"/")
		if !ok {
			continue
		}
		for _, s := range r.Config.Task.Samples {
			if epoch, ok := strings.CutPrefix(sample, s+"/"); ok {
				return fmt.Sprintf("run %s has no epoch %q: it has %d", r.ID, epoch, r.Config.Epochs)
			}
		}
		return fmt.Sprintf("run %s has no sample %q%s", r.ID, sample, methods.DidYouMean(sample, r.Config.Task.Samples))
	}
	return fmt.Sprintf("run %s has no method %q%s: its methods are %s", r.ID, method, methods.DidYouMean(method, labels), strings.Join(labels, ", "))
}
