package runner

import (
	"context"

	"noema/cache"
	"noema/kernel/result/record"
	"noema/methods"
	"noema/methods/reply"
)

// Exchange is what a model call asked and was told.
type Exchange struct {
	Request methods.Request
	Record  cache.CompletionRecord

	marks string // of the model's thoughts, beside the known ones
}

// Parts are what the model thought and what it said.
func (x Exchange) Parts() reply.Parts {
	var own []reply.Marks
	if m, ok := reply.ParseMarks(x.marks); ok {
		own = append(own, m)
	}
	return reply.Split(x.Record.Completion.Text, own...)
}

// ReadExchange reads from the store what a model call of a run's trial asked
// and was told, in a fork the reply by hand. A method seed asked nothing itself; its
// content stands for a reply.
func ReadExchange(ctx context.Context, store *cache.Store, run *record.Run, trial record.TrialID, c record.Call) (Exchange, error) {
	key, err := cache.ParseKey(c.Key)
	if err != nil {
		return Exchange{}, err
	}
	if c.Kind == record.SeedCall {
		seed, err := store.Seed(ctx, key)
		return Exchange{Record: cache.CompletionRecord{Completion: methods.Completion{Text: string(seed.Data), Usage: seed.Usage}, At: seed.At}}, err
	}
	x := Exchange{marks: run.Config.Model.Thoughts}
	if x.Record, err = store.Completion(ctx, key); err != nil {
		return Exchange{}, err
	}
	for _, r := range run.Replaced {
		if r.Trial == trial && r.Path == c.Path && r.Key == c.Key && r.Draw == c.Draw {
			if x.Record.Completion, err = ReplacedReply(ctx, store, r); err != nil {
				return Exchange{}, err
			}
		}
	}
	x.Request, _, err = store.Request(ctx, key)
	return x, err
}
