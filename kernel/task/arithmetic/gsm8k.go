package arithmetic

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"noema/kernel/task"
	"noema/kernel/task/table"
	"noema/methods"
	"noema/methods/decimal"
)

// goldMark stands before the final number of an answer.
const goldMark = "####"

// IsGSM8K reports whether a row has GSM8K's columns and its mark in the answer.
func IsGSM8K(row table.Row) bool {
	var r record
	return row.Has("question", "answer") && !row.Has("input") && row.Decode(&r) == nil && strings.Contains(r.Answer, goldMark)
}

// record is a row of GSM8K.
type record struct{ Question, Answer string }

// LoadGSM8K reads word problems from a table in the form of GSM8K: rows
// with "question" and with "answer", the worked solution, whose
// last line is "#### N". Only N becomes the target; an
// empty answer sets none, and the problem is not scored. Problems are grouped by how
// many calculations their solution marks with <<…>>. The tools are those of
// the generated task. Errors name file and line.
//
// Source: Cobbe et al. 2021, "Training Verifiers to Solve Math Word Problems".
func LoadGSM8K(rows *table.Table) (*task.Task, error) {
	t := &task.Task{
		Name: "gsm8k", Version: "1", Summary: "grade-school word problems in the form of GSM8K",
		Environment: Environment{},
		Notes:       []string{"public data: models may have seen it in training"},
	}
	number := 0 // of the row; over several files it goes on
	err := rows.Each(func(l table.Row) error {
		number = max(l.Number, number+1)
		var record record
		if err := l.Decode(&record); err != nil {
			return err
		}
		if strings.TrimSpace(record.Question) == "" {
			return l.Errorf("the question is empty")
		}
		var gold json.RawMessage
		if record.Answer != "" { // a question of one's own may have none
			var err error
			if gold, err = gsm8kGold(record.Answer); err != nil {
				return l.Errorf("%w", err)
			}
		}
		steps := strings.Count(record.Answer, "<<")
		t.Samples = append(t.Samples, task.Sample{
			ID:       fmt.Sprintf("gsm8k-%05d", number),
			Group:    "steps " + strconv.Itoa(min(steps, 8)),
			Problem:  methods.Problem{Query: strings.TrimSpace(record.Question), Answer: methods.AnswerSpec{Kind: methods.Number}},
			Target:   gold,
			Metadata: map[string]string{"steps": strconv.Itoa(steps)},
		})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("load GSM8K: %w", err)
	}
	if len(t.Samples) == 0 {
		return nil, fmt.Errorf("load GSM8K: %s has no problems", filepath.Base(rows.Path))
	}
	t.NoteUnscored()
	t.Source = "file " + filepath.Base(rows.Path)
	return t, nil
}

// gsm8kGold is the number after the mark, without separators, currency and a
// percent sign.
func gsm8kGold(answer string) (json.RawMessage, error) {
	i := strings.LastIndex(answer, goldMark)
	if i < 0 {
		return nil, fmt.Errorf("the answer has no line %q", goldMark+" N")
	}
	text := strings.NewReplacer(",", "", "$", "", "%", "").Replace(answer[i+len(goldMark):])
	r, err := decimal.Parse(strings.TrimSpace(text))
	if err != nil {
		return nil, fmt.Errorf("the answer after %q: %w", goldMark, err)
	}
	gold, _ := decimal.Format(r)
	return json.RawMessage(gold), nil
}
