package runner

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"noema/methods"
	"noema/methods/reply"
)

// askGrader reads a verdict that is marked as one. Where there is none it asks for the
// verdict alone: small models explain, and forget the line. All else is not a verdict.
func askGrader(ctx context.Context, h methods.Host, q question) (verdict string, err error) {
	req := methods.Request{Messages: methods.Ask(q.prompt), Path: q.path}
	_, said, err := reply.Text(ctx, h, req, func(text string) (err error) {
		verdict, err = q.read(text)
		return err
	}, reply.Options{})
	var unread *reply.InvalidError
	if errors.As(err, &unread) {
		return q.askAlone(ctx, h, said.Text)
	}
	return verdict, err
}

// read is the one verdict that a reply marks.
func (q question) read(text string) (string, error) {
	upper, given := strings.ToUpper(text), 0
	for _, v := range q.verdicts {
		if strings.Contains(upper, "ANSWER: "+v) {
			given++
		}
	}
	if given > 1 {
		return "", fmt.Errorf("it gives %d verdicts: give one", given)
	}
	r, err := reply.ReadMarked(text, methods.AnswerSpec{Kind: methods.Choice, Labels: q.verdicts}, reply.LineForm)
	if err != nil {
		return "", err
	}
	return r.Answer.Text()
}

// maxSaid bounds what a grader reads of its own reply, in bytes.
const maxSaid = 8000

// askAlone asks for nothing but the verdict, under a schema, after what the grader said.
func (q question) askAlone(ctx context.Context, h methods.Host, said string) (string, error) {
	labels, err := json.Marshal(q.verdicts)
	if err != nil {
		return "", err
	}
	said, _ = reply.Shorten(strings.ToValidUTF8(said, "\uFFFD"), maxSaid)
	raw, _, err := reply.JSON(ctx, h, methods.Request{
		Path: q.path + "/r1",
		Messages: append(methods.Ask(q.prompt),
			methods.Message{Role: methods.Assistant, Content: cmp.Or(strings.TrimSpace(said), "(empty reply)")},
			methods.Message{Role: methods.User, Content: fmt.Sprintf(`Give the verdict alone. Reply with one JSON object only: {"verdict": V} where V is one of %s`, labels)}),
		Schema: &methods.Schema{Name: "verdict", JSON: fmt.Appendf(nil,
			`{"type":"object","properties":{"verdict":{"enum":%s}},"required":["verdict"],"additionalProperties":false}`, labels)},
	}, nil, reply.Options{})
	if err != nil {
		return "", err
	}
	var given struct{ Verdict string }
	err = json.Unmarshal(raw, &given)
	return given.Verdict, err
}
