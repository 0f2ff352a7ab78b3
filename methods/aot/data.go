package aot

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"noema/methods"
	"noema/methods/reply"
)

// maxData is how many bytes of data a prompt shows in full where tools can look
// into them.
const maxData = 8000

// data shows the problem's context: one value to a line, or an outline.
func (t *solver) data() (string, error) {
	if len(bytes.TrimSpace(t.Context)) == 0 {
		return "", nil
	}
	var fields map[string]any
	if err := decode(t.Context, &fields); err != nil {
		return "", fmt.Errorf("decode context: %w", err)
	}
	var lines []string
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		lines = append(lines, key+": "+string(encode(fields[key])))
	}
	text := strings.Join(lines, "\n")
	if t.opts.Data == "outline" || t.opts.Data == "auto" && len(text) > maxData && len(t.Tools) > 0 {
		outline := outlineOf(fields)
		t.Emit(planPhase, methods.Truncated, 2, nil, "data: an outline of %d bytes in the place of %d bytes", len(outline), len(text))
		text = outline
	}
	if limit := t.opts.MaxContextChars; limit > 0 {
		short, cut := reply.Head(text, limit)
		if cut {
			t.Emit(planPhase, methods.Truncated, 1, nil, "data: %d of %d bytes shown (head)", len(short), len(text))
		}
		text = short
	}
	return text, nil
}
