package provider

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"noema/methods"
)

// With is how a model's options name a further model: "with.strong=openai/gpt-5".
const With = "with."

// team is a model with further ones beside it, of which each request names one.
type team struct {
	first  Provider
	others map[string]Provider // by their names
}

// Team is a model with further ones that requests reach by their names, for methods and
// programs that use more than one: see [methods.Request.By]. Its identity is that of the
// first with those of all others, so that an answer belongs to this team.
func Team(first Provider, others map[string]Provider) Provider {
	if len(others) == 0 {
		return first
	}
	return team{first, others}
}

// Info implements [Provider]: at most as many calls at once as the most patient model takes.
func (t team) Info() Info {
	info := t.first.Info()
	for _, name := range slices.Sorted(maps.Keys(t.others)) {
		other := t.others[name].Info()
		info.ID.Config = strings.TrimPrefix(info.ID.Config+"&"+With+name+"="+escaped(other.ID.String()), "&")
		info.Simulated = info.Simulated || other.Simulated
		if n := other.MaxConnections; n > 0 && (info.MaxConnections == 0 || n < info.MaxConnections) {
			info.MaxConnections = n
		}
	}
	return info
}

// escaped is a model as an option of another one.
func escaped(model string) string {
	return strings.ReplaceAll(url.QueryEscape(model), "%2F", "/")
}

// Complete implements [methods.Model].
func (t team) Complete(ctx context.Context, r methods.Request) (methods.Completion, error) {
	p, err := Chosen(t, r)
	if err != nil {
		return methods.Completion{}, err
	}
	r.By = ""
	return p.Complete(ctx, r)
}

// Chosen is the model that a request names. A name that is unknown is a final [*Error].
func Chosen(p Provider, r methods.Request) (Provider, error) {
	t, several := p.(team)
	switch {
	case r.By == "" && several:
		return t.first, nil
	case r.By == "":
		return p, nil
	case t.others[r.By] != nil:
		return t.others[r.By], nil
	}
	return nil, &Error{
		Kind: Rejected, Err: fmt.Errorf("the experiment has no model called %q%s", r.By, methods.DidYouMean(r.By, slices.Sorted(maps.Keys(t.others)))),
		Hint: "name it beside the model, as in --model 'openai/gpt-5-nano?" + With + "NAME=openai/gpt-5'",
	}
}
