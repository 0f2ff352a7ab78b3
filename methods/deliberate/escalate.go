package deliberate

import (
	"context"
	"fmt"

	"noema/methods/phases"
	"noema/methods/reply"
)

type escalateOptions struct {
	phases.Options
	phases.Judged
	By          string  `json:"by" default:"effort" choices:"effort,retry,warming" doc:"what changes from attempt to attempt: a bare answer, then a chain of thought, then the majority of several; nothing but the draw; or the temperature, from 0"`
	Tries       int     `json:"tries" default:"5" min:"1" max:"100" doc:"attempts by retry or warming, at most"`
	Draws       int     `json:"draws" default:"5" min:"1" max:"1000" doc:"chains of thought of the last effort"`
	Temperature float64 `json:"temperature" default:"0.5" min:"0" max:"2" doc:"temperature of the last effort's chains, of retries, and of the warmest attempt"`
}

// Escalate makes cheap attempts first, and spends more where a check finds faults.
//
// Source: Kapoor et al. 2024, "AI Agents That Matter", whose baselines are retry,
// warming (from temperature 0 to 0.5 over five attempts) and escalation. Differs: the
// check is the model's own list of faults, where the paper has the tests that a
// programming task shows; escalation is to more effort and not to a dearer model. Where no attempt passes, the majority of all is the answer.
func Escalate() Method {
	return of("escalate", "answers cheaply first, and spends more where a check finds faults", escalate)
}

func escalate(ctx context.Context, t *phases.Trial, o *escalateOptions) (reply.Reading, error) {
	tries := o.Tries
	if o.By == "effort" {
		tries = 2
	}
	g := phases.NewGraph("attempts")
	defer g.Draw(t, "attempt")
	var drafts []phases.Draft
	var ids []string
	for n := range tries {
		path := fmt.Sprintf("attempt/%d", n+1)
		draft, err := o.attempt(ctx, t, path, n)
		if t.Lost(ctx, path, err) {
			continue
		}
		if err != nil {
			return reply.Reading{}, err
		}
		drafts, ids = append(drafts, draft), g.Drafts("attempt", n, []phases.Draft{draft}, ids...)
		if n == tries-1 && o.By != "effort" {
			break
		}
		faults, err := t.Faults(ctx, path+"/check", draft.Text)
		if err != nil || len(faults) == 0 {
			return draft.Reading, err
		}
		g.Mark(ids[0], "faulty")
	}
	if o.By == "effort" {
		last, err := t.Drafts(ctx, chains(t, "answer", o.Draws, o.Temperature))
		if err != nil {
			return reply.Reading{}, err
		}
		g.Drafts("chain", tries, last, ids...)
		drafts = last
	}
	if len(drafts) == 0 {
		return reply.Reading{}, fmt.Errorf("%w: none of %d attempts", phases.ErrNoAnswer, tries)
	}
	return majority(t, drafts)
}

// attempt makes attempt n, from 0.
func (o *escalateOptions) attempt(ctx context.Context, t *phases.Trial, path string, n int) (phases.Draft, error) {
	switch {
	case o.By == "effort" && n == 0:
		return t.Direct(ctx, path)
	case o.By == "retry" && n > 0:
		return t.Draft(ctx, t.Reason(path, n, o.Temperature))
	case o.By == "warming" && n > 0:
		return t.Draft(ctx, t.Reason(path, n, o.Temperature*float64(n)/float64(o.Tries-1)))
	}
	return t.Draft(ctx, t.Reason(path, 0, 0))
}
