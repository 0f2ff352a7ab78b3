package generalanot

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"noema/methods"
	"noema/methods/reply"
)

// Relevant picks the reviews that have one of the seed's keywords. The filter is
// words, substring or none: those by meaning need a host.
func (p *Program) Relevant(c *Context, filter string) []Review {
	m := newMatcher(p.Seed.FilterKeywords, filter)
	var picked []Review
	for _, r := range c.Reviews {
		if m.matches(r.Text) {
			picked = append(picked, r)
		}
	}
	return picked
}

// extracted is what came of the extract phase.
type extracted struct {
	list    []Extraction // in the order of the reviews
	lost    int          // reviews without an extraction
	unread  int          // those of them that were lost to unusable replies
	because error        // why the first of them was lost
}

// outcome is the outcome of an answer that lacks the lost extractions.
func (e extracted) outcome() methods.Outcome {
	if e.unread == e.lost {
		return methods.Unparsed
	}
	return methods.Failed
}

func (e extracted) reason(asked int) string {
	return reply.OneLine(fmt.Sprintf("%d of %d extractions failed: %v", e.lost, asked, e.because), maxReason)
}

// maxConcurrent bounds the calls that wait at the host at once.
const maxConcurrent = 256

// extract is the extract phase: one call for each review and pass, at the same
// time. A call that fails does not stop the others, so that the set of calls
// does not depend on which one was faster.
func (t *trial) extract(ctx context.Context, p *Program, relevant []Review) (extracted, error) {
	t.emit(phaseExtract, methods.PhaseStart, 1, nil, "extract %d fields from each of %d reviews", len(p.Seed.ExtractionFields), len(relevant))
	passes := t.opts.Passes
	if len(p.Seed.ExtractionFields) == 0 {
		passes = 1 // there is nothing to ask
	}
	results := make([]Extraction, len(relevant)*passes)
	errs := make([]error, len(relevant)*passes)
	slots := make(chan struct{}, maxConcurrent)
	var all sync.WaitGroup
	for i := range results {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			results[i], errs[i] = t.extractOne(ctx, p.Seed, relevant[i/passes], i%passes)
		})
	}
	all.Wait()
	if passes > 1 {
		var err error
		if results, errs, err = t.reconcile(p.Seed, relevant, results, errs); err != nil {
			return extracted{}, err
		}
	}
	return t.collect(relevant, results, errs)
}

// collect separates what succeeded from what failed. Errors that end the trial
// are returned.
func (t *trial) collect(relevant []Review, results []Extraction, errs []error) (extracted, error) {
	var e extracted
	for i, err := range errs {
		if err == nil || results[i].agreement != nil {
			e.list = append(e.list, results[i])
		}
		if err == nil {
			continue
		}
		if isFatal(err) {
			return e, err
		}
		e.lost++
		e.because = cmp.Or(e.because, err)
		if errors.Is(err, reply.ErrInvalid) {
			e.unread++
		}
		if results[i].agreement == nil {
			t.emit(extractPath(relevant[i]), methods.StepError, 1, nil, "left out: %v", err)
		}
	}
	t.emit(phaseExtract, methods.PhaseEnd, 1, map[string]int{"n_extracted": len(e.list), "n_failed": e.lost},
		"%d extractions, %d failed", len(e.list), e.lost)
	return e, nil
}

func isFatal(err error) bool {
	for _, fatal := range []error{context.Canceled, context.DeadlineExceeded, methods.ErrBudget, methods.ErrMiss} {
		if errors.Is(err, fatal) {
			return true
		}
	}
	return false
}

func extractPath(r Review) string { return phaseExtract + "/" + r.label() }

// label names a review in paths: r3, or i2/r3 for that of the second item.
func (r Review) label() string {
	name := "r" + strconv.Itoa(r.N)
	if r.item > 0 {
		name = "i" + strconv.Itoa(r.item) + "/" + name
	}
	return name
}

// extractOne asks about one review, in one of the passes, counted from 0.
// Without extraction fields there is nothing to ask.
func (t *trial) extractOne(ctx context.Context, s *FormulaSeed, r Review, pass int) (Extraction, error) {
	e := Extraction{Review: r.N, item: r.item}
	if len(s.ExtractionFields) == 0 {
		return e, ctx.Err()
	}
	path := passPath(r, pass)
	req := t.Request(path, methods.Ask(extractPrompt(s, r, t.cut(s, r, pass)))...)
	req.Schema = extractSchema(s.ExtractionFields)
	if pass > 0 {
		req.Draw, req.Sampling.Temperature = pass, t.opts.Temperature
	}
	read := func(raw json.RawMessage) (err error) {
		e.Fields, err = readFields(s.ExtractionFields, raw)
		return err
	}
	if _, _, err := reply.JSON(ctx, t.Host, req, read, reply.Options{Retries: t.opts.Retries}); err != nil {
		return e, err
	}
	t.emit(path, methods.StepResult, 2, e.Fields, "%s", e.text(s.ExtractionFields))
	return e, nil
}

// cut is the part of a review that the model sees.
func (t *trial) cut(s *FormulaSeed, r Review, pass int) string {
	h := ReviewHandling{MaxLength: t.opts.MaxReviewChars, Strategy: t.opts.Strategy}
	if h.MaxLength == 0 && s.ReviewHandling != nil {
		h = *s.ReviewHandling
	}
	text, missing := h.cut(r.Text)
	if missing > 0 && pass == 0 {
		t.emit(extractPath(r), methods.Truncated, 1, nil, "%d characters of the review are not shown (keep the %s)", missing, h.strategy())
	}
	return text
}
