package jupyter

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"noema/kernel/base/display"
	"noema/kernel/result/record"
	"noema/kernel/session/cell"
	"noema/kernel/show/report"
	"noema/methods"
)

// Difference says that a cell showed something else than the notebook has.
type Difference struct {
	Cell int    // as in In [3], from 1
	Diff string // line by line, the saved outputs against those of the run
	// Failed is whether the cell failed, unlike the saved one; no cell after it ran.
	Failed bool
}

// maxOutputs bounds what a run collects, in bytes.
const maxOutputs = 256 << 20

// Run runs the cells from the top in a session, which should be fresh, and
// returns the cells that showed something else than what is saved. What differs
// from run to run is left out of the comparison; see [volatile].
func (n *Notebook) Run(ctx context.Context, s Session, o Options) ([]Difference, error) {
	var found []Difference
	c := &collector{shown: map[string]savedOutput{}}
	k := &kernel{session: s, o: o, id: "notebook", numbers: numbers{}, places: places{ran: map[string]span{}}, collect: c.add}
	k.history, _ = cell.OpenHistory("", 0) // kept in memory
	k.output = newOutput(k)
	s.Fallback(k.output)
	for i := range n.cells {
		b := &n.cells[i]
		raw, err := json.Marshal(map[string]any{"code": b.code, "allow_stdin": false})
		if err != nil {
			return nil, err
		}
		k.execute(ctx, &message{content: raw})
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if b.fresh, err = c.take(); err != nil {
			return nil, fmt.Errorf("cell %d: %w", i+1, err)
		}
		if failed(b.fresh) && !failed(b.saved) {
			b.differs = true
			return append(found, Difference{Cell: i + 1, Diff: differing(b.saved, b.fresh), Failed: true}), nil
		}
	}
	for i := range n.cells { // now that no later cell can update a display
		b := &n.cells[i]
		if diff := differing(b.saved, b.fresh); diff != "" && !b.ignored {
			b.differs = true
			found = append(found, Difference{Cell: i + 1, Diff: diff})
		}
	}
	return found, nil
}

func failed(outputs []savedOutput) bool {
	return slices.ContainsFunc(outputs, func(o savedOutput) bool { return o["output_type"] == "error" })
}

// collector makes outputs of nbformat from the messages of a kernel.
type collector struct {
	mu      sync.Mutex             // goroutines of cells print, too
	outputs []savedOutput          // of the running cell
	shown   map[string]savedOutput // by display id, of all cells
	clear   bool                   // with the next output
	size    int
}

// add takes a message on. Its content is as nbformat has it, but for what is only
// of the moment.
func (c *collector) add(kind string, content map[string]any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := savedOutput(maps.Clone(content))
	id := displayID(content)
	delete(out, "transient")
	switch kind {
	case "clear_output":
		if c.clear = content["wait"] == true; !c.clear {
			c.outputs = nil
		}
		return
	case "update_display_data":
		if earlier, ok := c.shown[id]; ok {
			earlier["data"], earlier["metadata"] = out["data"], out["metadata"]
		}
		return
	case "stream", "display_data", "execute_result", "error":
	default:
		return
	}
	raw, err := methods.EncodeJSON(out)
	if c.size += len(raw); err != nil || c.size > maxOutputs {
		return
	}
	if c.clear {
		c.outputs, c.clear = nil, false
	}
	if last := len(c.outputs) - 1; kind == "stream" && last >= 0 && c.outputs[last]["name"] == out["name"] {
		c.outputs[last]["text"] = c.outputs[last]["text"].(string) + out["text"].(string)
		return
	}
	out["output_type"] = kind
	if c.outputs = append(c.outputs, out); id != "" {
		c.shown[id] = out
	}
}

// take returns the outputs of the cell that ended.
func (c *collector) take() ([]savedOutput, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.outputs
	c.outputs, c.clear = nil, false
	if c.size > maxOutputs {
		return nil, fmt.Errorf("the outputs have more than %d MiB", maxOutputs>>20)
	}
	return out, nil
}

func displayID(content map[string]any) string {
	transient, _ := content["transient"].(map[string]any)
	id, _ := transient["display_id"].(string)
	return id
}

// differing compares outputs; "" if they say the same. Where texts differ, the
// forms for pages are left out of the difference.
func differing(saved, fresh []savedOutput) string {
	for _, pages := range []bool{false, true} {
		if d := report.LineDiff(outputText(saved, pages), outputText(fresh, pages)); d != "" {
			return d
		}
	}
	return ""
}

// outputText is what outputs show, without what is volatile.
func outputText(outputs []savedOutput, pages bool) string {
	var b strings.Builder
	for _, o := range outputs {
		switch o["output_type"] {
		case "stream":
			fmt.Fprintf(&b, "(%v)\n%v\n", o["name"], o["text"])
		case "error":
			fmt.Fprintf(&b, "(error) %v: %v\n", o["ename"], o["evalue"])
		default:
			data, _ := o["data"].(map[string]any)
			forms := slices.Sorted(maps.Keys(data))
			fmt.Fprintf(&b, "(%s)\n", strings.Join(forms, ", "))
			for _, mime := range forms {
				if mime == display.PlainText || pages {
					fmt.Fprintf(&b, "%s\n", asText(data[mime]))
				}
			}
		}
	}
	text := b.String()
	for _, v := range volatile() {
		text = v.ReplaceAllString(text, "…")
	}
	return text
}

// asText is a form of an output as a text: JSON in its canonical form.
func asText(value any) string {
	if s, ok := value.(string); ok {
		return s
	}
	raw, _ := json.Marshal(value) // it came from JSON
	var plain any
	_ = json.Unmarshal(raw, &plain)
	raw, _ = json.Marshal(plain)
	return string(raw)
}

// volatile are the parts of outputs that differ from run to run: the names of
// runs, which hold the time, what was asked of a provider and what the store had,
// and the time that %time says.
func volatile() []*regexp.Regexp {
	return []*regexp.Regexp{
		regexp.MustCompile(`\b` + record.RunIDPattern + `\b`),
		regexp.MustCompile(`\b[\d,]+ new\b`),
		regexp.MustCompile(`\b[\d,]+ to the provider, [\d,]+ from the store\b(?:, [\d,]+ runs? of tools)?`),
		regexp.MustCompile(`\btook [\d.hmµn]+s\b`),
	}
}

// Updated is the file with the outputs of the run where they differ. Nothing else
// of it changes.
func (n *Notebook) Updated() ([]byte, error) {
	var out bytes.Buffer
	at := int64(0)
	for i, c := range n.cells {
		if !c.differs {
			continue
		}
		for _, o := range c.fresh {
			o.split()
		}
		if c.fresh == nil {
			c.fresh = []savedOutput{}
		}
		raw, err := indented(c.fresh)
		if err != nil {
			return nil, fmt.Errorf("write the outputs of cell %d: %w", i+1, err)
		}
		parts := []struct {
			place
			text string
		}{{c.outputs, raw}, {c.count, fmt.Sprint(i + 1)}}
		if c.count.from < c.outputs.from {
			slices.Reverse(parts)
		}
		for _, p := range parts {
			out.Write(n.raw[at:p.from])
			out.WriteString(p.text)
			at = p.to
		}
	}
	out.Write(n.raw[at:])
	return out.Bytes(), nil
}

// split writes texts as lists of lines, as Jupyter does, so that version control
// shows what changed.
func (o savedOutput) split() {
	if text, ok := o["text"].(string); ok {
		o["text"] = lines(text)
	}
	if data, ok := o["data"].(map[string]any); ok {
		data = maps.Clone(data)
		for mime, value := range data {
			text, ok := value.(string)
			if ok && (strings.HasPrefix(mime, "text/") || mime == display.SVG) {
				data[mime] = lines(text)
			}
		}
		o["data"] = data
	}
}

func lines(text string) []string { return append([]string{}, slices.Collect(strings.Lines(text))...) }

// indented is JSON as Jupyter indents it, for the place of a cell's outputs.
func indented(v any) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("   ", " ")
	if err := e.Encode(v); err != nil {
		return "", err
	}
	return strings.TrimSpace(b.String()), nil
}
