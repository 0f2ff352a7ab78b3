package table

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestManyOptions: over numbers of options, letters are distinct, and each target is the label
// of the option that is right, shuffled or not; texts follow their labels.
func TestManyOptions(t *testing.T) {
	r := rand.New(rand.NewPCG(46, 5))
	carries := []func(i int, text string) string{
		func(_ int, text string) string { return text }, func(i int, text string) string { return fmt.Sprintf("%c ) %s", 'A'+i, text) },
		func(i int, text string) string { return fmt.Sprintf("(%c)%s", 'A'+i, text) }, func(i int, text string) string { return fmt.Sprintf("%c. %s", 'a'+i, text) },
		func(i int, text string) string { return fmt.Sprintf("%d) %s", i+1, text) }, func(i int, text string) string { return fmt.Sprintf("%d. %s", i+1, text) },
	}
	for round := range 600 {
		n := []int{2, 3, 4, 5, 10, 26, 27, 77, 702}[r.IntN(9)]
		carry := carries[0]
		if n <= 26 {
			carry = carries[r.IntN(len(carries))]
		}
		var texts, shown []string
		for i := range n {
			texts = append(texts, fmt.Sprintf("%s %d.5", pick(r, "1.5", "10:30 and", "E. coli", "(maybe)", "x"), i))
			shown = append(shown, carry(i, texts[i]))
		}
		broken := n > 2 && n <= 26 && shown[0] != texts[0] && r.IntN(3) == 0
		if broken {
			shown[n-1] = "none of these"
		}
		right := r.IntN(n)
		row, _ := json.Marshal(map[string]any{"question": "q", "options": shown, "answer": right})
		shuffle := r.IntN(2) == 0
		made, err := loadMapped(write(t, "o.jsonl", string(row)), Mapping{Shuffle: shuffle})
		if broken && shuffle {
			if err == nil || !strings.Contains(err.Error(), "carry letters of their own, such as") {
				t.Fatalf("%d: %q: %v", round, shown, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%d: %q: %v", round, shown, err)
		}
		s := made.Samples[0]
		var target string
		if err := json.Unmarshal(s.Target, &target); err != nil {
			t.Fatal(err)
		}
		answer := s.Problem.Answer
		distinct := slices.Compact(slices.Sorted(slices.Values(answer.Labels)))
		want := texts[right]
		if broken {
			want = shown[right]
		}
		if got := answer.OptionText(target); got != want || len(distinct) != n || len(answer.Texts) != n || made.Version != "3" {
			t.Fatalf("%d: the target %s is %q, want %q; %d labels", round, target, got, want, len(distinct))
		}
		line := target + ") " + texts[right]
		if !shuffle {
			line = target + ") " + shown[right]
		}
		if !slices.Contains(strings.Split(s.Problem.Query, "\n"), line) {
			t.Fatalf("%d: %q is not shown in\n%s", round, line, s.Problem.Query)
		}
	}
}

// TestPublishedShapes: rows as public data sets have them are read as they are meant, or by the
// line that the refusal suggests.
func TestPublishedShapes(t *testing.T) {
	for name, c := range map[string]struct{ content, want string }{
		"CommonsenseQA.jsonl": {`{"id":"k","answerKey":"B","question":{"question_concept":"x","stem":"Where?","choices":[{"label":"A","text":"bank"},{"label":"B","text":"park"}]}}`, `"Where?\n\nA) bank\nB) park" "B" [bank park]`},
		"OpenBookQA.jsonl":    {`{"id":"7","question":{"stem":"Why?","choices":[{"text":"so","label":"A"},{"text":"no","label":"B"}]},"answerKey":"A"}`, `"Why?\n\nA) so\nB) no" "A" [so no]`},
		"ARC.jsonl":           {`{"id":"m","question":"Which?","choices":{"text":["a","b"],"label":["1","2"]},"answerKey":"2"}`, `"Which?\n\n1) a\n2) b" "2" [a b]`},
		"TriviaQA.jsonl":      {`{"question":"Who?","answer":{"aliases":["Ada L.","Ada"],"normalized_aliases":["ada l"],"value":"Ada","type":"W"}}`, `"Who?" ["Ada","Ada L."] []`},
		"TabMWP.json":         {`{"8": {"question": "How many?", "choices": null, "answer": "3", "unit": null}, "17": {"question": "More?", "choices": ["yes", "no"], "answer": "yes", "unit": NaN}}`, `"How many?" "3" []`},
		"LiveBench.jsonl":     {`{"question_id":"e3","category":"math","turns":["What is 1?"],"ground_truth":"1","task":"x"}`, `"What is 1?" "1" []`},
		"AGIEval.jsonl":       {`{"passage":null,"question":"Q?","options":["(A)x","(B)y"],"label":"B","answer":null,"other":null}` + "\n" + `{"passage":null,"question":"R?","options":["(A)x","(B)y"],"label":"A","answer":null}`, `"Q?\n\nA) (A)x\nB) (B)y" "B" [x y]`},
		"AGIEvalMath.jsonl":   {`{"passage":null,"question":"Q?","options":null,"label":null,"answer":"7"}`, `"Q?" "7" []`},
		"AIME.jsonl":          {`{"ID":"I-1","Problem":"P?","Solution":"So 33.","Answer":33}`, `"P?" 33 []`},
		"TheoremQA.json":      {`[{"Question":"Q?","Answer":"True","Answer_type":"bool","Picture":null}]`, `"Q?" "True" []`},
		"MGSM.tsv":            {"How many are 2 and 3?\t5\nHow many are 3 and 3?\t6\n", `"How many are 2 and 3?" "5" []`},
		"MMLU.csv":            {"What is 2+2?,1,4,3,2,B\n\"Which, if any?\",x,y,z,w,A\n", `"What is 2+2?\n\nA) 1\nB) 4\nC) 3\nD) 2" "B" [1 4 3 2]`},
		"twice.csv":           {"What is 2?,1,2,2,3,B\nWhat is 3?,1,2,3,4,A\n", `"What is 2?\n\nA) 1\nB) 2\nC) 2\nD) 3" "B" [1 2 2 3]`},
	} {
		path := write(t, name, c.content)
		made, err := loadLine(t, path)
		if err != nil {
			m := pasted.FindStringSubmatch(err.Error())
			if m == nil {
				t.Errorf("%s: no line to write: %v", name, err)
				continue
			}
			if made, err = loadLine(t, fromShell(m[1])); err != nil {
				t.Errorf("%s: %s: %v", name, m[1], err)
				continue
			}
		}
		s := made.Samples[0]
		if got := fmt.Sprintf("%q %s %v", s.Problem.Query, s.Target, s.Problem.Answer.Texts); got != c.want {
			t.Errorf("%s:\n got  %s\n want %s", name, got, c.want)
		}
	}
	for name, c := range map[string]struct{ content, want string }{
		"object.jsonl": {`{"question":"q","answer":{"number":"3","spans":[]}}`, "write target=fields:answer if all of its fields are asked for, or name one of them, as in target=answer.number"},
		"none.jsonl":   {`{"question":"q","answer":None}`, "none.jsonl:1:26: "},
		"both.jsonl":   {`{"question":"q","answer":"x","label":"y"}`, "may each be the target: say which: its columns"},
	} {
		if _, err := loadLine(t, write(t, name, c.content)); err == nil || !strings.Contains(err.Error(), c.want) || pasted.MatchString(err.Error()) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
