package anot

import (
	"bytes"
	"encoding/json"
	"fmt"

	"noema/methods/plans"
	"noema/methods/reply"
)

var (
	_ plans.Reader = Method{}
	_ plans.Tracer = Method{}
	_ plans.File   = (*Plan)(nil)
)

// PlanForm implements [plans.Reader].
func (Method) PlanForm() string { return `an LWT, bare or as JSON of the kind "lwt"` }

// ReadPlan implements [plans.Reader]: JSON with a kind, or the bare text of an LWT.
func (Method) ReadPlan(raw []byte) (plans.File, error) {
	var head struct {
		Kind  string
		Atoms json.RawMessage
	}
	bad := json.Unmarshal(raw, &head)
	text := bytes.TrimSpace(raw)
	switch {
	case bytes.HasPrefix(text, []byte("(")), bytes.HasPrefix(text, []byte("#")):
	case bad != nil && bytes.Contains(raw, []byte(`"lwt"`)): // the reader says where it is wrong
	case bad != nil || head.Kind == "" || head.Atoms != nil:
		return nil, nil
	}
	p, err := ReadPlan(raw)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// Origin implements [plans.File].
func (p *Plan) Origin() *plans.Origin { return p.From }

// SetOrigin implements [plans.File].
func (p *Plan) SetOrigin(o *plans.Origin, query string) { p.From, p.Query = o, query }

// NeedsModel implements [plans.File]: its steps ask one.
func (p *Plan) NeedsModel() bool { return true }

// Encode implements [plans.File].
func (p *Plan) Encode() ([]byte, error) { return plans.Encode(p) }

// Lines implements [plans.File]: the strategy, and the steps layer by layer.
func (p *Plan) Lines() []string {
	lines := append([]string{}, p.Strategy...)
	uses := map[string][]string{}
	g := p.Graph()
	for _, e := range g.Edges {
		uses[e.To] = append(uses[e.To], e.From)
	}
	for _, n := range g.Nodes {
		line := fmt.Sprintf("%s  layer %d  %s", n.ID, n.Layer, reply.OneLine(n.Text, 100))
		if len(uses[n.ID]) > 0 {
			line += fmt.Sprintf("  after %v", uses[n.ID])
		}
		lines = append(lines, line)
	}
	return lines
}
