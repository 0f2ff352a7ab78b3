package lab

import (
	"context"
	"fmt"
	"slices"
	"time"

	"noema/kernel/result/compare"
)

// looking bounds what a look may wait for the store, which another process may own.
const looking = 5 * time.Second

// Look is c as it is seen now: the look at its verdict is recorded in the store, and
// what all looks mean for it is among its notes. If the store cannot be read or
// written, a note says so, and all else is as it is.
func (c *Comparison) Look() *Comparison {
	if !c.LooksCount() || c.merged == nil {
		return c
	}
	seen := *c.Comparison
	out := *c
	out.Comparison = &seen
	problem := c.look(&seen)
	seen.Notes = nil
	if seen.Looks != nil {
		seen.Notes = seen.Looks.Notes
	}
	if problem != nil {
		seen.Notes = append(seen.Notes, fmt.Sprintf("this look at the comparison is not recorded, and later ones do not count it: %v", problem))
	}
	seen.Notes = slices.Concat(seen.Notes, c.notes)
	return &out
}

// Light is c without the trials that it is made from, as it was last looked at.
func (c *Comparison) Light() *Comparison {
	light := *c
	light.merged = nil
	return &light
}

// look reads the earlier looks into seen and adds this one.
func (c *Comparison) look(seen *compare.Comparison) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.lab.o.Context()), looking)
	defer cancel()
	store, err := c.lab.Store()
	if err != nil {
		return err
	}
	return c.merged.Look(ctx, store, seen, c.Runs)
}
