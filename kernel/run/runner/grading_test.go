package runner

import (
	"context"
	"strings"
	"sync"
	"testing"

	"noema/kernel/base/score"
	"noema/kernel/model/provider"
	"noema/kernel/model/provider/none"
	"noema/kernel/model/provider/scripted"
	"noema/kernel/result/record"
	"noema/kernel/run/gateway"
	"noema/methods"
)

// grader answers prompts of graders by rules, and keeps them.
type grader struct {
	provider.Provider
	mu      sync.Mutex
	prompts []string
	onPair  func() // before a call about two answers
}

func (g *grader) Complete(ctx context.Context, r methods.Request) (methods.Completion, error) {
	g.mu.Lock()
	g.prompts = append(g.prompts, r.Messages[0].Content)
	g.mu.Unlock()
	if g.onPair != nil && strings.Contains(r.Messages[0].Content, "You compare two") {
		g.onPair()
	}
	return g.Provider.Complete(ctx, r)
}

// newGrader finds answers right that hold one text, gives no verdict on those that hold
// another, and finds the rest wrong. Each call costs a cent.
func newGrader(t *testing.T, model, right, unsure string) *grader {
	t.Helper()
	cent := &scripted.Usage{InputTokens: 10, OutputTokens: 1, CostUSD: 0.01}
	p, err := scripted.New(scripted.Script{Model: model, Rules: []scripted.Rule{
		{Match: right, Reply: "It agrees.\nAnswer: CORRECT", Usage: cent}, {Match: unsure, Reply: "Answer: CORRECT\nAnswer: INCORRECT", Usage: cent},
	}, Default: &scripted.Rule{Reply: "No.\nAnswer: INCORRECT", Usage: cent}})
	if err != nil {
		t.Fatal(err)
	}
	return &grader{Provider: p}
}

// gradedSetup has a method that says "good", one that says what the sample's id tells,
// and graders.
func gradedSetup(t *testing.T, scorer string, graders ...provider.Provider) Setup {
	t.Helper()
	say := func(label string, answer func(p methods.Problem) string) Method {
		return Method{Label: label, Description: methods.Description{Name: label, Version: "1", Answers: []methods.AnswerKind{methods.Text}},
			Solver: solver(func(_ context.Context, p methods.Problem, _ methods.Host) (methods.Answer, error) {
				if text := answer(p); text != "" {
					return methods.TextAnswer(text), nil
				}
				return methods.Answer{Outcome: methods.Unparsed, Reason: "no answer"}, nil
			})}
	}
	made := sampleTask(methods.AnswerSpec{Kind: methods.Text}, `"the reference"`, "good", "bad", "unsure", "mute")
	var err error
	if made.Scorer, err = score.Choose([]string{scorer}); err != nil {
		t.Fatal(err)
	}
	return Setup{
		Task: made, Graders: graders, Provider: simModel(t, ""),
		Methods: []Method{
			say("secretname", func(methods.Problem) string { return "this is good" }),
			say("other", func(p methods.Problem) string {
				if p.Query == "query mute" {
					return ""
				}
				return "this is " + strings.TrimPrefix(p.Query, "query ")
			}),
		},
	}
}

// TestGrading: verdicts come from recorded calls that are charged apart, are asked for
// once, never name the method, and are replayed to the same root hash.
func TestGrading(t *testing.T) {
	store, by := openStore(t, t.TempDir()), newGrader(t, "one", "is good", "is unsure")
	e := gradedSetup(t, "graded?model=one&rubric=the rubric", by)
	e.Epochs = 2
	r := mustRun(t, e, store)
	want := map[string]string{"secretname/good": "1", "secretname/mute": "1", "other/good": "1", "other/bad": "0", "other/unsure": "none", "other/mute": "0"}
	for _, tr := range r.Trials {
		got := "none"
		if v, ok := tr.Score.Get(score.Graded); ok {
			got = map[float64]string{0: "0", 1: "1"}[v]
		}
		name := tr.ID.Method + "/" + tr.ID.Sample
		if w, asked := want[name]; asked && got != w {
			t.Errorf("%s: graded %s, want %s", name, got, w)
		}
		if tr.Usage.Cost != 0 || (tr.Facts().Grading.Cost == 0) != (name == "other/mute") {
			t.Errorf("%s: the method is charged %v and its grading %v", name, tr.Usage.Cost, tr.Facts().Grading.Cost)
		}
		if (tr.Ungraded != "") != (name == "other/unsure") {
			t.Errorf("%s: ungraded %q", name, tr.Ungraded)
		}
	}
	// Four answers of one method, two further ones of the other, and a second try for
	// the one without a verdict.
	if len(by.prompts) != 7 {
		t.Errorf("%d prompts, want 7", len(by.prompts))
	}
	for _, p := range by.prompts {
		if strings.Contains(p, "secretname") || !strings.Contains(p, "query ") || !strings.Contains(p, "the reference") || !strings.Contains(p, "the rubric") || !strings.Contains(p, "this is") {
			t.Errorf("a prompt names the method or lacks a part:\n%s", p)
		}
	}
	again, err := Replay{Run: r.Run, Methods: e.Methods, Provider: none.New(e.Provider.Info())}.Do(t.Context(), store, Quiet{})
	if err != nil || !again.Same() {
		t.Errorf("replay: %v, %+v", err, again)
	}
	warm := mustRun(t, e, store)
	if warm.Run.Root != r.Run.Root || warm.NewCalls != 0 || len(by.prompts) != 7 {
		t.Errorf("warm: root %.8s not %.8s, %d calls, %d prompts", warm.Run.Root, r.Run.Root, warm.NewCalls, len(by.prompts))
	}
}

// TestGradingVotes: the majority decides, and a tie is no verdict.
func TestGradingVotes(t *testing.T) {
	kind, strict, mixed := newGrader(t, "kind", "is", "never"), newGrader(t, "strict", "never", "nothing"), newGrader(t, "mixed", "is good", "is unsure")
	for _, c := range []struct {
		scorer  string
		graders []provider.Provider
		want    map[string]float64 // of the samples with a verdict
	}{
		{"graded?model=kind,strict,mixed", []provider.Provider{kind, strict, mixed}, map[string]float64{"good": 1, "bad": 0}}, // unsure: one to one
		{"graded?model=kind&model=mixed", []provider.Provider{kind, mixed}, map[string]float64{"good": 1, "unsure": 1}},
	} {
		r := mustRun(t, gradedSetup(t, c.scorer, c.graders...), openStore(t, t.TempDir()))
		for _, tr := range r.Trials {
			if tr.ID.Method != "other" || tr.ID.Sample == "mute" {
				continue
			}
			got, has := tr.Score.Get(score.Graded)
			if w, should := c.want[tr.ID.Sample]; has != should || got != w {
				t.Errorf("%s: %s: graded %v (%v), want %v (%v)", c.scorer, tr.ID.Sample, got, has, w, should)
			}
		}
	}
}

// TestGradingRefused: a model does not grade itself unless told to, and the run's limit
// covers what graders cost.
func TestGradingRefused(t *testing.T) {
	by := newGrader(t, "one", "is good", "is unsure")
	self := gradedSetup(t, "graded?model=one", by)
	self.Provider = by.Provider
	if _, err := self.Run(t.Context(), openStore(t, t.TempDir()), Quiet{}); !IsMisuse(err) || !strings.Contains(err.Error(), "grade its own answers") {
		t.Errorf("its own grader: %v", err)
	}
	forced := gradedSetup(t, "graded?model=one&self=true", by)
	forced.Provider = by.Provider
	mustRun(t, forced, openStore(t, t.TempDir()))

	limited := gradedSetup(t, "graded?model=one", by)
	limited.RunCostLimit, limited.MaxSamples = 0.02, 1
	r, err := limited.Run(t.Context(), openStore(t, t.TempDir()), Quiet{})
	if gateway.LimitOf(err) == "" || r.Run.Status == record.Finished {
		t.Errorf("a limit of two cents with graders for a cent each: %v", err)
	}
}

// TestGraderFails: a grader that fails, and an answer that is too long for it, are no
// verdict against the method, and the failure is replayed.
func TestGraderFails(t *testing.T) {
	p, err := scripted.New(scripted.Script{Model: "one", Rules: []scripted.Rule{
		{Match: "is good", Error: &scripted.Fault{Kind: string(provider.Rejected), Message: "no"}},
	}, Default: &scripted.Rule{Reply: "Answer: CORRECT"}})
	if err != nil {
		t.Fatal(err)
	}
	store, e := openStore(t, t.TempDir()), gradedSetup(t, "graded?model=one", p)
	e.Task.Samples = e.Task.Samples[:2]
	e.Methods = append(e.Methods, Method{Label: "long", Description: methods.Description{Name: "long", Version: "1", Answers: []methods.AnswerKind{methods.Text}},
		Solver: solver(func(context.Context, methods.Problem, methods.Host) (methods.Answer, error) {
			return methods.TextAnswer(strings.Repeat("x", maxGraded)), nil
		})})
	r := mustRun(t, e, store)
	for _, tr := range r.Trials {
		_, has := tr.Score.Get(score.Graded)
		if fine := tr.ID.Method == "other" && tr.ID.Sample == "bad"; has != fine || (tr.Ungraded == "") != fine || tr.Failure != "" || tr.Infra {
			t.Errorf("%s: graded %v, ungraded %q, failure %q", tr.ID, has, tr.Ungraded, tr.Failure)
		}
	}
	again, err := Replay{Run: r.Run, Methods: e.Methods, Provider: none.New(e.Provider.Info())}.Do(t.Context(), store, Quiet{})
	if err != nil || !again.Same() {
		t.Errorf("replay: %v, %+v", err, again)
	}
}

// TestGradingEstimated: a dry run tells what grading will ask, and changes nothing.
func TestGradingEstimated(t *testing.T) {
	by, store := newGrader(t, "one", "is good", "is unsure"), openStore(t, t.TempDir())
	e := gradedSetup(t, "graded?model=one", by)
	e.Methods = e.Methods[:1]
	plain := e
	without := *e.Task
	without.Scorer = score.Scoring{}
	plain.Task, plain.Graders = &without, nil
	mustRun(t, plain, store)
	first, err := e.DryRun(t.Context(), store, Quiet{})
	if err != nil || first.Methods[0].Free != 0 || *first.Methods[0].Calls != 4 || first.Methods[0].Cost != nil {
		t.Errorf("from trials that were not graded: %+v (%v)", first, err)
	}
	mustRun(t, e, store)
	whole, err := e.DryRun(t.Context(), store, Quiet{})
	if err != nil || whole.Missing() {
		t.Errorf("after the run: %+v (%v)", whole, err)
	}
	other := gradedSetup(t, "graded?model=one&rubric=another", by)
	other.Methods = other.Methods[:1]
	again, err := other.DryRun(t.Context(), store, Quiet{})
	if err != nil || *again.Methods[0].Calls != 4 || again.Methods[0].Cost == nil || *again.Methods[0].Cost != 0.04 {
		t.Errorf("by another rubric: %+v (%v)", again.Methods[0], err)
	}
}

// likes prefers what a text is in, wherever it stands; and the first answer where it is
// in neither.
func likes(t *testing.T, model, text string) *grader {
	t.Helper()
	p, err := scripted.New(scripted.Script{Model: model, Rules: []scripted.Rule{
		{Match: "You grade", Reply: "Answer: CORRECT"},
		{Regex: `(?s)<first \w+>\n[^<]*` + text, Reply: "Answer: FIRST"}, {Regex: `(?s)<second \w+>\n[^<]*` + text, Reply: "Answer: SECOND"},
		{Match: "unsure", Reply: "Answer: FIRST\nAnswer: TIE"},
	}, Default: &scripted.Rule{Reply: "Answer: FIRST"}})
	if err != nil {
		t.Fatal(err)
	}
	return &grader{Provider: p}
}

// TestPairwise: two answers are compared in both orders and without names; where the
// order decides it is a tie; equal answers and missing ones cost nothing; all is
// recorded, hashed and replayed, and what an interrupted run lacks is asked for later.
func TestPairwise(t *testing.T) {
	store, by := openStore(t, t.TempDir()), likes(t, "one", "is bad")
	e := gradedSetup(t, "graded?model=one&pairwise", by)
	r := mustRun(t, e, store)
	want := map[string]record.Preference{
		"good": {}, // the same answer
		"bad":  {Side: 1, Asked: 1}, "unsure": {Unread: "x"}, "mute": {Side: -1},
	}
	for _, tr := range r.Trials {
		if tr.ID.Method == "secretname" {
			if tr.Pairs != nil {
				t.Errorf("%s: the first of two methods has preferences", tr.ID)
			}
			continue
		}
		w := want[tr.ID.Sample]
		w.Against = "secretname"
		if len(tr.Pairs) != 1 {
			t.Fatalf("%s: %d preferences", tr.ID, len(tr.Pairs))
		}
		got := tr.Pairs[0]
		if (got.Unread != "") != (w.Unread != "") || got.Side != w.Side || got.Asked != w.Asked || got.Swayed != w.Swayed || got.Against != w.Against {
			t.Errorf("%s: %+v, want %+v", tr.ID, got, w)
		}
	}
	for _, p := range by.prompts {
		if strings.Contains(p, "secretname") || strings.Contains(p, "other") {
			t.Errorf("a prompt names a method:\n%s", p)
		}
	}
	again, err := Replay{Run: r.Run, Methods: e.Methods, Provider: none.New(e.Provider.Info())}.Do(t.Context(), store, Quiet{})
	if err != nil || !again.Same() {
		t.Errorf("replay: %v, %+v", err, again)
	}
	asked := len(by.prompts)
	if warm := mustRun(t, e, store); warm.Run.Root != r.Run.Root || len(by.prompts) != asked {
		t.Errorf("warm: root %.8s not %.8s, %d prompts not %d", warm.Run.Root, r.Run.Root, len(by.prompts), asked)
	}

	swayed := mustRun(t, gradedSetup(t, "graded?model=two&pairwise", likes(t, "two", "nothing")), store)
	for _, tr := range swayed.Trials {
		if tr.ID.String() == "other/bad/1" && (tr.Pairs[0].Side != 0 || tr.Pairs[0].Swayed != 1) {
			t.Errorf("a grader that always prefers the first: %+v", tr.Pairs[0])
		}
	}
	if swayed.Run.Root == r.Run.Root {
		t.Error("preferences are not in the root hash")
	}

	e = gradedSetup(t, "graded?model=three&pairwise", likes(t, "three", "is bad"))
	x, cancel := context.WithCancelCause(t.Context())
	e.Graders[0].(*grader).onPair = func() { cancel(context.Canceled) }
	part, _ := e.Run(x, store, Quiet{})
	if part == nil || part.Run.Status == record.Finished {
		t.Fatal("it was not interrupted")
	}
	e.Graders[0].(*grader).onPair = nil
	whole := mustRun(t, e, store)
	if whole.Run.ID != part.Run.ID || whole.Run.Status != record.Finished {
		t.Errorf("run %s is not gone on with: %s %s", part.Run.ID, whole.Run.ID, whole.Run.Status)
	}
}
