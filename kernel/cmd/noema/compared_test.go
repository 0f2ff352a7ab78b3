package main

import (
	"fmt"
	"testing"
)

// TestRunsAreNotFiles: no id of a run is taken for a file that is not there, nor the reverse.
func TestRunsAreNotFiles(t *testing.T) {
	for i := range 2000 {
		id := fmt.Sprintf("20261127-%06d-%04x", i*37, i*31)
		for _, run := range []string{id, fmt.Sprintf("%s.%d", id, i), id[:4+i%12], "last"} {
			if isPath(run) {
				t.Errorf("%s is taken for a file", run)
			}
		}
		for _, file := range []string{id + ".jsonl", "logs/" + id, id + ".2.eval"} {
			if !isPath(file) {
				t.Errorf("%s is taken for a run", file)
			}
		}
	}
}
