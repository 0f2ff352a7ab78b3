package view

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"noema/kernel/result/record"
)

// TestCallsSayWhenTheyRan: a run's calls have places from 1 without a gap, begin and end
// within the trial, and no hash knows of it: a record without is sealed to the same hash.
func TestCallsSayWhenTheyRan(t *testing.T) {
	l := newLab(t)
	run := cafesRun(t, l)
	base, p := serve(t, l)
	get := visitor(t, base, p)
	code, body := get("/run/" + run.ID() + "/trial.json?m=anot&s=R03&e=1")
	var trial record.Trial
	if code != http.StatusOK || json.Unmarshal([]byte(body), &trial) != nil || len(trial.Calls) < 4 {
		t.Fatalf("%d %.300s", code, body)
	}
	for i, c := range record.InTime(trial.Calls) {
		if c.Order != i+1 || c.Start <= 0 || c.Took <= 0 || !c.New {
			t.Errorf("call %s: %+v", c.Path, c.Timing)
		}
	}
	bare := trial.Timeless()
	if raw, _ := record.Marshal(bare); strings.Contains(string(raw), `"order"`) || strings.Contains(string(raw), `"took"`) {
		t.Errorf("a time is left: %.300s", raw)
	}
	if err := bare.Seal(); err != nil || bare.Hash != trial.Hash {
		t.Errorf("without times the hash is %s, not %s: %v", bare.Hash, trial.Hash, err)
	}
}
