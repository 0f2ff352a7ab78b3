package reply

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"noema/methods"
)

// Question is a problem as text: its data, the question, and which answer is wanted. The
// baselines put it to their models, and programs get it.
func Question(p methods.Problem) (string, error) {
	items, data, err := DataOf(p.Context, p.Answer.Kind)
	if err != nil {
		return "", err
	}
	return Posed(p.Query, items, data, p.Answer), nil
}

// Posed is the part of a prompt that all baselines share: the data, as [DataOf] gives them,
// the request and what is asked for beyond it.
func Posed(query, items, context string, spec methods.AnswerSpec) string {
	var b strings.Builder
	if items != "" {
		fmt.Fprintf(&b, "<items>\n%s\n</items>\n", items)
	}
	if context != "" {
		fmt.Fprintf(&b, "<data>\n%s\n</data>\n", context)
	}
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	b.WriteString(strings.TrimRight(query, "\n") + "\n\n" + Wanted(spec))
	return b.String()
}

// Wanted says in words which answer is wanted, where the form does not.
func Wanted(spec methods.AnswerSpec) string {
	switch spec.Kind {
	case methods.Ranking:
		return fmt.Sprintf("Rank the items 1 to %d by how well they fit this request and name the best %d by their numbers, best first.\n", spec.N, spec.K)
	case methods.Choice:
		return "Choose one of these labels: " + `"` + strings.Join(spec.Labels, `", "`) + `"` + ".\n"
	case methods.Set:
		if len(spec.Labels) > 0 {
			return "Choose all that are right of these labels: " + `"` + strings.Join(spec.Labels, `", "`) + `"` + ".\n"
		}
	}
	return ""
}

// itemsKey is the key of a ranking problem's context that holds its items.
const itemsKey = "items"

// DataOf writes the problem's context, one value to a line: the items of
// a ranking by number, everything else by name.
func DataOf(context json.RawMessage, kind methods.AnswerKind) (items, data string, err error) {
	if len(bytes.TrimSpace(context)) == 0 {
		return "", "", nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(context, &fields); err != nil {
		return "", "", fmt.Errorf("decode context: %w", err)
	}
	if raw, ok := fields[itemsKey]; ok && kind == methods.Ranking {
		var list []json.RawMessage
		if err := json.Unmarshal(raw, &list); err != nil {
			return "", "", fmt.Errorf("decode context: %q: %w", itemsKey, err)
		}
		lines := make([]string, len(list))
		for i, item := range list {
			lines[i] = fmt.Sprintf("%d: %s", i+1, Line(item))
		}
		items = strings.Join(lines, "\n")
		delete(fields, itemsKey)
	}
	var lines []string
	for _, k := range slices.Sorted(maps.Keys(fields)) {
		lines = append(lines, k+": "+Line(fields[k]))
	}
	return items, strings.Join(lines, "\n"), nil
}

// htmlEscapes are the escapes by which Go keeps JSON safe inside HTML. The first
// pair passes over an escaped backslash, which may stand before the same letters.
var htmlEscapes = strings.NewReplacer(`\\`, `\\`, `\u003c`, "<", `\u003e`, ">", `\u0026`, "&")

// Line is raw without needless spaces and without HTML's escapes, which cost
// tokens and mean nothing to a model.
func Line(raw json.RawMessage) string {
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		return string(raw) // it is valid: it was decoded before
	}
	text := strings.ToValidUTF8(b.String(), "\ufffd")
	if !strings.Contains(text, `\u`) { // nearly always, and looking is quicker than replacing
		return text
	}
	return htmlEscapes.Replace(text)
}
