package gateway

import (
	"errors"
	"fmt"
	"noema/kernel/result/record"
	"noema/methods"
)

// ErrRunLimit says that a limit of the whole run is reached: the run stops
// and can be resumed with a higher one.
var ErrRunLimit = errors.New("run limit reached")

// runLimitError names the limit that is reached.
type runLimitError struct{ limit string }

// Error names the cure, too.
func (e *runLimitError) Error() string {
	return fmt.Sprintf("%v: %s: raise the limit and run the same command to go on", ErrRunLimit, e.limit)
}

// Unwrap marks the error.
func (e *runLimitError) Unwrap() error { return ErrRunLimit }

// LimitOf is the limit of the run, such as "5000 tokens", that err says was reached;
// empty for any other error.
func LimitOf(err error) string {
	if reached, ok := errors.AsType[*runLimitError](err); ok {
		return reached.limit
	}
	return ""
}

// charge adds u to what the run has used and stops the run at its limit.
func (g *Gateway) charge(u methods.Usage) {
	if g.opts.Purse != nil {
		g.opts.Purse.charge(u)
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.spent = g.spent.Plus(u)
	if limit := g.opts.RunLimits.Exceeded(g.spent); limit != "" && g.fatal == nil {
		g.fatal = &runLimitError{limit}
	}
}

// Spent is what the run was charged so far, by earlier executions and this one.
func (g *Gateway) Spent() methods.Usage {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.spent
}

// countable stops the run if it has a limit on a cost or on tokens that are
// unknown for its calls: such a limit could never fire.
func (g *Gateway) countable(trial record.Limits, u methods.Usage) {
	run := g.opts.RunLimits
	switch {
	case u.Unpriced > 0 && (trial.Cost > 0 || run.Cost > 0):
		g.abort(fmt.Errorf("limit the cost: the price of %s is unknown: set price_input and price_output, or use --token-limit", g.id))
	case u.Unmetered > 0 && (trial.Tokens > 0 || run.Tokens > 0):
		g.abort(fmt.Errorf("limit the tokens: the server of %s does not report token counts, or none that can be: limit calls or time instead", g.id))
	}
}
