package compare

import (
	"fmt"
	"math"

	"noema/methods"
)

// SeedUse is what a method spent on its method seeds. A seed serves many trials and
// is charged to none, so a method that compiles much would look cheaper than it is
// if this did not stand beside the use of its trials.
type SeedUse struct {
	Seeds    int                  `json:"seeds"`
	Total    Usage                `json:"total"`
	PerTrial map[Resource]float64 `json:"per_trial"` // the share of each finished trial; what is unknown is absent
}

// AddSeeds tells what the seeds of a method took to build, each by itself.
func (c *Comparison) AddSeeds(method string, seeds []methods.Usage) {
	for i := range c.Methods {
		m := &c.Methods[i]
		if m.Method != method || m.Trials == 0 || len(seeds) == 0 {
			continue
		}
		var sum methods.Usage
		for _, u := range seeds {
			sum = sum.Plus(u)
		}
		if sum.Calls+sum.ToolCalls == 0 {
			continue
		}
		m.Seeds = &SeedUse{Seeds: len(seeds), Total: UsageOf(sum), PerTrial: map[Resource]float64{}}
		for _, r := range append(Resources(), InputTokens, OutputTokens) {
			if use := r.of(sum); !math.IsNaN(use) {
				m.Seeds.PerTrial[r] = use / float64(m.Trials)
			}
		}
	}
}

// Sentence says it where no table does.
func (s *SeedUse) Sentence() string {
	text := fmt.Sprintf("%d method seeds, charged to no trial: %.3g calls", s.Seeds, s.PerTrial[Calls])
	if t, known := s.PerTrial[Tokens]; known {
		text += fmt.Sprintf(", %.0f tokens", t)
	}
	if usd, known := s.PerTrial[Cost]; known {
		text += fmt.Sprintf(", $%.2g", usd)
	}
	return text + " for each trial"
}
