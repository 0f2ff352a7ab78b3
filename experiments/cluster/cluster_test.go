// Package cluster_test checks that the launchers fit the program that they start.
package cluster_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// worker is the part of a launcher that calls the program.
var worker = regexp.MustCompile(`worker,? --join`)

func TestLaunchersUseFlagsThatExist(t *testing.T) {
	help := map[string]string{}
	for _, verb := range []string{"worker", "compare"} {
		out, err := exec.CommandContext(t.Context(), "go", "run", "../../kernel/cmd/noema", verb, "--help").Output()
		if err != nil {
			t.Fatal(err)
		}
		help[verb] = string(out)
	}
	flags := regexp.MustCompile(`--(join|wait|stay|slots|listen|nats|local-workers|serve)\b`)
	for _, file := range []string{"slurm/workers.sbatch", "kubernetes/workers.yaml", "compose/compose.yaml", "slurm/README.md", "kubernetes/README.md", "compose/README.md"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Ext(file) != ".md" && !worker.Match(text) {
			t.Errorf("%s: it starts no worker", file)
		}
		for _, flag := range flags.FindAllString(string(text), -1) {
			if !strings.Contains(help["worker"]+help["compare"], flag+" ") {
				t.Errorf("%s: neither worker nor compare has %s", file, flag)
			}
		}
	}
}

func TestLaunchersParse(t *testing.T) {
	if out, err := exec.CommandContext(t.Context(), "sh", "-n", "slurm/workers.sbatch").CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	for _, file := range []string{"kubernetes/nats.yaml", "kubernetes/workers.yaml", "compose/compose.yaml"} {
		text, err := os.ReadFile(file)
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
