package record

import (
	"encoding/json"
	"fmt"
	"slices"
)

// lightFormat is the version of light trials in the store, to be raised when what their facts
// say changes.
const lightFormat = 1

// lightTrials are light trials as the store keeps them.
type lightTrials struct {
	Format int          `json:"format"`
	Trials []lightTrial `json:"trials"`
}

// lightTrial is a light trial with its facts. Completions are those of the facts in a row, of
// usedSize bytes each, which are not text.
type lightTrial struct {
	*Trial
	Facts       Facts  `json:"facts"`
	Completions []byte `json:"completions"`
}

// usedSize is the length of what [Used] returns.
const usedSize = 32

// MarshalLight encodes trials without their transcripts.
func MarshalLight(trials []*Trial) ([]byte, error) {
	all := lightTrials{Format: lightFormat}
	for _, t := range trials {
		one := lightTrial{Trial: t.With(Facts{}), Facts: t.Facts()}
		for _, used := range one.Facts.Completions {
			one.Completions = append(one.Completions, used...)
		}
		one.Facts.Completions = nil
		all.Trials = append(all.Trials, one)
	}
	return Marshal(all)
}

// UnmarshalLight decodes light trials. Those of another format are an error: their facts
// would say something else.
func UnmarshalLight(raw []byte) ([]*Trial, error) {
	var all lightTrials
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, fmt.Errorf("decode light trials: %w", err)
	}
	if all.Format != lightFormat {
		return nil, fmt.Errorf("decode light trials: their format is %d, and this noema reads %d", all.Format, lightFormat)
	}
	trials := make([]*Trial, len(all.Trials))
	for i, one := range all.Trials {
		if len(one.Completions)%usedSize != 0 {
			return nil, fmt.Errorf("decode light trials: trial %d: %d bytes of completions are not a multiple of %d", i+1, len(one.Completions), usedSize)
		}
		for used := range slices.Chunk(one.Completions, usedSize) {
			one.Facts.Completions = append(one.Facts.Completions, string(used))
		}
		if one.Trial == nil {
			one.Trial = &Trial{}
		}
		facts := one.Facts
		one.Trial.facts, one.Trial.Answer = &facts, canonicalAnswer(one.Trial.Answer)
		trials[i] = one.Trial
	}
	return trials, nil
}
