package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestJSON holds the documented form of what compare and replay print: one
// object and nothing else on stdout, methods in the order asked for.
func TestJSON(t *testing.T) {
	t.Parallel()
	c := newCLI(t)
	for _, args := range [][]string{
		{"compare", "--methods", "direct,anot?builder=compiled,cot", "--limit", "2", "--json"},
		{"replay", "last", "--json"},
		{"runs", "show", "last", "--json"},
	} {
		r := c.run(0, args...)
		d := json.NewDecoder(strings.NewReader(r.stdout))
		var out map[string]any
		if err := d.Decode(&out); err != nil {
			t.Fatalf("%v: %v in %s", args, err, r.stdout)
		}
		if _, err := d.Token(); err != io.EOF {
			t.Errorf("%v: more than one object on stdout: %v", args, err)
		}
		if strings.Count(r.stdout, "\n") != 1 {
			t.Errorf("%v: the object is not one line", args)
		}
		checkSummary(t, out)
	}
}

func checkSummary(t *testing.T, out map[string]any) {
	t.Helper()
	keys(t, out, "run", "root_hash", "provider_calls", "cached_calls", "model", "task", "methods", "simulated")
	if out["simulated"] != true {
		t.Error("the numbers of a simulated model are not marked as such")
	}
	var labels []string
	for _, m := range out["methods"].([]any) {
		m := m.(map[string]any)
		keys(t, m, "method", "version", "n", "outcomes", "metrics", "usage")
		labels = append(labels, m["method"].(string))
		keys(t, m["metrics"].(map[string]any), "hits@1", "hits@5", "mrr", "first")
		for _, metric := range m["metrics"].(map[string]any) {
			metric := metric.(map[string]any)
			keys(t, metric, "value", "low", "high")
			if v, low, high := metric["value"].(float64), metric["low"].(float64), metric["high"].(float64); low > v || v > high {
				t.Errorf("metric %v: not within its interval", metric)
			}
		}
		keys(t, m["usage"].(map[string]any), "calls", "input_tokens", "output_tokens", "cost_usd", "latency_ms")
		if m["n"] != 2.0 || m["outcomes"].(map[string]any)["answered"] != 2.0 {
			t.Errorf("method %v: n %v, outcomes %v", m["method"], m["n"], m["outcomes"])
		}
	}
	if want := []string{"direct", "anot?builder=compiled", "cot"}; !slices.Equal(labels, want) {
		t.Errorf("methods %v, want %v", labels, want)
	}
}

func keys(t *testing.T, object map[string]any, want ...string) {
	t.Helper()
	for _, k := range want {
		if _, ok := object[k]; !ok {
			t.Errorf("no key %q among %v", k, slices.Sorted(maps.Keys(object)))
		}
	}
}

// TestEpochs shows that epochs are independent draws and still repeatable.
func TestEpochs(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
	c := newCLI(t)
	args := []string{"compare", "--model", "sim?error=0.2", "--epochs", "5", "--limit", "10", "--methods", "direct,cot"}
	first := c.summary(args...)
	answers, seen := map[string]string{}, map[string]string{} // all answers of an epoch, by method and epoch
	for _, tr := range c.trials() {
		answers[fmt.Sprint(tr.ID.Method, " ", tr.ID.Epoch)] += string(tr.Answer.Value) + " "
	}
	for epoch, a := range answers { // what methods read alike, they read alike in one epoch alone
		method, number, _ := strings.Cut(epoch, " ")
		if other, twice := seen[method+a]; twice {
			t.Errorf("%s answered just as in epoch %s", epoch, other)
		}
		seen[method+a] = number
	}
	if len(answers) != 10 {
		t.Errorf("answers of %d epochs, want 10", len(answers))
	}
	again := c.summary(args...)
	if again.RootHash != first.RootHash || again.ProviderCalls != 0 || first.ProviderCalls != 100 {
		t.Errorf("root %s after %d provider calls, then %s after %d", first.RootHash, first.ProviderCalls, again.RootHash, again.ProviderCalls)
	}
	if elsewhere := newCLI(t).summary(args...); elsewhere.RootHash != first.RootHash {
		t.Errorf("root %s in another store, %s here", elsewhere.RootHash, first.RootHash)
	}
}

// TestExamples holds that every verb's help has examples, and that their
// flags exist.
func TestExamples(t *testing.T) {
	t.Parallel()
	root := newRoot(&app{stdout: io.Discard, stderr: io.Discard})
	var check func(*cobra.Command)
	check = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			check(sub)
		}
		if cmd.HasSubCommands() && cmd.Example == "" {
			return // its verbs have them
		}
		if cmd.Example == "" {
			t.Errorf("%s: no example", cmd.CommandPath())
		}
		for line := range strings.Lines(cmd.Example) {
			args := strings.Fields(line)
			if args[0] != "noema" {
				t.Errorf("%s: example %q does not begin with noema", cmd.CommandPath(), line)
				continue
			}
			found, rest, err := newRoot(&app{stdout: io.Discard, stderr: io.Discard}).Find(args[1:])
			if err != nil {
				t.Errorf("example %q: %v", line, err)
				continue
			}
			if err := found.ParseFlags(rest); err != nil {
				t.Errorf("example %q: %v", line, err)
			}
			if err := found.ValidateArgs(found.Flags().Args()); err != nil {
				t.Errorf("example %q: %v", line, err)
			}
		}
	}
	check(root)
}
