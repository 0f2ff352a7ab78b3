package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"noema/cache"
	"noema/kernel/base/verbatim"
	"noema/kernel/result/record"
	"noema/methods"
)

// nearestRaw is the recorded request of the trial that a program's request is most like: of
// those of its wire the one with which it has the most in common from its beginning.
func (h *Host) nearestRaw(ctx context.Context, r methods.Request) (near record.Call, asked methods.Request, found bool) {
	const look = 200 // requests, so that a miss of a long trial is told soon
	best := -1
	for _, c := range h.trial.Recorded.Calls[:min(look, len(h.trial.Recorded.Calls))] {
		key, err := cache.ParseKey(c.Key)
		if c.Kind != record.CompletionCall || err != nil {
			continue
		}
		other, _, err := h.gateway.opts.Store.Request(ctx, key)
		if err != nil || other.Raw == nil || other.Raw.Wire != r.Raw.Wire {
			continue
		}
		if n := common(verbatim.Same(*other.Raw), verbatim.Same(*r.Raw)); n > best {
			best, near, asked = n, c, other
		}
	}
	return near, asked, best >= 0
}

// common is how many bytes two texts have in common at their beginning.
func common(a, b []byte) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// explainRawMiss says which recorded request of a program is the nearest, and in which field
// the two differ first.
func (h *Host) explainRawMiss(ctx context.Context, r methods.Request, miss error) error {
	near, asked, found := h.nearestRaw(ctx, r)
	if !found {
		return fmt.Errorf("%w: the recorded trial has no request of %s", miss, r.Raw.Wire)
	}
	var was, now any
	if json.Unmarshal(verbatim.Same(*asked.Raw), &was) == nil && json.Unmarshal(verbatim.Same(*r.Raw), &now) == nil {
		if d := fieldDifference("", was, now); d != "" {
			return fmt.Errorf("%w: the nearest recorded request is %s, and it differs in %s", miss, near.Path, d)
		}
	}
	return fmt.Errorf("%w: the nearest recorded request is %s, and it is the same: this one was made once more than before (draw %d)", miss, near.Path, r.Draw)
}

// fieldDifference names the first field in which two JSON values differ, with both values, or
// is empty.
func fieldDifference(at string, was, now any) string {
	switch was := was.(type) {
	case map[string]any:
		if now, ok := now.(map[string]any); ok {
			names := slices.Sorted(maps.Keys(was))
			for name := range now {
				if _, both := was[name]; !both {
					names = append(names, name)
				}
			}
			slices.Sort(names)
			for _, name := range names {
				if d := fieldDifference(strings.TrimPrefix(at+"."+name, "."), was[name], now[name]); d != "" {
					return d
				}
			}
			return ""
		}
	case []any:
		if now, ok := now.([]any); ok {
			for i := range min(len(was), len(now)) {
				if d := fieldDifference(fmt.Sprintf("%s[%d]", at, i), was[i], now[i]); d != "" {
					return d
				}
			}
			if len(was) != len(now) {
				return fmt.Sprintf("%s: %d elements were recorded, now there are %d", at, len(was), len(now))
			}
			return ""
		}
	case string:
		if now, ok := now.(string); ok {
			if was == now {
				return ""
			}
			return at + ", " + firstTextDifference(was, now)
		}
	}
	if a, b := fmt.Sprint(was), fmt.Sprint(now); a != b {
		return fmt.Sprintf("%s: recorded %.60s, now %.60s", at, a, b)
	}
	return ""
}
