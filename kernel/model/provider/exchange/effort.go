package exchange

import (
	"fmt"
	"strconv"
	"strings"

	"noema/kernel/model/provider/prices"
	"noema/methods/reply"
)

// Options are those of a model of a server that can be told how much to think.
type Options struct {
	Effort   string `json:"effort" doc:"how much the model thinks: none, a level such as low, medium or high, or a number of tokens where the protocol has budgets (default: the model's own)"`
	Thoughts string `json:"thoughts" doc:"the marks between which the model thinks within its replies, as in <a>,</a>, where they are not known"`
	prices.Options
}

// Marks are the marks of thoughts as a user wrote them.
func (o Options) Marks() (string, error) {
	if _, ok := reply.ParseMarks(o.Thoughts); o.Thoughts != "" && !ok {
		return "", fmt.Errorf("thoughts %q: write the two marks with a comma between, as in thoughts=<a>,</a>", o.Thoughts)
	}
	return o.Thoughts, nil
}

// Effort is how much a model is to think before it answers. The zero value leaves that to the
// model: nothing of it is sent.
type Effort struct {
	Level  string // such as "low", or "none"; empty where Tokens are given
	Tokens int    // the most tokens of thoughts
}

// ReadEffort reads the option of a model. least is the smallest budget of tokens that the
// protocol takes; 0 says that it takes levels alone.
func (o Options) ReadEffort(kind string, least int) (Effort, error) {
	n, err := strconv.Atoi(o.Effort)
	switch {
	case err != nil && strings.Trim(o.Effort, "abcdefghijklmnopqrstuvwxyz") != "":
		return Effort{}, fmt.Errorf("%s: effort %q: use none, a level such as low, or a number of tokens", kind, o.Effort)
	case err != nil:
		return Effort{Level: o.Effort}, nil
	case least == 0:
		return Effort{}, fmt.Errorf("%s: effort %q: the protocol has no budget of tokens: use a level, such as low", kind, o.Effort)
	case n < least:
		return Effort{}, fmt.Errorf("%s: effort %q: the smallest budget is %d tokens: use more, a level such as low, or none", kind, o.Effort, least)
	}
	return Effort{Tokens: n}, nil
}

// Identity is the effort as a part of what changes the model's answers; empty for the model's own.
func (e Effort) Identity() string {
	switch {
	case e.Tokens > 0:
		return "effort=" + strconv.Itoa(e.Tokens)
	case e.Level != "":
		return "effort=" + e.Level
	}
	return ""
}
