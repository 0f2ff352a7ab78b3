package deliberate

import (
	"context"
	"fmt"

	"noema/methods"
	"noema/methods/phases"
	"noema/methods/reply"
)

type forcingOptions struct {
	phases.Options
	Waits int `json:"waits" default:"2" min:"0" max:"100" doc:"how often the model is told to wait and think on"`
	Think int `json:"think" default:"0" min:"0" doc:"output tokens of all thinking, after which the answer is demanded; 0 for no limit"`
}

const (
	thinkPrompt = "{question}Think step by step. Do not hurry: you will be asked for your answer later. Your answer will be one last line of this form:\nAnswer: {form}\n"
	waitPrompt  = "Wait. Something may be wrong or missing in what you thought so far. Go over it again and think on."
	endPrompt   = "Stop thinking. Reply now with your final answer alone, on one line of this form:\nAnswer: "
)

// BudgetForcing has the model think, holds it up by telling it to wait, or cuts it off
// at a number of tokens, and then demands the answer.
//
// Source: Muennighoff et al. 2025, "s1: Simple test-time scaling". Differs: chat
// protocols do not let one write on in the model's own turn, so that "Wait" and the end
// of thinking are turns of the user; it works with models that were not trained to think.
func BudgetForcing() Method {
	return of("budget-forcing", "has the model wait and think on, or cuts its thought off, then demands the answer", force)
}

func force(ctx context.Context, t *phases.Trial, o *forcingOptions) (reply.Reading, error) {
	g := phases.NewGraph("thoughts")
	defer g.Draw(t, "think")
	messages := methods.Ask(phases.Fill(thinkPrompt, t.Question, phases.FormOf(t.Answer)))
	var ids []string
	for n, left := 0, o.Think; n <= o.Waits; n++ {
		request := t.Request(fmt.Sprintf("think/%d", n+1), messages...)
		if limit := request.Sampling.MaxTokens; left > 0 && (limit == 0 || left < limit) {
			request.Sampling.MaxTokens = left
		}
		c, err := t.Host.Complete(ctx, request)
		if err != nil {
			return reply.Reading{}, fmt.Errorf("ask %s: %w", request.Path, err)
		}
		thought := t.Show(request.Path, "", c.Text).Text
		if thought == "" {
			thought = "(no thought)" // providers refuse empty turns
		}
		ids = []string{g.Add(methods.Node{Label: "thought", Kind: "thought", Layer: n, Text: thought, State: string(c.Finish), Path: request.Path}, ids...)}
		messages = append(messages, methods.Message{Role: methods.Assistant, Content: thought})
		if left -= int(c.Usage.OutputTokens); o.Think > 0 && (left <= 0 || c.Finish == methods.FinishLength) {
			t.Emit(request.Path, methods.Truncated, 1, nil, "%d tokens of thinking are used up", o.Think)
			break
		}
		if n < o.Waits {
			messages = append(messages, methods.Message{Role: methods.User, Content: waitPrompt})
		}
	}
	messages = append(messages, methods.Message{Role: methods.User, Content: endPrompt + phases.FormOf(t.Answer)})
	draft, err := t.Draft(ctx, t.Request("answer", messages...))
	if err == nil {
		g.Drafts("answer", len(ids)+o.Waits, []phases.Draft{draft}, ids...)
	}
	return draft.Reading, err
}
