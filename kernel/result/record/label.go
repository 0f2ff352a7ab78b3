package record

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Label is what a person says of an answer: a line of a file of labels. It names no
// method, because who labels must not know it: methods that gave the same answer to a
// sample share its label.
type Label struct {
	Sample string          `json:"sample"`
	Answer json.RawMessage `json:"answer"` // its value, as in [methods.Answer]
	Label  Judgement       `json:"label"`
}

// Judgement is a person's verdict.
type Judgement string

// The judgements. Skipped says that the person could not tell; it counts as none.
const (
	JudgedRight Judgement = "right"
	JudgedWrong Judgement = "wrong"
	Skipped     Judgement = "skipped"
)

// Of identifies what a label is about.
func (l Label) Of() string { return l.Sample + "\x00" + string(canonical(l.Answer)) }

// maxLabel bounds a line of a file of labels, in bytes.
const maxLabel = 32 << 20

// ReadLabels reads JSON Lines. A later label of the same answer takes the place of an
// earlier one. A last line that was cut off, as by a power failure, is left out.
func ReadLabels(r io.Reader) ([]Label, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLabel)
	var list []Label
	at := map[string]int{}
	var broken error
	for n := 1; lines.Scan(); n++ {
		if broken != nil {
			return nil, broken
		}
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		l, err := parseLabel(line)
		if err != nil {
			broken = fmt.Errorf("line %d: %w", n, err)
			var syntax *json.SyntaxError
			if !errors.As(err, &syntax) {
				return nil, broken
			}
			continue
		}
		if i, known := at[l.Of()]; known {
			list[i] = l
			continue
		}
		at[l.Of()] = len(list)
		list = append(list, l)
	}
	return list, lines.Err()
}

func parseLabel(line []byte) (Label, error) {
	var l Label
	if err := json.Unmarshal(line, &l); err != nil {
		return l, err
	}
	switch {
	case l.Sample == "" || len(l.Answer) == 0:
		return l, errors.New(`want {"sample": ID, "answer": VALUE, "label": "right", "wrong" or "skipped"}`)
	case Depth(l.Answer) > MaxDepth:
		return l, fmt.Errorf("the answer is nested more than %d levels deep", MaxDepth)
	case l.Label != JudgedRight && l.Label != JudgedWrong && l.Label != Skipped:
		return l, fmt.Errorf("the label %.40q is not right, wrong or skipped", l.Label)
	}
	return l, nil
}
