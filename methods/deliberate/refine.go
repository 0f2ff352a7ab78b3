package deliberate

import (
	"context"
	"fmt"

	"noema/methods"
	"noema/methods/phases"
	"noema/methods/reply"
)

type refineOptions struct {
	phases.Options
	phases.Judged
	Rounds      int     `json:"rounds" default:"3" min:"0" max:"100" doc:"how often a draft is criticised and written anew, at most"`
	Temperature float64 `json:"temperature" default:"0" min:"0" max:"2" doc:"temperature of the drafts"`
}

const refinePrompt = "The solution above has the faults that are listed behind it, if they are right. Write a better one."

// SelfRefine writes a draft, has the model list its faults and writes a better draft,
// until there are none or no round is left.
//
// Source: Madaan et al. 2023, "Self-Refine: Iterative Refinement with Self-Feedback".
// Differs: zero-shot; the feedback is a list of faults as JSON, empty to stop; a draft is
// written from the one before and its faults, not from all; temperature 0, not 0.7.
func SelfRefine() Method {
	return of("self-refine", "writes a draft, lists its faults, and writes a better one, until none are left", refine)
}

func refine(ctx context.Context, t *phases.Trial, o *refineOptions) (reply.Reading, error) {
	draft, err := t.Draft(ctx, t.Reason("draft", 0, o.Temperature))
	if err != nil {
		return reply.Reading{}, err
	}
	g := phases.NewGraph("drafts")
	defer g.Draw(t, "draft")
	return improve(ctx, t, g, draft, g.Drafts("draft", 0, []phases.Draft{draft}), o.Rounds, o.Temperature)
}

// improve has the faults of a draft listed and mended, as often as rounds says. A better
// draft that cannot be read leaves the one before.
func improve(ctx context.Context, t *phases.Trial, g *phases.Graph, draft phases.Draft, ids []string, rounds int, temperature float64) (reply.Reading, error) {
	for round := 1; round <= rounds; round++ {
		path := fmt.Sprintf("round/%d", round)
		faults, err := t.Faults(ctx, path+"/check", draft.Text)
		if err != nil {
			return reply.Reading{}, err
		}
		if len(faults) == 0 {
			break
		}
		g.Mark(ids[0], "faulty")
		path += "/refine"
		next, err := t.Draft(ctx, t.Reconsider(path, 0, temperature, refinePrompt, t.Show(path, "solution", draft.Text), t.Show(path, "faults", faults...)))
		if t.Lost(ctx, path, err) {
			break
		}
		if err != nil {
			return reply.Reading{}, err
		}
		draft, ids = next, g.Drafts("refined", round, []phases.Draft{next}, ids...)
	}
	return draft.Reading, nil
}

type reflexionOptions struct {
	phases.Options
	phases.Judged
	Trials      int     `json:"trials" default:"3" min:"1" max:"100" doc:"attempts, at most"`
	Memory      int     `json:"memory" default:"3" min:"1" max:"100" doc:"lessons that an attempt is shown, the last ones"`
	Temperature float64 `json:"temperature" default:"0" min:"0" max:"2" doc:"temperature of the attempts"`
}

const (
	lessonPrompt = "The solution above has the faults that are listed behind it, if they are right. Do not solve the question now. Say in one or two sentences what went wrong and what to do differently in the next attempt.\n" +
		"Reply with one JSON object only: {\"lessons\": [\"what to do differently\"]}\n"
	againPrompt = "The lessons above are from your earlier attempts, which failed. Heed them, think step by step, and solve the question from the beginning."
)

// Reflexion solves the question anew while its check finds faults, each time with
// lessons in words from the attempts before.
//
// Source: Shinn et al. 2023, "Reflexion: Language Agents with Verbal Reinforcement
// Learning". Differs: all happens within one trial; the evaluator is the model's own list
// of faults, since a method never sees the target; the actor is a chain of thought and
// calls no tools.
func Reflexion() Method {
	return of("reflexion", "attempts the question again while a check finds faults, with lessons from the attempts before", reflect)
}

func reflect(ctx context.Context, t *phases.Trial, o *reflexionOptions) (reply.Reading, error) {
	g := phases.NewGraph("attempts")
	defer g.Draw(t, "attempt")
	var lessons, from []string
	for n := 1; ; n++ {
		path := fmt.Sprintf("attempt/%d", n)
		request := t.Reason(path, 0, o.Temperature)
		if len(lessons) > 0 {
			request = t.Reconsider(path, 0, o.Temperature, againPrompt, t.Show(path, "lessons", lessons[max(0, len(lessons)-o.Memory):]...))
		}
		draft, err := t.Draft(ctx, request)
		if err != nil {
			return reply.Reading{}, err
		}
		ids := g.Drafts("attempt", 2*(n-1), []phases.Draft{draft}, from...)
		if n == o.Trials {
			return draft.Reading, nil
		}
		faults, err := t.Faults(ctx, path+"/check", draft.Text)
		if err != nil || len(faults) == 0 {
			return draft.Reading, err
		}
		g.Mark(ids[0], "faulty")
		learnt, err := t.List(ctx, path+"/reflect", "lessons", 1, lessonPrompt, t.Show(path, "solution", draft.Text), t.Show(path, "faults", faults...))
		if err != nil && !t.Lost(ctx, path+"/reflect", err) {
			return reply.Reading{}, err
		}
		if len(learnt) == 0 {
			learnt = faults[:1]
		}
		lessons = append(lessons, learnt...)
		from = []string{g.Add(methods.Node{Label: "lesson", Kind: "lesson", Layer: 2*n - 1, Text: learnt[0], State: "done", Path: path + "/reflect"}, ids...)}
	}
}
