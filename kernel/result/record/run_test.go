package record

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"noema/methods"
)

func ptr[T any](v T) *T { return &v }

func fullConfig() Config {
	return Config{
		Task:      Task{Name: "cafes", Version: "1", Config: "n=10", Digest: "d", Samples: []string{"a", "b"}},
		Model:     Model{ID: methods.ModelID{Provider: "sim", Endpoint: "e", Model: "m", Weights: "w", Config: "error=0.05"}, Simulated: true, Thoughts: "<a>,</a>"},
		Methods:   []Method{{Label: "anot", Name: "anot", Version: "1", PromptVersion: "2", Options: json.RawMessage(`{"a":1}`), Shuffle: true, Data: "searches", Code: "c"}},
		Epochs:    2,
		TextRules: 2,
		Reading:   2,
		Seed:      3,
		Sampling:  Sampling{Temperature: ptr(0.5), TopP: ptr(0.9), TopK: ptr(40), MaxTokens: ptr(100), Logprobs: ptr(5)},
		Limits:    Limits{Calls: 1, Tokens: 2, Cost: 3, Time: 4},
		Design:    &Design{Rule: DesignRule, Looks: 5, Detect: 0.1, Largest: 3}, Test: "exchange", Baseline: "anot",
		Graders: []Model{{ID: methods.ModelID{Provider: "openai", Endpoint: "e", Model: "m", Weights: "w", Config: "c"}, Simulated: true, Thoughts: "<b>,</b>"}},
	}
}

// variedConfig is fullConfig with the fields that are left out of the digest of a
// configuration that has none.
func variedConfig() Config {
	c := fullConfig()
	c.Methods[0].Intervention = &Intervention{Of: "anot", Kind: Drop, At: "P1", By: ByPhase}
	c.Study = &Study{Rule: 1, Cells: []Cell{{Task: "cafes", Model: "sim", Weight: 2, Digest: "d"}}}
	return c
}

// TestConfigDigestCoversEverything: the value of every field, however deep,
// is in the digest. A new field is covered by this test without a change.
func TestConfigDigestCoversEverything(t *testing.T) {
	digestOf := func(c Config) string {
		d, err := c.Digest()
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	base := digestOf(variedConfig())
	fields := 0
	var visit func(at string, field func(*Config) reflect.Value)
	visit = func(at string, field func(*Config) reflect.Value) {
		c := variedConfig()
		v := field(&c)
		switch {
		case v.Kind() == reflect.Struct:
			for i := range v.NumField() {
				visit(at+"."+v.Type().Field(i).Name, func(c *Config) reflect.Value { return field(c).Field(i) })
			}
			return
		case v.Kind() == reflect.Pointer:
			visit(at+"*", func(c *Config) reflect.Value { return field(c).Elem() })
		case v.Kind() == reflect.Slice && v.Type() != reflect.TypeFor[json.RawMessage]():
			visit(at+"[0]", func(c *Config) reflect.Value { return field(c).Index(0) })
		}
		fields++
		change(t, at, v)
		if digestOf(c) == base {
			t.Errorf("the digest does not cover %s", at)
		}
	}
	visit("Config", func(c *Config) reflect.Value { return reflect.ValueOf(c).Elem() })
	if fields < 30 {
		t.Errorf("only %d fields were tried", fields)
	}
}

// change gives a field another value.
func change(t *testing.T, at string, v reflect.Value) {
	t.Helper()
	if v.IsZero() {
		t.Fatalf("%s is empty in variedConfig: give it a value", at)
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(v.String() + "x")
	case reflect.Int, reflect.Int64:
		v.SetInt(v.Int() + 1)
	case reflect.Uint64:
		v.SetUint(v.Uint() + 1)
	case reflect.Float64:
		v.SetFloat(v.Float() / 2)
	case reflect.Bool, reflect.Pointer, reflect.Slice:
		v.SetZero()
	default:
		t.Fatalf("%s: no way to change a %s", at, v.Type())
	}
}

func TestConfigDigestRefusesBadOptions(t *testing.T) {
	c := fullConfig()
	c.Methods[0].Options = json.RawMessage("{")
	if _, err := c.Digest(); err == nil || !strings.Contains(err.Error(), "digest configuration") {
		t.Errorf("%v", err)
	}
}

func TestTrials(t *testing.T) {
	c := fullConfig()
	c.Methods = append(c.Methods, Method{Label: "cot"})
	var got []string
	for _, id := range c.Trials() {
		got = append(got, id.String())
	}
	if s := strings.Join(got, " "); s != "anot/a/1 anot/a/2 anot/b/1 anot/b/2 cot/a/1 cot/a/2 cot/b/1 cot/b/2" {
		t.Error(s)
	}
}

// TestRootIsSensitive: to every leaf, their order and number, and to the
// configuration.
func TestRootIsSensitive(t *testing.T) {
	seen := map[string]string{}
	note := func(what, root string) {
		if other, dup := seen[root]; dup {
			t.Errorf("%s and %s have one root", what, other)
		}
		seen[root] = what
	}
	for n := range 9 {
		leaves := make([]string, n)
		for i := range leaves {
			leaves[i] = fmt.Sprint(i)
		}
		note(fmt.Sprint(n, " leaves"), Root("c", leaves))
		note(fmt.Sprint(n, " leaves, other configuration"), Root("d", leaves))
		for i := range leaves {
			leaves[i] = "x"
			note(fmt.Sprint(n, " leaves, changed at ", i), Root("c", leaves))
			leaves[i] = fmt.Sprint(i)
		}
		if n > 1 {
			leaves[0], leaves[n-1] = leaves[n-1], leaves[0]
			note(fmt.Sprint(n, " leaves, swapped"), Root("c", leaves))
		}
	}
	// A leaf that holds the hash of an inner node is no inner node.
	note("inner as leaf", Root("c", []string{merkle([]string{"0", "1"}), "2"}))
}

// TestTrialSeed: what it depends on, and that providers can take it.
func TestTrialSeed(t *testing.T) {
	seen := map[uint64]bool{}
	for run := range uint64(3) {
		for _, taskDigest := range []string{"t", "u"} {
			for _, sample := range []string{"a", "b", "ab"} {
				for epoch := range 4 {
					s := TrialSeed(run, taskDigest, sample, epoch)
					if seen[s] || s>>63 != 0 || s != TrialSeed(run, taskDigest, sample, epoch) {
						t.Errorf("seed %d of %d %s %s %d", s, run, taskDigest, sample, epoch)
					}
					seen[s] = true
				}
			}
		}
	}
	if SeedSeed(1, "k") == SeedSeed(2, "k") || SeedSeed(1, "k") == SeedSeed(1, "l") || SeedSeed(1, "k")>>63 != 0 {
		t.Error("seeds of method seeds")
	}
}

func TestLimitsExceeded(t *testing.T) {
	all := Limits{Calls: 2, Tokens: 100, Cost: 1e9, Time: time.Second}
	for _, c := range []struct {
		limits Limits
		used   methods.Usage
		want   string
	}{
		{Limits{}, methods.Usage{Calls: 1e6, InputTokens: 1e12, Cost: 1e15, Latency: 1e15}, ""},
		{all, methods.Usage{Calls: 1, InputTokens: 50, OutputTokens: 49, Cost: 1e9 - 1, Latency: time.Second - 1}, ""},
		{all, methods.Usage{Calls: 2}, "2 calls"},
		{all, methods.Usage{Calls: 1, ToolCalls: 1}, "2 calls"},
		{all, methods.Usage{InputTokens: 50, OutputTokens: 50}, "100 tokens"},
		{all, methods.Usage{Cost: 1e9}, "$1"},
		{all, methods.Usage{Latency: time.Hour}, "1s of model time"},
		{all, methods.Usage{Calls: 9, Cost: 1e10}, "2 calls"},
	} {
		if got := c.limits.Exceeded(c.used); got != c.want {
			t.Errorf("%+v of %+v: %q, want %q", c.used, c.limits, got, c.want)
		}
	}
}

func TestSamplingApply(t *testing.T) {
	own := methods.Sampling{Temperature: 1, TopP: 0.1, TopK: 2, MaxTokens: 3, Stop: []string{"x"}, Seed: 4}
	if got := (Sampling{}).Apply(own); !reflect.DeepEqual(got, own) {
		t.Errorf("%+v", got)
	}
	want := methods.Sampling{Temperature: 0, TopP: 0.9, TopK: 40, MaxTokens: 100, Stop: []string{"x"}, Seed: 4, Logprobs: 5}
	over := fullConfig().Sampling
	over.Temperature = ptr(0.0)
	if got := over.Apply(own); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
}

func TestUnmarshalRun(t *testing.T) {
	r := &Run{Format: Format, ID: "r", Config: fullConfig(), Status: Finished, Root: "x", Created: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)}
	raw, err := Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	back, err := UnmarshalRun(raw)
	if err != nil || !reflect.DeepEqual(back, r) {
		t.Errorf("%+v, %v", back, err)
	}
	if _, err := UnmarshalRun([]byte(`{"format":99,"id":"r"}`)); err == nil || !strings.Contains(err.Error(), `run "r": format 99 is newer than this noema knows (2): update noema`) {
		t.Errorf("%v", err)
	}
	if _, err := UnmarshalRun([]byte("[]")); err == nil {
		t.Error("a list was decoded as a run")
	}
}

// TestDigests: what tells two responses apart, and what does not.
func TestDigests(t *testing.T) {
	base := methods.Completion{Text: "a", Finish: methods.FinishStop, ToolCalls: []methods.ToolCall{{ID: "1", Name: "n", Arguments: []byte("{}")}}}
	other := []func(*methods.Completion){
		func(c *methods.Completion) { c.Text = "b" },
		func(c *methods.Completion) { c.Finish = methods.FinishLength },
		func(c *methods.Completion) { c.ToolCalls = nil },
		func(c *methods.Completion) {
			c.ToolCalls = []methods.ToolCall{{ID: "2", Name: "n", Arguments: []byte("{}")}}
		},
		func(c *methods.Completion) {
			c.ToolCalls = []methods.ToolCall{{ID: "1", Name: "m", Arguments: []byte("{}")}}
		},
		func(c *methods.Completion) {
			c.ToolCalls = []methods.ToolCall{{ID: "1", Name: "n", Arguments: []byte("}")}}
		},
	}
	for i, change := range other {
		c := base
		change(&c)
		if ResponseDigest(c) == ResponseDigest(base) {
			t.Errorf("change %d does not show", i)
		}
	}
	same := base
	same.Usage, same.Model = methods.Usage{Calls: 1, Cost: 3, CachedTokens: 1, ReasoningTokens: 1}, "m-2026-01-01"
	same.Logprobs = []methods.TokenLogprob{}
	if ResponseDigest(same) != ResponseDigest(base) {
		t.Error("the digest covers what an answer cost")
	}
	if ToolDigest(methods.ToolResult{Content: "x"}) == ToolDigest(methods.ToolResult{Content: "x", IsError: true}) {
		t.Error("an error is no result")
	}
}

// TestDigestsCoverLogprobs: to the last bit, where there are any.
func TestDigestsCoverLogprobs(t *testing.T) {
	base := methods.Completion{Text: "a", Finish: methods.FinishStop}
	seen := map[string]int{ResponseDigest(base): -1}
	top := []methods.TokenLogprob{{Token: "b", Logprob: -1.5}}
	for i, tokens := range [][]methods.TokenLogprob{
		{{Token: "a", Logprob: -0.5}},
		{{Token: "a", Logprob: math.Nextafter(-0.5, 0)}}, // one bit
		{{Token: "a", Logprob: -0.5, Bytes: []byte{0xc3}}},
		{{Token: "a", Logprob: -0.5, Top: top}},
		{{Token: "a", Logprob: -0.5, Top: append(top, top...)}},
		{{Token: "a", Logprob: -0.5}, top[0]},
		{{Token: "ab", Logprob: -0.5}},
	} {
		c := base
		c.Logprobs = tokens
		if other, twice := seen[ResponseDigest(c)]; twice {
			t.Errorf("log probabilities %d and %d have one digest", i, other)
		}
		seen[ResponseDigest(c)] = i
	}
}

// TestAskedTrials: a run that ended early has the first samples of each method, and a
// record that names more than were declared is refused.
func TestAskedTrials(t *testing.T) {
	r := Run{ID: "r", Config: fullConfig(), Asked: []int{2, 1}}
	r.Config.Methods = append(r.Config.Methods, Method{Label: "cot"})
	var got []string
	for _, id := range r.Trials() {
		got = append(got, id.String())
	}
	if s := strings.Join(got, " "); s != "anot/a/1 anot/a/2 anot/b/1 anot/b/2 cot/a/1 cot/a/2" {
		t.Error(s)
	}
	for _, asked := range [][]int{{1}, {3, 0}, {-1, 1}} {
		r.Asked = asked
		raw, err := Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := UnmarshalRun(raw); err == nil || !strings.Contains(err.Error(), "which its configuration cannot be") {
			t.Errorf("%v: %v", asked, err)
		}
	}
}

func TestStudyRecords(t *testing.T) {
	study := &Study{Rule: StudyRule, Cells: []Cell{{Task: "a", Model: "x"}, {Task: "a", Model: "y"}, {Task: "b", Model: "x"}}}
	if got := study.Tasks(); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("tasks %q", got)
	}
	if got := study.Models(); !slices.Equal(got, []string{"x", "y"}) {
		t.Errorf("models %q", got)
	}
	run := Run{Format: StudyFormat, ID: "s", Config: Config{Study: study}, Cells: []string{"r1", "", ""}}
	if err := run.StudyError(); err == nil || !strings.Contains(err.Error(), "r1 (a · x)") {
		t.Errorf("%v", err)
	}
	if err := (&Run{ID: "r"}).StudyError(); err != nil {
		t.Errorf("%v", err)
	}
	raw, err := Marshal(run)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := UnmarshalRun(raw); err != nil || again.Cells[0] != "r1" {
		t.Errorf("%v, %v", again, err)
	}
	run.Cells = run.Cells[:1]
	if raw, err = Marshal(run); err != nil {
		t.Fatal(err)
	}
	if _, err := UnmarshalRun(raw); err == nil || !strings.Contains(err.Error(), "has 1 cells, and its configuration has 3") {
		t.Errorf("%v", err)
	}
}
