package gateway

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"noema/cache"
	"noema/kernel/result/record"
	"noema/methods"
)

// explainMiss says what the nearest recorded request is and where it first
// differs from r: the recorded call at the same path, if the trial has one.
func (h *Host) explainMiss(ctx context.Context, r methods.Request, miss error) error {
	if h.trial.Recorded == nil {
		return fmt.Errorf("%w: this was never run", miss)
	}
	if r.Raw != nil {
		return h.explainRawMiss(ctx, r, miss)
	}
	var nearest *record.Call
	for i, c := range h.trial.Recorded.Calls {
		if c.Kind == record.CompletionCall && c.Path == r.Path && (nearest == nil || c.Draw == r.Draw) {
			nearest = &h.trial.Recorded.Calls[i]
		}
	}
	if nearest == nil {
		return fmt.Errorf("%w: the recorded trial has no call %s", miss, r.Path)
	}
	key, err := cache.ParseKey(nearest.Key)
	if err != nil {
		return fmt.Errorf("%w: recorded key: %w", miss, err)
	}
	recorded, id, err := h.gateway.opts.Store.Request(ctx, key)
	if err != nil {
		return fmt.Errorf("%w: the recorded request at this path cannot be read: %w", miss, err)
	}
	if id != h.gateway.id {
		return fmt.Errorf("%w: recorded with model %s, now %s", miss, id, h.gateway.id)
	}
	if d := firstDifference(recorded, r); d != "" {
		return fmt.Errorf("%w: the request at this path differs from the recorded one: %s", miss, d)
	}
	return fmt.Errorf("%w: the request is recorded but its answer is not in the store", miss)
}

// firstDifference describes where request b first departs from a, or is empty
// if they have the same key fields.
func firstDifference(a, b methods.Request) string {
	if len(a.Messages) != len(b.Messages) {
		return fmt.Sprintf("%d messages were recorded, now there are %d", len(a.Messages), len(b.Messages))
	}
	for i := range a.Messages {
		ma, mb := a.Messages[i], b.Messages[i]
		if ma.Role != mb.Role {
			return fmt.Sprintf("message %d is from %s, was from %s", i+1, mb.Role, ma.Role)
		}
		if d := firstTextDifference(ma.Content, mb.Content); d != "" {
			return fmt.Sprintf("message %d (%s), %s", i+1, ma.Role, d)
		}
		if d := firstTextDifference(callsText(ma), callsText(mb)); d != "" {
			return fmt.Sprintf("tool calls of message %d, %s", i+1, d)
		}
	}
	if sa, sb := fmt.Sprintf("%+v", a.Sampling), fmt.Sprintf("%+v", b.Sampling); sa != sb {
		return "sampling: recorded " + sa + ", now " + sb
	}
	if a.Draw != b.Draw {
		return fmt.Sprintf("draw: recorded %d, now %d", a.Draw, b.Draw)
	}
	if sa, sb := schemaText(a.Schema), schemaText(b.Schema); sa != sb {
		return "schema, " + firstTextDifference(sa, sb)
	}
	if d := firstTextDifference(toolsText(a.Tools), toolsText(b.Tools)); d != "" {
		return "tools, " + d
	}
	return ""
}

// callsText is what the key covers of a message besides its role and content.
func callsText(m methods.Message) string {
	s := m.CallID
	for _, c := range m.ToolCalls {
		s += fmt.Sprintf("\n%s %s %s", c.ID, c.Name, c.Arguments)
	}
	return s
}

// toolsText is what the key covers of tools.
func toolsText(tools []methods.ToolSpec) string {
	s := ""
	for _, t := range tools {
		s += fmt.Sprintf("%s %s\n%s\n", t.Name, t.Parameters, t.Description)
	}
	return s
}

func schemaText(s *methods.Schema) string {
	if s == nil {
		return ""
	}
	return s.Name + " " + string(s.JSON)
}

// firstTextDifference quotes both texts around the first byte that differs.
func firstTextDifference(a, b string) string {
	if a == b {
		return ""
	}
	at := 0
	for at < len(a) && at < len(b) && a[at] == b[at] {
		at++
	}
	line := strings.Count(a[:at], "\n") + 1
	return fmt.Sprintf("line %d, byte %d: recorded %s, now %s", line, at, excerpt(a, at), excerpt(b, at))
}

// excerpt quotes s from a little before at.
func excerpt(s string, at int) string {
	from, to := max(0, at-20), min(len(s), at+40)
	return strconv.Quote(strings.ToValidUTF8(s[from:to], ""))
}
