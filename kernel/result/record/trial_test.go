package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"noema/kernel/base/score"
	"noema/methods"
)

// fullTrial has something in every field.
func fullTrial() *Trial {
	return &Trial{
		ID:   TrialID{Method: "anot?builder=compiled", Sample: "G01-1", Epoch: 2},
		Seed: 7,
		Transcript: &Transcript{
			Calls: []Call{
				{Path: "P1", Kind: CompletionCall, Key: "aa", Digest: "d1", Usage: methods.Usage{Calls: 1}},
				{Path: "P3/c2", Kind: CompletionCall, Key: "bb", Draw: 1, Digest: "d2", Attempts: 2},
				{Path: "P3/c10", Kind: ToolCall, Key: "cc", Digest: "d3"},
				{Path: "P3/c10", Kind: CompletionCall, Key: "dd", Fault: BudgetFault, Error: "no more"},
				{Path: "seed/formula", Kind: SeedCall, Key: "ee", Digest: "d4"},
			},
			Events: []methods.Event{
				{Path: "P1", Phase: "P1", Kind: methods.PhaseStart, Text: "begin", Level: 1},
				{Path: "P3/c2", Phase: "P3", Kind: methods.StepResult, Text: "yes", Data: json.RawMessage(`{"output": "<b>"}`), Level: 2},
				{Path: "P3/c2", Phase: "P3", Kind: methods.StepStart, Text: "step"},
			},
		},
		Answer: methods.Answer{
			Value: json.RawMessage(`[3, 1]`), Outcome: methods.Defaulted, Reason: "none better",
			Evidence: []methods.Evidence{{Source: "P3/c2", Text: "yes"}, {Source: "P3/c10", Text: "no"}},
		},
		Target:  json.RawMessage(`[3]`),
		Score:   score.Score{Values: map[string]float64{"hits@1": 1, "mrr": 0.5}},
		Usage:   methods.Usage{Calls: 3},
		Started: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC),
		Wall:    time.Second,
	}
}

func seal(t testing.TB, tr *Trial) *Trial {
	t.Helper()
	if err := tr.Seal(); err != nil {
		t.Fatal(err)
	}
	return tr
}

// stored is a trial as it comes back from the store.
func stored(t testing.TB, tr *Trial) *Trial {
	t.Helper()
	raw, err := Marshal(tr)
	if err != nil {
		t.Fatal(err)
	}
	back, err := UnmarshalTrial(raw)
	if err != nil {
		t.Fatal(err)
	}
	return back
}

// TestGoldenHashes: these must never change by accident, because recorded
// runs are replayed against them. Whoever changes what a hash covers gives its
// domain a new number.
func TestGoldenHashes(t *testing.T) {
	infra := fullTrial()
	infra.Infra = true
	config := fullConfig()
	config.Sampling.Logprobs = nil // as it was before there were any
	config.Methods[0].Data = ""    // and before tasks said what methods work on
	config.Design = nil            // and before runs could end early
	config.Graders = nil           // or models graded
	config.TextRules = 0           // and by the first rules for texts
	config.Reading = 0             // and for replies
	config.Model.Thoughts = ""     // without marks of thoughts
	config.Baseline = ""           // and baselines were declared
	usual, err := config.Digest()
	if err != nil {
		t.Fatal(err)
	}
	sure := methods.Completion{Text: "t", Logprobs: []methods.TokenLogprob{
		{Token: "t", Logprob: -0.5, Top: []methods.TokenLogprob{{Token: "u", Bytes: []byte{0xff}, Logprob: -1}}},
	}}
	for name, c := range map[string]struct{ got, want string }{
		"trial":        {seal(t, fullTrial()).Hash, "0b6eb5144cee3e93bb8c460daffc9a12d53fefc3ea6a3ad65f88aae529fc91a9"},
		"infra trial":  {seal(t, infra).Hash, "8feb12e42a815d354c912c5deee0007f8a405c05e344d3527094642741b9831f"},
		"empty trial":  {seal(t, &Trial{Transcript: &Transcript{}}).Hash, "24b8def845ba765078cabb7ce33e284775ea01a9baa30c1d4b584aa39fe69a44"},
		"config":       {usual, "dc9d88d76e7a585d4a19f3f16e484ab9d9eeddb1c3f3a2529f9d45034f7ef4aa"},
		"root":         {Root("c", []string{"1", "2", "3"}), "f8b7fefc9a9d11a3a486b0843cb0f9731b8e4a8f6f46a539bbb2bf87b69293ba"},
		"root of none": {Root("c", nil), "7f810215f9767a6f5c3ee2e414991c693186a1edb2baf20782125034f3c2dda2"},
		"completion":   {ResponseDigest(methods.Completion{Text: "t", Finish: "stop", ToolCalls: []methods.ToolCall{{ID: "1", Name: "n", Arguments: []byte("{}")}}}), "bd7f48331713990df170c9b353b33c963b9fa7560a8d39cdb6a39525ac800345"},
		"logprobs":     {ResponseDigest(sure), "aee12aaed916dd808d64ac0daaff696aa71e5bfdab10f5401c87ad5337228821"},
		"tool result":  {ToolDigest(methods.ToolResult{Content: "c", IsError: true}), "5bba38e2b9de96b0f7606869e042b60ad4ad33b932d2659c211f2f8e146c4cf9"},
		"method seed":  {BytesDigest([]byte("b")), "1bb4093831d1c091feebf322a1eb8e495123bbe888a23162ff45b67261eb90f5"},
		"trial's seed": {fmt.Sprint(TrialSeed(1, "task", "sample", 2)), "620338781459830419"},
		"seed's seed":  {fmt.Sprint(SeedSeed(1, "key")), "1416881585224177718"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %s, want %s", name, c.got, c.want)
		}
	}
}

// TestHashIgnoresOrder: nor does what was sealed before.
func TestHashIgnoresOrder(t *testing.T) {
	want := seal(t, fullTrial())
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		tr := fullTrial()
		rng.Shuffle(len(tr.Calls), func(i, j int) { tr.Calls[i], tr.Calls[j] = tr.Calls[j], tr.Calls[i] })
		rng.Shuffle(len(tr.Events), func(i, j int) { tr.Events[i], tr.Events[j] = tr.Events[j], tr.Events[i] })
		if seal(t, tr).Hash != want.Hash || !reflect.DeepEqual(tr.Calls, want.Calls) {
			t.Fatalf("order shows: %+v", tr)
		}
		if seal(t, tr).Hash != want.Hash {
			t.Fatal("sealing twice changes the hash")
		}
	}
	paths := []string{}
	for _, c := range want.Calls {
		paths = append(paths, c.Path)
	}
	if got := strings.Join(paths, " "); got != "P1 P3/c2 P3/c10 P3/c10 seed/formula" {
		t.Errorf("canonical order %s", got)
	}
}

// TestStoredTrialIsTheSame: what a trial looks like does not depend on
// whether it went through the store.
func TestStoredTrialIsTheSame(t *testing.T) {
	for _, tr := range []*Trial{fullTrial(), {Target: json.RawMessage("1"), Transcript: &Transcript{Events: []methods.Event{{Data: json.RawMessage("null")}, {Data: json.RawMessage{}}}}}} {
		now := seal(t, tr)
		back := stored(t, now)
		if !reflect.DeepEqual(back, now) {
			t.Errorf("\n got %+v\nwant %+v", back, now)
		}
		if hash := back.Hash; seal(t, back).Hash != hash {
			t.Error("a stored trial has another hash")
		}
	}
	if _, err := UnmarshalTrial([]byte("{")); err == nil {
		t.Error("half a trial was decoded")
	}
}

// TestHashCovers names everything that a hash covers, and what it must not.
func TestHashCovers(t *testing.T) {
	base := seal(t, fullTrial()).Hash
	for name, change := range map[string]func(*Trial){
		"method":           func(t *Trial) { t.ID.Method = "cot" },
		"sample":           func(t *Trial) { t.ID.Sample = "G01-2" },
		"epoch":            func(t *Trial) { t.ID.Epoch = 0 },
		"seed":             func(t *Trial) { t.Seed++ },
		"infra":            func(t *Trial) { t.Infra = true },
		"path":             func(t *Trial) { t.Calls[0].Path = "P2" },
		"kind":             func(t *Trial) { t.Calls[0].Kind = ToolCall },
		"key":              func(t *Trial) { t.Calls[0].Key = "ab" },
		"draw":             func(t *Trial) { t.Calls[0].Draw++ },
		"digest":           func(t *Trial) { t.Calls[0].Digest = "d" },
		"fault":            func(t *Trial) { t.Calls[3].Fault = ProviderFault },
		"a call less":      func(t *Trial) { t.Calls = t.Calls[1:] },
		"a call twice":     func(t *Trial) { t.Calls = append(t.Calls, t.Calls[0]) },
		"event path":       func(t *Trial) { t.Events[0].Path = "P2" },
		"event phase":      func(t *Trial) { t.Events[0].Phase = "P2" },
		"event kind":       func(t *Trial) { t.Events[0].Kind = methods.PhaseEnd },
		"event text":       func(t *Trial) { t.Events[0].Text = "end" },
		"event data":       func(t *Trial) { t.Events[0].Data = json.RawMessage("1") },
		"event level":      func(t *Trial) { t.Events[0].Level = 3 },
		"an event less":    func(t *Trial) { t.Events = t.Events[1:] },
		"value":            func(t *Trial) { t.Answer.Value = json.RawMessage("[1,3]") },
		"no value":         func(t *Trial) { t.Answer.Value = nil },
		"outcome":          func(t *Trial) { t.Answer.Outcome = methods.Answered },
		"reason":           func(t *Trial) { t.Answer.Reason = "" },
		"evidence source":  func(t *Trial) { t.Answer.Evidence[0].Source = "x" },
		"evidence text":    func(t *Trial) { t.Answer.Evidence[0].Text = "x" },
		"evidence order":   func(t *Trial) { slices.Reverse(t.Answer.Evidence) },
		"score":            func(t *Trial) { t.Score.Values["mrr"] = 0.25 },
		"a grader's call":  func(t *Trial) { t.Grading = []Call{{Path: "grade/1", Key: "aa", Digest: "d"}} },
		"a score less":     func(t *Trial) { delete(t.Score.Values, "mrr") },
		"a score's name":   func(t *Trial) { t.Score.Values["other"] = 0 },
		"text to key edge": func(t *Trial) { t.Calls[0].Path, t.Calls[0].Key = "P1a", "a" },
	} {
		tr := fullTrial()
		change(tr)
		if seal(t, tr).Hash == base {
			t.Errorf("the hash does not cover: %s", name)
		}
	}
	for name, change := range map[string]func(*Trial){
		"started":       func(t *Trial) { t.Started = time.Now() },
		"wall":          func(t *Trial) { t.Wall = time.Hour },
		"attempts":      func(t *Trial) { t.Calls[0].Attempts = 5 },
		"error text":    func(t *Trial) { t.Calls[3].Error = "at port 4711" },
		"failure text":  func(t *Trial) { t.Failure = "at 0xc000123" },
		"new calls":     func(t *Trial) { t.Provider = 3 },
		"usage":         func(t *Trial) { t.Usage.Latency++ },
		"call's usage":  func(t *Trial) { t.Calls[0].Usage.Latency++ },
		"target":        func(t *Trial) { t.Target = nil }, // follows from the task's digest and the seed
		"given scores":  func(t *Trial) { t.Score.Given = map[string]float64{"mrr": 1} },
		"space in JSON": func(t *Trial) { t.Answer.Value = json.RawMessage("[3,1]") },
		"null for none": func(t *Trial) { t.Events[0].Data = json.RawMessage(" null ") },
	} {
		tr := fullTrial()
		change(tr)
		if seal(t, tr).Hash != base {
			t.Errorf("the hash covers: %s", name)
		}
	}
}

// TestInfraHash: of a trial that failed without its method's fault only the
// fact counts, because how far it came is chance.
func TestInfraHash(t *testing.T) {
	a, b := fullTrial(), fullTrial()
	a.Infra, b.Infra = true, true
	b.Calls, b.Events, b.Failure = nil, nil, "crashed elsewhere"
	b.Answer, b.Score = methods.Answer{Outcome: methods.Failed}, score.Score{}
	if seal(t, a).Hash != seal(t, b).Hash {
		t.Error("two crashes differ")
	}
	b.Seed++
	if seal(t, b).Hash == a.Hash {
		t.Error("crashes of two trials are one")
	}
}

func TestUnhashable(t *testing.T) {
	tr := fullTrial()
	tr.Events[0].Data = json.RawMessage("{")
	var syntax *json.MarshalerError
	if err := tr.Seal(); !errors.As(err, &syntax) || !strings.Contains(err.Error(), `anot?builder=compiled/G01-1/3: event at "P1"`) {
		t.Errorf("%v", err)
	}
}

func TestComparePaths(t *testing.T) {
	sorted := []string{"", "/", "0", "00", "1", "1/2", "01", "2", "10", "P", "P/", "P1", "P1/i2", "P1/i9", "P1/i10", "P1/i10a", "P2", "P10", "p1", "é"}
	for i, a := range sorted {
		for j, b := range sorted {
			if got, want := ComparePaths(a, b), sign(i-j); got != want {
				t.Errorf("%q to %q: %d, want %d", a, b, got, want)
			}
		}
	}
}

func sign(n int) int {
	switch {
	case n < 0:
		return -1
	case n > 0:
		return 1
	}
	return 0
}

// FuzzComparePaths: the order is total, and only equal paths are equal.
func FuzzComparePaths(f *testing.F) {
	f.Add("P2/i9", "P2/i10", "P2/i09")
	f.Add("", "0", "00")
	f.Add("99999999999999999999999", "099999999999999999999999", "1")
	f.Add("a1b", "a01", "a1\xff")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		ab, bc, ac := ComparePaths(a, b), ComparePaths(b, c), ComparePaths(a, c)
		if ab != -ComparePaths(b, a) || (ab == 0) != (a == b) {
			t.Errorf("%q, %q: %d and %d", a, b, ab, ComparePaths(b, a))
		}
		if ab <= 0 && bc <= 0 && ac > 0 || ab >= 0 && bc >= 0 && ac < 0 {
			t.Errorf("%q, %q, %q: %d, %d, but %d", a, b, c, ab, bc, ac)
		}
	})
}

func TestDepth(t *testing.T) {
	for raw, want := range map[string]int{
		"": 0, "1": 0, `"[["`: 0, `"\\"`: 0, `["\"[["]`: 1, "[]": 1, `{"a":[1,{"b":2}],"c":[]}`: 3, "[[[": 3,
	} {
		if got := Depth(json.RawMessage(raw)); got != want {
			t.Errorf("%s: %d, want %d", raw, got, want)
		}
	}
}

// TestDeepDataIsText: what is too deep to be read within a record is kept as a
// text, and stays that text when it is read.
func TestDeepDataIsText(t *testing.T) {
	for depth, text := range map[int]bool{MaxDepth: false, MaxDepth + 1: true} {
		raw := json.RawMessage(strings.Repeat("[", depth) + strings.Repeat("]", depth))
		got := canonical(raw)
		if isText := got[0] == '"'; isText != text || string(canonical(got)) != string(got) {
			t.Errorf("depth %d: %.20s", depth, got)
		}
	}
}

// TestRecordsAreUTF8: readers other than Go's refuse a whole record for one byte.
func TestRecordsAreUTF8(t *testing.T) {
	tr := fullTrial()
	tr.Answer.Value = json.RawMessage("\"\xff\"")
	tr.Events[0].Data = json.RawMessage("{\"\xfe\": 1}")
	hash := seal(t, tr).Hash
	raw, err := Marshal(tr)
	if err != nil || !utf8.Valid(raw) {
		t.Errorf("%q, %v", raw, err)
	}
	again, err := UnmarshalTrial(raw)
	if err != nil {
		t.Fatal(err)
	}
	if seal(t, again).Hash != hash {
		t.Error("read again, the trial has another hash")
	}
}

func TestCauseKey(t *testing.T) {
	if CauseKey(methods.Unparsed, `no label in "yes, 12" of reply 3`) != CauseKey(methods.Unparsed, `no label in "no" of reply 44`) {
		t.Error("numbers and quoted words tell causes apart")
	}
	if CauseKey(methods.Unparsed, "x") == CauseKey(methods.Refused, "x") || CauseKey(methods.Unparsed, "x") == CauseKey(methods.Unparsed, "y") {
		t.Error("two causes are one")
	}
}

// TestDepthOfAnyText holds the depth to a walk byte by byte, over texts of what it looks for.
func TestDepthOfAnyText(t *testing.T) {
	walk := func(raw string) (deepest int) {
		depth, inText := 0, false
		for i := 0; i < len(raw); i++ {
			switch c := raw[i]; {
			case inText && c == '\\':
				i++
			case c == '"':
				inText = !inText
			case inText:
			case c == '[', c == '{':
				depth++
				deepest = max(deepest, depth)
			case c == ']', c == '}':
				depth--
			}
		}
		return deepest
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		raw := make([]byte, rng.IntN(16))
		for i := range raw {
			raw[i] = `"\[]{}a`[rng.IntN(7)]
		}
		if got, want := Depth(raw), walk(string(raw)); got != want {
			t.Fatalf("depth of %s is %d, want %d", raw, got, want)
		}
	}
}
