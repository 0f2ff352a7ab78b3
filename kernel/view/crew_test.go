package view

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"noema/kernel/run/cluster"
)

func TestTheWorkersOfARunUnderWay(t *testing.T) {
	lab := newLab(t)
	base, p := serve(t, lab)
	visit := visitor(t, base, p)
	write := func(at time.Time) {
		raw, err := json.Marshal(cluster.State{
			Address: "tls://10.0.0.1:4222", At: at, Queued: 17, Running: 4, Done: 21, Rate: 3.25, Lost: 1,
			Workers: []cluster.WorkerState{{
				Name: "node-7<b>", Platform: "linux/amd64", Slots: 4, Running: 4, Done: 21, Serves: []string{"local/small"},
				Cannot: map[string]string{"mine": "no such file"},
			}},
		})
		if err == nil {
			err = os.WriteFile(filepath.Join(lab.Home(), "cluster.json"), raw, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, page := visit("/"); strings.Contains(page, "worker") {
		t.Error("the page shows workers, and there are none")
	}
	write(time.Now())
	_, page := visit("/")
	for _, want := range []string{"<b>1 worker</b>", "17 trials in the queue", "3.2/s", "1 lost", "node-7&lt;b&gt;", "local/small", "mine: no such file"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	write(time.Now().Add(-time.Hour)) // its coordinator was killed
	if _, page := visit("/"); strings.Contains(page, "17 trials in the queue") {
		t.Error("the page shows a state of an hour ago")
	}
}
