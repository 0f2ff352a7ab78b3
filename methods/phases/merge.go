package phases

import (
	"cmp"
	"encoding/json"
	"slices"

	"noema/methods"
	"noema/methods/reply"
)

// Majority joins answers of one kind: the most frequent value, of equally frequent ones
// the first; rankings by Borda's count, sets by the members in more than half, fields
// each for itself. There must be at least one.
func Majority(votes []methods.Answer, spec methods.AnswerSpec) (methods.Answer, error) {
	switch spec.Kind {
	case methods.Ranking:
		return borda(votes, spec)
	case methods.Set:
		return commonMembers(votes)
	case methods.Fields:
		return fieldwise(votes, spec)
	}
	values := make([]string, len(votes))
	for i, v := range votes {
		values[i] = string(v.Value)
	}
	return methods.Answer{Value: json.RawMessage(mostFrequent(values)), Outcome: methods.Answered}, nil
}

// mostFrequent is the most frequent value, of equally frequent ones the first.
func mostFrequent(values []string) string {
	count := map[string]int{}
	best := ""
	for _, v := range values {
		count[v]++
	}
	for _, v := range values {
		if best == "" || count[v] > count[best] {
			best = v
		}
	}
	return best
}

// borda ranks items by the sum of their places, where an item that a vote does
// not name stands behind those it does.
func borda(votes []methods.Answer, spec methods.AnswerSpec) (methods.Answer, error) {
	points := make([]int, spec.N+1)
	for _, v := range votes {
		order, err := v.Ranking()
		if err != nil {
			return methods.Answer{}, err
		}
		for place, item := range order {
			points[item] += spec.N - place
		}
	}
	items := reply.InOrder(spec.N)
	slices.SortStableFunc(items, func(a, b int) int { return cmp.Compare(points[b], points[a]) })
	return methods.RankingAnswer(items[:spec.K]), nil
}

func commonMembers(votes []methods.Answer) (methods.Answer, error) {
	count := map[string]int{}
	for _, v := range votes {
		members, err := v.Set()
		if err != nil {
			return methods.Answer{}, err
		}
		for _, m := range members {
			count[m]++
		}
	}
	members := []string{}
	for m, n := range count {
		if 2*n > len(votes) {
			members = append(members, m)
		}
	}
	return methods.SetAnswer(members), nil
}

func fieldwise(votes []methods.Answer, spec methods.AnswerSpec) (methods.Answer, error) {
	values := map[string][]string{}
	for _, v := range votes {
		fields, err := v.Fields()
		if err != nil {
			return methods.Answer{}, err
		}
		for _, name := range spec.Names {
			values[name] = append(values[name], string(fields[name]))
		}
	}
	joined := map[string]any{}
	for name, of := range values {
		joined[name] = json.RawMessage(mostFrequent(of))
	}
	return methods.FieldsAnswer(joined)
}
