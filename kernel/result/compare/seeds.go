package compare

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"noema/kernel/base/display"
	"noema/kernel/result/record"
	"noema/methods"
)

// SeedUse is what a method spent on its method seeds. A seed serves many trials and
// no trial records it, so each that did not fail bears an equal share: that share is
// part of every number of use, and this is the split.
type SeedUse struct {
	Seeds    int                  `json:"seeds"`
	Total    Usage                `json:"total"`
	PerTrial map[Resource]float64 `json:"per_trial"` // the share of each trial that did not fail; what is unknown is absent

	sum    methods.Usage
	trials int // that share it
}

// SeedsOf is what the seeds of a method took, shared by its trials that did not fail;
// nil if it built none.
func SeedsOf(seeds []methods.Usage, trials int) *SeedUse {
	var sum methods.Usage
	for _, u := range seeds {
		sum = sum.Plus(u)
	}
	if trials == 0 || sum.Calls+sum.ToolCalls == 0 {
		return nil
	}
	use := &SeedUse{Seeds: len(seeds), Total: UsageOf(sum), PerTrial: map[Resource]float64{}, sum: sum, trials: trials}
	for _, r := range append(Resources(), InputTokens, OutputTokens) {
		if amount := r.of(sum); !math.IsNaN(amount) {
			use.PerTrial[r] = amount / float64(trials)
		}
	}
	return use
}

// withSeeds tells each trial what the seeds of its method took, so that no method
// looks cheap or stays within a budget by compiling beforehand.
func (d Data) withSeeds() Data {
	if len(d.Seeds) == 0 {
		return d
	}
	uses := make([]*SeedUse, len(d.Methods))
	for m := range d.Methods {
		trials := 0
		d.count(m, func(c Cell) bool {
			if !c.Infra {
				trials++
			}
			return true
		})
		uses[m] = SeedsOf(d.Seeds[d.Methods[m]], trials)
	}
	samples := slices.Clone(d.Samples)
	for i := range samples {
		samples[i].Cells = slices.Clone(samples[i].Cells)
		for m, cells := range samples[i].Cells {
			samples[i].Cells[m] = slices.Clone(cells)
			for e := range cells {
				samples[i].Cells[m][e].seeds = uses[m]
			}
		}
	}
	d.Samples = samples
	return d
}

// fewArtefacts is how many artefacts say something of those that a method would build.
const fewArtefacts = 5

// seeded are the methods of which many samples share few artefacts.
func (d Data) seeded(names ...string) (few []string) {
	for _, name := range names {
		if n := len(d.Seeds[name]); 0 < n && n < fewArtefacts && n < len(d.Samples) {
			few = append(few, name)
		}
	}
	return few
}

// Share is a trial's part, 0 where nothing was built and NaN where it is not known.
func (s *SeedUse) Share(r Resource) float64 {
	if s == nil {
		return 0
	}
	if amount, known := s.PerTrial[r]; known {
		return amount
	}
	return math.NaN()
}

// Whole adds a trial's share of tokens, cost and latency to what the trial used, rounded
// for formats that know whole tokens only. Calls stay the trial's own.
func (s *SeedUse) Whole(trial methods.Usage) methods.Usage {
	if s == nil {
		return trial
	}
	n := int64(s.trials)
	share := func(total int64) int64 { return (total + n/2) / n }
	return trial.Plus(methods.Usage{
		InputTokens: share(s.sum.InputTokens), OutputTokens: share(s.sum.OutputTokens), Unmetered: s.sum.Unmetered, Unpriced: s.sum.Unpriced,
		Cost: methods.NanoUSD(share(int64(s.sum.Cost))), Latency: time.Duration(share(int64(s.sum.Latency))),
		CachedTokens: share(s.sum.CachedTokens), CacheWriteTokens: share(s.sum.CacheWriteTokens), ReasoningTokens: share(s.sum.ReasoningTokens),
	})
}

// Sentence says the split where no table does.
func (s *SeedUse) Sentence() string {
	text := fmt.Sprintf("of each trial's use its share of %d method seeds is %.1f calls", s.Seeds, s.PerTrial[Calls])
	if t, known := s.PerTrial[Tokens]; known {
		text += fmt.Sprintf(", %s tokens", display.Count(int(t+0.5)))
	}
	if usd, known := s.PerTrial[Cost]; known {
		two, _ := strconv.ParseFloat(fmt.Sprintf("%.2g", usd), 64) // two digits, and no exponent
		text += ", $" + strconv.FormatFloat(two, 'f', -1, 64)
	}
	return text
}

// AddSeeds adds to the data of a comparison what the method seeds of runs took, with
// the label that each method has there. A seed that several runs used counts once.
func (d *Data) AddSeeds(label func(run *record.Run, method string) string, runs ...*record.Run) {
	d.Seeds = map[string][]methods.Usage{}
	known := map[[2]string]bool{}
	for _, run := range runs {
		for _, s := range run.Seeds {
			of := label(run, s.Method)
			if built := [2]string{of, s.Key}; !known[built] {
				known[built] = true
				d.Seeds[of] = append(d.Seeds[of], s.Usage)
			}
		}
	}
}
