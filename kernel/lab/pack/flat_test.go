package pack_test

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"

	"noema/cache/packfile"
	"noema/kernel/lab"
	"noema/kernel/lab/pack"
	"noema/kernel/result/record"
	"noema/kernel/session/builtin"
)

// most is what a trial more may take of the heap, in bytes, whatever its calls hold.
var most = map[string]float64{"pack": 4000, "verify": 4000, "import": 1000, "compare": 4000}

// TestFlat: what packs are made and checked with does not hold their trials, only what
// their tables are made of. It measures 1,000 and 10,000 trials; PACK.md has what it
// printed.
func TestFlat(t *testing.T) {
	if os.Getenv("NOEMA_BENCH") == "" {
		t.Skip("runs, packs and verifies 11,000 trials in some minutes: set NOEMA_BENCH=1")
	}
	epochs := []int{5, 50}
	var peaks [2]map[string]float64
	for i, n := range epochs {
		l := lab.Open(lab.Options{Home: t.TempDir(), Catalog: builtin.Catalog{}, Stderr: io.Discard})
		defer l.Close()
		r, err := l.Run(lab.Experiment{Task: "cafes", Methods: []string{"direct", "anot"}, Epochs: n})
		if err != nil {
			t.Fatal(err)
		}
		peaks[i] = held(t, l, r.Run)
	}
	for what, limit := range most {
		each := (peaks[1][what] - peaks[0][what]) / float64(200*(epochs[1]-epochs[0]))
		t.Logf("%s: %.0f bytes of heap a trial", what, each)
		if each > limit {
			t.Errorf("%s holds %.0f bytes a trial, more than %.0f: %v", what, each, limit, peaks)
		}
	}
}

// held is the heap that each verb held at most.
func held(t *testing.T, l *lab.Lab, run *record.Run) map[string]float64 {
	peaks := map[string]float64{}
	measure := func(what string, do func() error) {
		defer debug.SetGCPercent(debug.SetGCPercent(10))
		runtime.GC()
		before, began := live(), time.Now()
		peak := highest()
		err := do()
		runtime.GC()
		peaks[what] = float64(peak()) - float64(before)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		t.Logf("%d trials: %s in %v", len(run.Trials()), what, time.Since(began))
	}
	file := filepath.Join(t.TempDir(), "study.noema")
	measure("pack", func() error {
		f, err := os.Create(file)
		if err != nil {
			return err
		}
		defer f.Close()
		w, err := packfile.NewWriter(f)
		if err == nil {
			_, err = pack.Source{Lab: l, Runs: []*record.Run{run}, Noema: "test"}.Write(t.Context(), w)
		}
		return err
	})
	p, err := packfile.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	t.Logf("%d bytes", p.Size())
	measure("verify", func() error {
		_, err := pack.Verify{Catalog: builtin.Catalog{}}.Do(t.Context(), p)
		return err
	})
	measure("import", func() error {
		other := lab.Open(lab.Options{Home: t.TempDir(), Catalog: builtin.Catalog{}, Stderr: io.Discard})
		defer other.Close()
		_, err := pack.Import(t.Context(), other, p)
		return err
	})
	measure("compare", func() error {
		r, err := l.LoadLight(run.ID)
		if err == nil {
			_, err = r.Compare(lab.Comparing{})
		}
		return err
	})
	return peaks
}

// live is the heap that the last collection found in use.
func live() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// highest samples live until its caller is done, and then returns the most that it was.
func highest() (most func() uint64) {
	tick, done, result := time.NewTicker(5*time.Millisecond), make(chan bool), make(chan uint64)
	go func() {
		var peak uint64
		for {
			select {
			case <-tick.C:
				peak = max(peak, live())
			case <-done:
				result <- max(peak, live())
				return
			}
		}
	}()
	return func() uint64 {
		tick.Stop()
		close(done)
		return <-result
	}
}
