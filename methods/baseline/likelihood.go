package baseline

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"noema/methods"
	"noema/methods/phases"
	"noema/methods/reply"
)

// likelihood is the value of the option by for which a choice is the label that the
// model holds likeliest, whatever it would have said.
const likelihood = "likelihood"

// maxLetters is how many labels can be scored: a provider tells the log
// probabilities of no more tokens at one place.
const maxLetters = methods.MaxLogprobs

// askLikelihood shows the labels with letters and scores each letter by its log
// probability as the first token of the reply.
//
// Source: EleutherAI's lm-evaluation-harness, multiple choice with letters, as in
// MMLU. Differs: chat servers tell the likeliest tokens alone, so a letter that is
// not among them has no score. Scoring the text of a label, in sum and by its bytes,
// needs the log probabilities of a given reply, which no chat protocol has.
func askLikelihood(ctx context.Context, t *solver, question string) (reply.Reading, error) {
	labels := t.Answer.Labels
	if t.Answer.Kind != methods.Choice || len(labels) > maxLetters {
		return reply.Reading{}, fmt.Errorf("by=%s scores choices of at most %d labels: use by=reply for other answers", likelihood, maxLetters)
	}
	if t.opts.Prompt != phases.DirectPrompt {
		return reply.Reading{}, fmt.Errorf("by=%s has a prompt of its own: leave out the option \"prompt\"", likelihood)
	}
	var b strings.Builder
	b.WriteString(strings.TrimSuffix(question, reply.Wanted(t.Answer)))
	for i, label := range labels {
		fmt.Fprintf(&b, "%s. %s\n", letter(i), label)
	}
	b.WriteString("\nReply with the letter of the right answer only.\n")
	req := t.Request(callPath, methods.Ask(b.String())...)
	req.Sampling.MaxTokens, req.Sampling.Logprobs = 1, methods.MaxLogprobs
	c, err := t.Host.Complete(ctx, req)
	if err != nil {
		return reply.Reading{}, fmt.Errorf("ask %s: %w", req.Path, err)
	}
	if len(c.Logprobs) == 0 {
		return reply.Reading{}, &reply.InvalidError{Path: req.Path, Attempts: 1, Fault: errors.New("the reply has no token with a log probability")}
	}
	scores, best := map[string]float64{}, -1
	for i, label := range labels {
		s := letterScore(c.Logprobs[0], letter(i))
		if math.IsInf(s, -1) {
			continue
		}
		if scores[label] = s; best < 0 || s > scores[labels[best]] {
			best = i
		}
	}
	if best < 0 {
		fault := fmt.Errorf("no letter is among the %d likeliest first tokens", len(c.Logprobs[0].Top))
		return reply.Reading{}, &reply.InvalidError{Path: req.Path, Attempts: 1, Fault: fault}
	}
	t.Emit(callPath, methods.StepResult, 1, scores, "%q has log probability %.3f; %d of %d labels are scored", labels[best], scores[labels[best]], len(scores), len(labels))
	return reply.Reading{Answer: methods.ChoiceAnswer(labels[best])}, nil
}

func letter(i int) string { return string(rune('A' + i)) }

// letterScore is the log of the summed probabilities of all tokens that are the
// letter, alone or with spaces; minus infinity if there is none.
func letterScore(first methods.TokenLogprob, letter string) float64 {
	all := first.Top
	if len(all) == 0 {
		all = []methods.TokenLogprob{first}
	}
	sum := 0.0
	for _, t := range all {
		if strings.TrimSpace(t.Token) == letter {
			sum += math.Exp(t.Logprob)
		}
	}
	return math.Log(sum)
}
