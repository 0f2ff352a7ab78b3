package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// startsWorker is the part of a launcher that calls the program.
var startsWorker = regexp.MustCompile(`worker,? --join`)

// launchers is the folder of files that start workers on many machines.
var launchers = filepath.Join("..", "..", "..", "experiments", "cluster")

// TestLaunchersUseFlagsThatExist: the launchers fit the program that they start.
func TestLaunchersUseFlagsThatExist(t *testing.T) {
	t.Parallel()
	c := newCLI(t)
	help := c.run(0, "worker", "--help").stdout + c.run(0, "compare", "--help").stdout
	flags := regexp.MustCompile(`--(join|wait|stay|slots|listen|nats|local-workers|serve)\b`)
	for _, file := range []string{"slurm/workers.sbatch", "kubernetes/workers.yaml", "compose/compose.yaml", "slurm/README.md", "kubernetes/README.md", "compose/README.md"} {
		text, err := os.ReadFile(filepath.Join(launchers, file))
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Ext(file) != ".md" && !startsWorker.Match(text) {
			t.Errorf("%s: it starts no worker", file)
		}
		for _, flag := range flags.FindAllString(string(text), -1) {
			if !strings.Contains(help, flag+" ") {
				t.Errorf("%s: neither worker nor compare has %s", file, flag)
			}
		}
	}
}

func TestLaunchersParse(t *testing.T) {
	if out, err := exec.CommandContext(t.Context(), "sh", "-n", filepath.Join(launchers, "slurm", "workers.sbatch")).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	for _, file := range []string{"kubernetes/nats.yaml", "kubernetes/workers.yaml", "compose/compose.yaml"} {
		text, err := os.ReadFile(filepath.Join(launchers, file))
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range strings.Split(string(text), "\n---\n") {
			var object map[string]any
			if err := yaml.Unmarshal([]byte(part), &object); err != nil || len(object) == 0 {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
}
