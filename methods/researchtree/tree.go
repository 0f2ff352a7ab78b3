package researchtree

import (
	"fmt"
	"slices"
	"strings"

	"noema/methods"
	"noema/methods/reply"
)

// Node is one finding.
type Node struct {
	ID, Topic, Content, Source, Parent string
	Links                              []string // nodes of other branches that it rests on
}

// Tree is the memory: findings under the question. Node ids are n1, n2 and so on
// in the order of their coming; the root is "root".
//
// Source: seed 003 §"The Memory: ResearchTree". Differs: ids are stable instead
// of random; a link that closes a cycle is refused.
type Tree struct {
	Question string
	nodes    []Node
}

const rootID = "root"

func (t *Tree) find(id string) int {
	return slices.IndexFunc(t.nodes, func(n Node) bool { return n.ID == id })
}

// Add puts a finding below a parent.
func (t *Tree) Add(parent, topic, content, source string) (Node, error) {
	if parent == "" {
		parent = rootID
	}
	switch {
	case parent != rootID && t.find(parent) < 0:
		return Node{}, fmt.Errorf("there is no node %q; there are %s", parent, strings.Join(t.ids(), ", "))
	case strings.TrimSpace(topic) == "" || strings.TrimSpace(content) == "":
		return Node{}, fmt.Errorf("a finding needs a topic and a content")
	}
	n := Node{ID: fmt.Sprintf("n%d", len(t.nodes)+1), Topic: topic, Content: content, Source: source, Parent: parent}
	t.nodes = append(t.nodes, n)
	return n, nil
}

// Link notes that from rests on to, in another branch.
func (t *Tree) Link(from, to string) error {
	i := t.find(from)
	if i < 0 || t.find(to) < 0 {
		return fmt.Errorf("link %s to %s: there are only %s", from, to, strings.Join(t.ids(), ", "))
	}
	if from == to || t.reaches(to, from) {
		return fmt.Errorf("link %s to %s: that closes a cycle", from, to)
	}
	if !slices.Contains(t.nodes[i].Links, to) {
		t.nodes[i].Links = append(t.nodes[i].Links, to)
	}
	return nil
}

// reaches reports whether a rests on b, by parents and links.
func (t *Tree) reaches(a, b string) bool {
	seen := map[string]bool{}
	var walk func(string) bool
	walk = func(id string) bool {
		if id == b {
			return true
		}
		i := t.find(id)
		if i < 0 || seen[id] {
			return false
		}
		seen[id] = true
		return walk(t.nodes[i].Parent) || slices.ContainsFunc(t.nodes[i].Links, walk)
	}
	return walk(a)
}

func (t *Tree) ids() []string {
	ids := []string{rootID}
	for _, n := range t.nodes {
		ids = append(ids, n.ID)
	}
	return ids
}

// contentInView is how much of a finding the skeleton shows, in bytes.
const contentInView = 120

// View is the skeleton: the tree by indentation, at most limit bytes. What does
// not fit is counted.
func (t *Tree) View(limit int) string {
	var b strings.Builder
	b.WriteString(rootID + ": " + reply.OneLine(t.Question, 200) + "\n")
	hidden := 0
	var walk func(parent string, depth int)
	walk = func(parent string, depth int) {
		for _, n := range t.nodes {
			if n.Parent != parent {
				continue
			}
			line := strings.Repeat("  ", depth) + n.ID + " " + reply.OneLine(n.Topic, 60) + ": " + reply.OneLine(n.Content, contentInView)
			if len(n.Links) > 0 {
				line += " (see " + strings.Join(n.Links, ", ") + ")"
			}
			if b.Len()+len(line) > limit {
				hidden++
			} else {
				b.WriteString(line + "\n")
			}
			walk(n.ID, depth+1)
		}
	}
	walk(rootID, 1)
	if hidden > 0 {
		fmt.Fprintf(&b, "… %d more nodes\n", hidden)
	}
	return b.String()
}

// graph draws the tree.
func (t *Tree) graph() methods.Graph {
	g := methods.Graph{Kind: "tree", Nodes: []methods.Node{{ID: rootID, Label: "question", Text: t.Question}}}
	for _, n := range t.nodes {
		g.Nodes = append(g.Nodes, methods.Node{ID: n.ID, Label: n.ID + " " + n.Topic, Text: n.Content + "\n" + n.Source, Value: n.Content, State: "done"})
		g.Edges = append(g.Edges, methods.Edge{From: n.Parent, To: n.ID})
		for _, to := range n.Links {
			g.Edges = append(g.Edges, methods.Edge{From: to, To: n.ID, Kind: "link"})
		}
	}
	return g
}
