// Package record is the lasting form of what happened: the transcript of each
// trial, the run that they belong to, and the hashes that prove two
// executions equal. A trial's hash covers what it asked, what it was told,
// what it concluded and how that scored; the root hash of a run covers all
// its trials and its whole configuration. Neither covers wall-clock times,
// machines or the order in which things happened to arrive.
package record

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"noema/kernel/base/score"
	"noema/methods"
)

// TrialID names a trial within its run.
type TrialID struct {
	Method string `json:"method"` // the method's label, such as "anot?builder=compiled"
	Sample string `json:"sample"`
	Epoch  int    `json:"epoch"` // from 0
}

// String is the id as it is shown and stored: method/sample/epoch, with the
// epoch from 1 as people count.
func (id TrialID) String() string { return fmt.Sprintf("%s/%s/%d", id.Method, id.Sample, id.Epoch+1) }

// CallKind says what a call was for.
type CallKind string

// The kinds of call.
const (
	CompletionCall CallKind = "complete"
	ToolCall       CallKind = "tool"
	SeedCall       CallKind = "seed"
)

// Fault says why a call brought no result. It is a class, not a message,
// because messages may name ports and times.
type Fault string

// The faults.
const (
	BudgetFault   Fault = "budget"   // refused: a limit of the trial was reached
	MissFault     Fault = "miss"     // not recorded, in a replay
	ProviderFault Fault = "provider" // the provider failed for good
	LengthFault   Fault = "length"   // the provider's model cannot take a prompt so long
	ToolFault     Fault = "tool"     // the environment failed
	BuildFault    Fault = "build"    // the method could not build its seed
	CancelFault   Fault = "cancel"   // the caller no longer wanted it
)

// Call is one call of a trial.
type Call struct {
	Path   string        `json:"path"`
	Kind   CallKind      `json:"kind"`
	Key    string        `json:"key"` // of the record in the store, in hex
	Draw   int           `json:"draw"`
	Digest string        `json:"digest,omitempty"` // of the response, in hex; empty after a fault
	Fault  Fault         `json:"fault,omitempty"`
	Usage  methods.Usage `json:"usage"` // as recorded when the call was made

	// What follows is for people and not hashed.

	// Unordered says that an equal call of the trial was under way, and that chance
	// decided which of them came first; see methods.Request.
	Unordered bool   `json:"unordered,omitempty"`
	Attempts  int    `json:"attempts,omitempty"` // failed attempts before the result; the store has their details
	Error     string `json:"error,omitempty"`    // the message behind Fault
	Miscount  string `json:"miscount,omitempty"` // token counts that were refused, as in "openai reports -5 input tokens": Usage is without them
	// Timing is of the execution that made the record. It is zero in records of before it
	// was kept.
	Timing

	// Missing is why an answer is not recorded. It depends on what the store of a replay
	// holds, and is not kept: the record would be another one elsewhere.
	Missing string `json:"-"`
}

// Transcript is what a trial did.
type Transcript struct {
	Calls  []Call          `json:"calls"`
	Events []methods.Event `json:"events"`
}

// Trial is a finished trial.
type Trial struct {
	ID   TrialID `json:"id"`
	Seed uint64  `json:"seed"`
	// Transcript is nil in a trial that was read for tables alone; see Light.
	*Transcript
	Answer methods.Answer  `json:"answer"`
	Target json.RawMessage `json:"target"` // as presented, so after a shuffle; nil or null if it is not known
	Score  score.Score     `json:"score"`
	Usage  methods.Usage   `json:"usage"` // the sum over Calls
	// Grading are the calls of the models that graded the answer. They are not part
	// of Usage, because the method did not make them.
	Grading  []Call        `json:"grading,omitempty"`
	Ungraded string        `json:"ungraded,omitempty"` // why the graders gave no verdict; for people, not hashed
	Pairs    []Preference  `json:"pairs,omitempty"`    // with the answers of the methods before this one; see [Preference]
	Failure  string        `json:"failure,omitempty"`
	Printed  string        `json:"printed,omitempty"` // the end of what its plugin printed meanwhile; for people, not hashed
	Infra    bool          `json:"infra,omitempty"`   // the failure was not the method's: plugin, provider or time
	Started  time.Time     `json:"started"`
	Wall     time.Duration `json:"wall"`      // of this execution; not hashed
	Hash     string        `json:"hash"`      // see Seal
	Provider int           `json:"new_calls"` // calls of this execution that reached the provider; not hashed

	facts *Facts // of a light trial
}

// Facts are what tables say of a trial's calls and events.
type Facts struct {
	Calls       int
	Answered    bool          // one of them brought a result
	Retried     int           // that needed more than one attempt
	Completions []string      // of each answered model call what [Used] makes of it
	Miscounts   []Call        // whose token counts were refused
	Unordered   bool          // chance decided the order of equal calls
	Repaired    bool          // the answer was read from another form than the one asked for
	Cut         int           // replies that were cut at the token limit
	Grading     methods.Usage // of the graders, which is not the method's
}

// Used identifies an answered call by its key, the first 16 bytes, and its answer, the
// others. It stands for both in a fifth of the memory.
func Used(key, digest string) string {
	k, d := sha256.Sum256([]byte(key)), sha256.Sum256([]byte(digest))
	return string(append(k[:16], d[:16]...))
}

// Facts returns what tables say of the trial's calls and events.
func (t *Trial) Facts() Facts {
	if t.facts != nil {
		return *t.facts
	}
	f := Facts{Calls: len(t.Calls)}
	for _, c := range t.Grading {
		f.Grading = f.Grading.Plus(c.Usage)
	}
	f.Repaired = slices.ContainsFunc(t.Events, func(e methods.Event) bool { return e.Kind == methods.AnswerRepaired })
	for _, e := range t.Events {
		if e.Kind == methods.ReplyCut {
			f.Cut++
		}
	}
	for _, c := range t.Calls {
		f.Answered = f.Answered || c.Digest != ""
		if c.Attempts > 0 {
			f.Retried++
		}
		f.Unordered = f.Unordered || c.Unordered
		if c.Kind == CompletionCall && c.Fault == "" {
			f.Completions = append(f.Completions, Used(c.Key, c.Digest))
		}
		if c.Miscount != "" {
			f.Miscounts = append(f.Miscounts, c)
		}
	}
	return f
}

// Light returns the trial with its facts in the place of its transcript, which takes a
// tenth of the memory: tables are made of it.
func (t *Trial) Light() *Trial {
	if t.facts != nil {
		return t
	}
	return t.With(t.Facts())
}

// With returns a light trial with these facts.
func (t *Trial) With(facts Facts) *Trial {
	light := *t
	light.Transcript, light.Grading, light.facts = nil, nil, &facts
	return &light
}

// Preference is what graders say of a trial's answer beside another method's to the
// same sample, in the same epoch. Their calls are among those of Grading.
type Preference struct {
	Against string `json:"against"`          // the other method's label
	Side    int    `json:"side"`             // 1 if this answer is better, -1 if the other is, 0 for a tie
	Asked   int    `json:"asked,omitempty"`  // graders with a verdict in both orders; 0 where nobody need be asked
	Swayed  int    `json:"swayed,omitempty"` // of them, those whose verdict changed with the order: each counts as a tie
	Unread  string `json:"unread,omitempty"` // why there is no verdict; for people, not hashed
}

// HasTarget reports whether the right answer is known. Without one the trial has
// no score.
func (t *Trial) HasTarget() bool { return len(t.Target) > 0 && string(t.Target) != "null" }

// Seal brings the transcript into its canonical form and order and sets the
// trial's hash.
func (t *Trial) Seal() error {
	for i := range t.Events {
		t.Events[i].Data = canonical(t.Events[i].Data)
	}
	t.Answer = canonicalAnswer(t.Answer)
	slices.SortStableFunc(t.Calls, compareCalls)
	slices.SortStableFunc(t.Grading, compareCalls)
	slices.SortStableFunc(t.Events, func(a, b methods.Event) int { return ComparePaths(a.Path, b.Path) })
	hash, err := t.hash()
	t.Hash = hash
	return err
}

// hash covers an explicit list of fields. Events of one path are sorted by
// content, so that a method that emits them from several goroutines still has
// one hash. A trial that the infrastructure failed has no transcript worth
// comparing: only the fact is covered.
func (t *Trial) hash() (string, error) {
	type call struct {
		Path, Kind, Key string
		Draw            int
		Digest, Fault   string
	}
	type pair struct {
		Against             string
		Side, Asked, Swayed int
		Unread              bool
	}
	content := struct {
		ID       TrialID
		Seed     uint64
		Infra    bool
		Calls    []call
		Events   []json.RawMessage
		Value    json.RawMessage
		Outcome  methods.Outcome
		Reason   string
		Evidence []methods.Evidence
		Scores   map[string]string
		Grading  []call `json:",omitempty"`
		Pairs    []pair `json:",omitempty"`
	}{ID: t.ID, Seed: t.Seed, Infra: t.Infra}
	if !t.Infra {
		hashed := func(calls []Call) (list []call) {
			for _, c := range calls {
				list = append(list, call{c.Path, string(c.Kind), c.Key, c.Draw, c.Digest, string(c.Fault)})
			}
			return list
		}
		content.Calls, content.Grading = hashed(t.Calls), hashed(t.Grading)
		for _, p := range t.Pairs {
			content.Pairs = append(content.Pairs, pair{p.Against, p.Side, p.Asked, p.Swayed, p.Unread != ""})
		}
		for _, e := range t.Events {
			raw, err := json.Marshal(e)
			if err != nil {
				return "", fmt.Errorf("hash trial %s: event at %q: %w", t.ID, e.Path, err)
			}
			content.Events = append(content.Events, raw)
		}
		slices.SortFunc(content.Events, func(a, b json.RawMessage) int { return bytes.Compare(a, b) })
		content.Value, content.Outcome, content.Reason = t.Answer.Value, t.Answer.Outcome, t.Answer.Reason
		content.Evidence, content.Scores = t.Answer.Evidence, roundedScores(t.Score.Values)
	}
	raw, err := json.Marshal(content)
	if err != nil {
		return "", fmt.Errorf("hash trial %s: %w", t.ID, err)
	}
	return digest("noema/trial/1", raw), nil
}

// roundedScores gives nine digits of each score: processors may differ in the
// last bit of a logarithm, and that is not a divergence.
func roundedScores(values map[string]float64) map[string]string {
	rounded := make(map[string]string, len(values))
	for name, v := range values {
		rounded[name] = strconv.FormatFloat(v, 'g', 9, 64)
	}
	return rounded
}

func digest(domain string, data ...[]byte) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n", domain)
	for _, d := range data {
		fmt.Fprintf(h, "%d\n", len(d))
		h.Write(d)
	}
	return hex.EncodeToString(h.Sum(nil))
}

func compareCalls(a, b Call) int {
	return cmp.Or(
		ComparePaths(a.Path, b.Path), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Key, b.Key), cmp.Compare(a.Draw, b.Draw),
		cmp.Compare(a.Digest, b.Digest), cmp.Compare(a.Fault, b.Fault),
	)
}

// ComparePaths orders call paths as people read them: segment by segment,
// with numbers by value, so that P2/i9 comes before P2/i10.
func ComparePaths(a, b string) int {
	for a != "" && b != "" {
		if isDigit(a[0]) && isDigit(b[0]) {
			na, resta := cutNumber(a)
			nb, restb := cutNumber(b)
			if c := cmp.Or(cmp.Compare(len(na), len(nb)), strings.Compare(na, nb)); c != 0 {
				return c
			}
			// Equal values: 01 and 1 differ only here.
			if c := cmp.Compare(len(a)-len(resta), len(b)-len(restb)); c != 0 {
				return c
			}
			a, b = resta, restb
			continue
		}
		if a[0] != b[0] {
			return cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}
	return cmp.Compare(len(a), len(b))
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// cutNumber splits the digits off the front of s and drops leading zeros.
func cutNumber(s string) (number, rest string) {
	i := 0
	for i < len(s) && isDigit(s[i]) {
		i++
	}
	return strings.TrimLeft(s[:i], "0"), s[i:]
}
