package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"noema/cache"
	"noema/kernel/base/score"
	"noema/kernel/model/provider"
	"noema/kernel/result/predictions"
	"noema/kernel/result/record"
	"noema/kernel/task"
	"noema/kernel/task/arithmetic"
	"noema/kernel/task/table"
	"noema/methods"
	"noema/methods/baseline"
)

// replying answers the question that a prompt holds with its reply.
type replying map[string]string

func (r replying) Info() provider.Info {
	return provider.Info{ID: methods.ModelID{Provider: "test", Model: "m"}}
}

func (r replying) Complete(_ context.Context, req methods.Request) (methods.Completion, error) {
	for _, m := range req.Messages {
		if _, after, ok := strings.Cut(m.Content, "question number "); ok {
			return methods.Completion{Text: r[after[:4]], Finish: methods.FinishStop, Usage: methods.Usage{Calls: 1}}, nil
		}
	}
	return methods.Completion{}, fmt.Errorf("no question in %v", req.Messages)
}

// replied is a reply to a question of a kind.
type replied struct {
	spec   methods.AnswerSpec
	target string
	text   string
}

// generatedReplies are replies to questions of all kinds of answers: values of the kind,
// and others, in all the forms that models give, more than one of them, cut or broken.
func generatedReplies(random *rand.Rand, each int) (all []replied) {
	pick := func(from ...string) string { return from[random.IntN(len(from))] }
	kinds := []struct {
		spec   methods.AnswerSpec
		target string
		values []string
	}{
		{methods.AnswerSpec{Kind: methods.Number}, "24", []string{"24", "-24", "24.0", `"24"`, "2,400", "24 apples", "3/4", "12 km in 3 hours", "12 or 24"}},
		{methods.AnswerSpec{Kind: methods.Choice, Labels: []string{"Low Risk", "High Risk", "A"}}, `"Low Risk"`, []string{`"Low Risk"`, "low risk", "Low Risk or High Risk", "not Low Risk", "A", "High Risk because of A", "none"}},
		{methods.AnswerSpec{Kind: methods.Text}, `["(5 * 4) + (10 - 6)", "Paris"]`, []string{`"Paris"`, "Paris", "(5 * 4) + (10 - 6)", "(5 * 4) + (10 - 6) = 24", "the city of Paris", "-24", "I looked for it in many places, and then again, and found nothing at all", "a\nb"}},
		{methods.AnswerSpec{Kind: methods.Set}, `["a","b"]`, []string{`["a","b"]`, `['b', 'a']`, "a, b", `["a"]`, `[]`, `[1, "a"]`}},
		{methods.AnswerSpec{Kind: methods.Fields, Names: []string{"x", "y"}}, `{"x":1,"y":"b"}`, []string{`{"x":1,"y":"b"}`, `{'x': 1, 'y': 'b'}`, `{"x":1}`, `{"x":2,"y":"c","z":3}`}},
		{methods.AnswerSpec{Kind: methods.Ranking, N: 3, K: 2}, "[1]", []string{"[1, 3]", "[3,2,1]", "3, 1", "1", "[7]", "[]"}},
		{methods.AnswerSpec{Kind: methods.Ranking, N: 4}, "[2]", []string{"[2, 1]", "[4,3,2,1]", "item 2", "{1, 2}"}},
	}
	for _, k := range kinds {
		for range each {
			var b strings.Builder
			for range 1 + random.IntN(2) {
				value := pick(k.values...)
				b.WriteString(pick("", "", "Let me think. ", "Steps:\n5 * 4 = 20 (left: 6 10 20)\n", "So 3 of 7.\n\n", "{\"thought\": \"yes\"}\n", "é\xff"))
				b.WriteString(strings.ReplaceAll(pick("V", "V", "\nAnswer: V", "\n**Answer:** V\n", `{"answer": V}`, "```json\n{\"answer\": V}\n```", "#### V", `\boxed{V}`, "The answer is V.", `{"Answer": "V", "why": 1}`, "Answer:\nV", `{"answer": V`), "V", value))
			}
			text := b.String()
			if random.IntN(10) == 0 {
				text = text[:random.IntN(len(text)+1)]
			}
			all = append(all, replied{k.spec, k.target, text})
		}
	}
	return all
}

// recordedReplies are what SmolLM2 said.
func recordedReplies(t *testing.T) (all []replied) {
	raw, err := os.ReadFile("../../../methods/reply/testdata/smollm2.json")
	if err != nil {
		t.Fatal(err)
	}
	var lines []struct {
		Kind        methods.AnswerKind
		Labels      []string
		Reply, Want string
	}
	if err := json.Unmarshal(raw, &lines); err != nil {
		t.Fatal(err)
	}
	for _, l := range lines {
		target := map[methods.AnswerKind]string{methods.Number: "1", methods.Text: `"x"`, methods.Choice: ""}[l.Kind]
		if len(l.Labels) > 0 {
			target = fmt.Sprintf("%q", l.Labels[0])
		}
		if l.Want != "" {
			target = l.Want
		}
		all = append(all, replied{methods.AnswerSpec{Kind: l.Kind, Labels: l.Labels}, target, l.Reply})
	}
	return all
}

// asSamples are the questions that were answered, of which each id is in its question.
func asSamples(all []replied) (samples []task.Sample, replies replying) {
	replies = replying{}
	for i, r := range all {
		id := fmt.Sprintf("%04d", i)
		replies[id] = r.text
		samples = append(samples, task.Sample{ID: id, Target: json.RawMessage(r.target), Problem: methods.Problem{
			Query: "question number " + id, Answer: r.spec, Context: json.RawMessage(`{"items":["a","b","c","d"]}`),
		}})
	}
	return samples, replies
}

// alike runs the replies live, and imports them from a file of each form: the answers, outcomes
// and scores are the same. It returns the mean accuracy.
func alike(t *testing.T, tk *task.Task, replies replying) (accuracy float64) {
	t.Helper()
	store := openStore(t, t.TempDir())
	direct, cot := inProcess(baseline.Direct()), inProcess(baseline.CoT())
	for _, m := range []*Method{&direct, &cot} {
		m.Options, m.Shuffle = json.RawMessage(`{"retries":0}`), false
	}
	live := mustRun(t, Setup{Task: tk, Methods: []Method{direct, cot}, Provider: replies}, store)
	unlike, right := 0, 0.0
	for form, line := range map[string]func(s task.Sample, text string) any{
		"answer":   func(s task.Sample, text string) any { return map[string]any{"id": s.ID, "answer": text} },
		"response": func(s task.Sample, text string) any { return map[string]any{"id": s.ID, "response": text} },
		"lm-eval": func(s task.Sample, text string) any {
			return map[string]any{"doc_id": 1, "doc": map[string]any{"id": s.ID, "question": s.Problem.Query}, "filtered_resps": []string{text}}
		},
	} {
		imported := importedReplies(t, store, tk, replies, form, line)
		for _, was := range live.Trials {
			is := imported[was.ID.Sample]
			if string(is.Answer.Value) != string(was.Answer.Value) || is.Answer.Outcome != was.Answer.Outcome || fmt.Sprint(is.Score) != fmt.Sprint(was.Score) || is.Infra || was.Infra {
				if unlike++; unlike <= 10 {
					t.Errorf("%s, %s, reply %q:\nlive     %s %s %v %s\nimported %s %s %v %s", form, was.ID, replies[was.ID.Sample],
						was.Answer.Value, was.Answer.Outcome, was.Score, was.Failure, is.Answer.Value, is.Answer.Outcome, is.Score, is.Failure)
				}
			}
			right += was.Score.Values[score.Accuracy] / float64(3*len(live.Trials))
		}
	}
	if unlike > 10 {
		t.Errorf("%d trials are unlike", unlike)
	}
	return right
}

func importedReplies(t *testing.T, store *cache.Store, tk *task.Task, replies replying, form string, line func(s task.Sample, text string) any) map[string]*record.Trial {
	t.Helper()
	var b strings.Builder
	for _, s := range tk.Samples {
		raw, err := json.Marshal(line(s, replies[s.ID]))
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(raw, '\n'))
	}
	path := filepath.Join(t.TempDir(), "theirs.jsonl")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := predictions.Read(t.Context(), path, predictions.Options{})
	if err != nil {
		t.Fatal(err)
	}
	pairs, err := predictions.Pair(file, tk.Samples, false)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Import{Task: tk, File: file, Pairs: pairs, Label: form, Digest: form}.Do(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	byID := map[string]*record.Trial{}
	for _, one := range r.Trials {
		byID[one.ID.Sample] = one
	}
	return byID
}

// TestImportedAsLive: for every kind of answer the same reply leads to the same answer, outcome
// and score, whether a model gives it or a file has it.
func TestImportedAsLive(t *testing.T) {
	samples, replies := asSamples(append(generatedReplies(rand.New(rand.NewPCG(3, 12)), 60), recordedReplies(t)...))
	if right := alike(t, &task.Task{Name: "replies", Version: "1", Source: "generated", Samples: samples}, replies); right < 0.1 || right > 0.9 {
		t.Errorf("accuracy %v: the replies test little", right)
	}
}

// TestPublishedLogs imports the logs of Yao et al. 2023 on the Game of 24: the share of right
// answers is what they published. NOEMA_TEST_TOT names a copy of their repository,
// princeton-nlp/tree-of-thought-llm.
func TestPublishedLogs(t *testing.T) {
	folder := os.Getenv("NOEMA_TEST_TOT")
	if folder == "" {
		t.Skip("NOEMA_TEST_TOT does not name a copy of princeton-nlp/tree-of-thought-llm")
	}
	rows, err := table.Open(t.Context(), filepath.Join(folder, "src/tot/data/24/24.csv"))
	if err != nil {
		t.Fatal(err)
	}
	puzzles, err := arithmetic.LoadGame24(rows)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"naive_cot_sample_100", "naive_standard_sample_100", "propose1_value3_greedy5"} {
		raw, err := os.ReadFile(filepath.Join(folder, "logs/game24/gpt-4_0.7_"+name+"_start900_end1000.json"))
		if err != nil {
			t.Fatal(err)
		}
		var lines []struct {
			Idx   int
			Ys    []string
			Infos []struct{ R float64 }
		}
		if err := json.Unmarshal(raw, &lines); err != nil {
			t.Fatal(err)
		}
		tk, replies, published, n := *puzzles, replying{}, 0.0, 0
		tk.Samples = nil
		for _, l := range lines {
			for y := range min(len(l.Ys), 5) {
				s := puzzles.Samples[l.Idx]
				s.ID = fmt.Sprintf("%04d", n)
				s.Problem.Query = "question number " + s.ID + ": " + s.Problem.Query
				tk.Samples, replies[s.ID] = append(tk.Samples, s), l.Ys[y]
				n++
				if len(l.Infos) > y {
					published += l.Infos[y].R
				} else {
					published += 0.073 // of this log only the paper says it, of 100 replies to each puzzle
				}
			}
		}
		right := alike(t, &tk, replies)
		t.Logf("%s: %d replies, accuracy %.3f, published %.3f", name, n, right, published/float64(n))
		if diff := right - published/float64(n); diff < -0.03 || diff > 0.03 {
			t.Errorf("%s: accuracy %.3f, published %.3f", name, right, published/float64(n))
		}
	}
}

// TestOffByAHundred: numbers that are exactly a hundred times another are told, and no others.
func TestOffByAHundred(t *testing.T) {
	random := rand.New(rand.NewPCG(46, 100))
	for range 500 {
		n, other := 1+random.IntN(5000), random.IntN(5000)
		for text, want := range map[string]bool{
			fmt.Sprintf("%d00", n): true, fmt.Sprintf("%d.%02d", n/100, n%100): true, fmt.Sprint(n): false, fmt.Sprint(other): other == 100*n || 100*other == n, `"x"`: false,
		} {
			got := hundredfold(&record.Trial{Answer: methods.Answer{Value: json.RawMessage(text)}, Target: json.RawMessage(fmt.Sprint(n))})
			if got != want {
				t.Fatalf("%s for %d: %v", text, n, got)
			}
		}
	}
}
