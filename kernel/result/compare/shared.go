package compare

import "slices"

// Shared says how many requests two methods have in common. Equal requests have
// the same answer: common random numbers, which make their difference
// surer than independent draws would (Kahn and Marshall 1953, "Methods of
// reducing sample size in Monte Carlo computations"). It also means that the
// two were not tried independently.
type Shared struct {
	Trials      int    `json:"trials"`      // pairs of trials on one sample and epoch
	Common      int    `json:"common"`      // of those, with a completion in common
	Share       Number `json:"share"`       // Common of Trials
	Completions Number `json:"completions"` // completions in common, of all that either used in a pair
}

// shared compares the completions that methods a and b used.
func (d Data) shared(a, b int) Shared {
	out := Shared{Share: undefined, Completions: undefined}
	both, either := 0, 0
	for _, s := range d.Samples {
		for _, x := range s.Cells[a] {
			i := slices.IndexFunc(s.Cells[b], func(y Cell) bool { return y.Epoch == x.Epoch })
			if i < 0 {
				continue
			}
			out.Trials++
			y := s.Cells[b][i]
			n := common(x.Completions, y.Completions)
			if n > 0 {
				out.Common++
			}
			both += n
			either += len(x.Completions) + len(y.Completions) - n
		}
	}
	if out.Trials > 0 {
		out.Share = Number(float64(out.Common) / float64(out.Trials))
	}
	if either > 0 {
		out.Completions = Number(float64(both) / float64(either))
	}
	return out
}

// common counts the distinct strings that both have.
func common(a, b []string) int {
	in := make(map[string]bool, len(a))
	for _, x := range a {
		in[x] = true
	}
	n := 0
	for _, x := range b {
		if in[x] {
			n++
			delete(in, x)
		}
	}
	return n
}
