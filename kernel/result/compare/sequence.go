package compare

import (
	"errors"
	"fmt"
	"slices"

	"noema/kernel/result/record"
)

// Sequence carries a sequential design out: it is told what the methods scored,
// sample by sample in the declared order, and says which of them the next sample is
// asked of. A method is asked as long as one of its pairs is open.
type Sequence struct {
	races [][]*race // of methods i and j, i < j
	Asked []int     // samples, by method
	at    int
	total int
}

// NewSequence begins with the first sample. test is as [Options.Test]; clusters names the cluster of each
// sample in the declared order, "" for one that stands alone.
func NewSequence(design record.Design, test string, methods int, clusters []string) *Sequence {
	s := &Sequence{races: make([][]*race, methods), Asked: make([]int, methods), total: len(clusters)}
	p := newSchedule(design, test, clusters, methods*(methods-1)/2)
	for i := range methods {
		s.races[i] = make([]*race, methods)
		for j := range i {
			s.races[j][i] = newRace(p)
		}
	}
	return s
}

// At is the place of the next sample, from 0.
func (s *Sequence) At() int { return s.at }

// Asks reports whether the next sample is asked of method m.
func (s *Sequence) Asks(m int) bool {
	if s.at == s.total {
		return false
	}
	for i := range s.races {
		if i != m && s.races[min(i, m)][max(i, m)].stop.State == Open {
			return true
		}
	}
	return false
}

// Done reports whether nothing is left to ask.
func (s *Sequence) Done() bool {
	return !slices.ContainsFunc(s.races, func(row []*race) bool {
		return slices.ContainsFunc(row, func(r *race) bool { return r != nil && r.stop.State == Open })
	}) || s.at == s.total
}

// Add takes what the methods scored on the next sample, within 0 and 1.
func (s *Sequence) Add(values []Reading) error {
	for _, x := range values {
		if x.Seen < 0 || x.Seen > 1 {
			return fmt.Errorf("stop early: a trial scored %g: only measures within 0 and 1 can be followed: scale it to that range", x.Seen)
		}
	}
	for m := range values {
		if s.Asks(m) {
			s.Asked[m]++
		}
	}
	for i, row := range s.races {
		for j, r := range row {
			if r != nil && r.stop.State == Open {
				r.add(values[i], values[j])
			}
		}
	}
	s.at++
	return nil
}

// CheckDesign refuses a design that no run can have.
func CheckDesign(d record.Design, methods, samples int) error {
	switch {
	case methods < 2:
		return errors.New("stop early: one method has nothing to be compared with: name two")
	case d.Looks == 1:
		return errors.New("looks: one look is the same as none: take at least 2")
	case d.Looks > samples:
		return fmt.Errorf("looks: %d looks at %d samples: take at most one a sample", d.Looks, samples)
	}
	return nil
}
