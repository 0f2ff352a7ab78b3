package methods

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// GraphDrawn is the kind of the event with which a method shows its own graph:
// an LWT, a compute DAG, atoms, a research tree. Its Data is a [Graph]. A
// later graph event of the same trial takes the earlier one's place.
const GraphDrawn EventKind = "graph"

// Graph is what a method builds while it works, in a form that every viewer
// can draw without knowing the method.
type Graph struct {
	Kind  string `json:"kind"` // what it is, such as "lwt", "compute", "atoms", "tree"
	Nodes []Node `json:"nodes"`
	Edges []Edge `json:"edges,omitempty"`
}

// Node is a step, an atom, a formula or a finding.
type Node struct {
	ID    string `json:"id"`              // unique in the graph
	Label string `json:"label,omitempty"` // one short line; empty shows the ID
	Kind  string `json:"kind,omitempty"`  // what sort of node, such as "tool" or "final"
	Layer int    `json:"layer,omitempty"` // position along the flow, from 0
	Text  string `json:"text,omitempty"`  // what the node says: a prompt, a formula, a content
	Value string `json:"value,omitempty"` // what came of it, if that is known
	State string `json:"state,omitempty"` // such as "done", "failed", "undefined"
	Path  string `json:"path,omitempty"`  // call path of the node's calls and events; empty if it has none
}

// Edge says that To uses From's result, or stands below it in a tree.
type Edge struct {
	From string `json:"from"`
	To   string `json:"to"`
	Kind string `json:"kind,omitempty"` // such as "link" for a reference across a tree
}

// What a node may say, in bytes: a graph is for looking at, the transcript has
// the rest.
const (
	MaxNodeText  = 2000
	MaxNodeValue = 500
)

// GraphEvent is the event that shows g, with texts and values cut to their
// limits.
func GraphEvent(phase string, g Graph) Event {
	nodes := make([]Node, len(g.Nodes))
	for i, n := range g.Nodes {
		n.Text, n.Value, n.Label = clip(n.Text, MaxNodeText), clip(n.Value, MaxNodeValue), clip(n.Label, MaxNodeValue)
		nodes[i] = n
	}
	g.Nodes = nodes
	data, err := json.Marshal(g)
	if err != nil {
		panic(fmt.Sprintf("encode graph: %v", err)) // strings and numbers always encode
	}
	return Event{
		Path: phase, Phase: phase, Kind: GraphDrawn, Data: data, Level: 2,
		Text: fmt.Sprintf("%s graph: %d nodes, %d edges", g.Kind, len(g.Nodes), len(g.Edges)),
	}
}

// clip cuts s to limit bytes, between characters, and marks the cut.
func clip(s string, limit int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit] + "…"
}
