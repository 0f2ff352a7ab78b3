package researchtree

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"noema/methods"
	"noema/methods/reply"
)

// Node is one finding. One that was struck out has no content.
type Node struct {
	ID, Topic, Content, Source, Parent string
	Links                              []string // nodes of other branches that it rests on
	Struck                             []string // contents that it had before, the oldest first
}

// Tree is the memory: findings under the question. Node ids are n1, n2 and so on
// in the order of their coming; the root is "root".
//
// Source: seed 003 §"The Memory: ResearchTree". Differs: ids are stable instead
// of random; a link or a parent that closes a cycle is refused; a finding can be
// corrected, and what it said before stays visible.
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
	parent = cmp.Or(parent, rootID)
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

// Correct gives a node another content with its source, or another parent, or
// strikes it out if neither is given. It returns what was done.
func (t *Tree) Correct(id, content, source, parent string) (string, error) {
	i := t.find(id)
	if i < 0 {
		return "", fmt.Errorf("there is no node %q; there are %s", id, strings.Join(t.ids()[1:], ", "))
	}
	n := &t.nodes[i]
	content = strings.TrimSpace(content)
	moved := parent != "" && parent != n.Parent
	switch {
	case moved && parent != rootID && t.find(parent) < 0:
		return "", fmt.Errorf("there is no node %q; there are %s", parent, strings.Join(t.ids(), ", "))
	case moved && t.reaches(parent, id):
		return "", fmt.Errorf("put %s below %s: that closes a cycle", id, parent)
	case content != "" && content == n.Content && !moved:
		return "", fmt.Errorf("%s says that already", id)
	case content == "" && !moved && n.Content == "":
		return "", fmt.Errorf("%s is struck out already", id)
	}
	var done []string
	if moved {
		n.Parent = parent
		done = append(done, id+" stands below "+parent+" now")
	}
	if content != n.Content && (content != "" || !moved) {
		if n.Content != "" {
			n.Struck = append(n.Struck, n.Content)
		}
		n.Content = content
		if source != "" {
			n.Source = source
		}
		done = append(done, strings.TrimSuffix(id+" says "+reply.OneLine(content, contentInView), " says ")+n.struckOut())
	}
	return strings.Join(done, "; "), nil
}

// struckOut says what was struck out of a node; nothing if nothing was.
func (n Node) struckOut() string {
	if len(n.Struck) == 0 {
		return ""
	}
	var old []string
	for _, s := range n.Struck {
		old = append(old, reply.OneLine(s, contentInView/2))
	}
	return " [struck out: " + strings.Join(old, "; ") + "]"
}

// standing lists the findings that are not struck out, each with its content.
func (t *Tree) standing() []string {
	var list []string
	for _, n := range t.nodes {
		if n.Content != "" {
			list = append(list, n.ID+" "+reply.OneLine(n.Topic+": "+n.Content, 60))
		}
	}
	return list
}

// restOn lists the nodes that rest on a node.
func (t *Tree) restOn(id string) []string {
	var list []string
	for _, n := range t.nodes {
		if n.ID != id && t.reaches(n.ID, id) {
			list = append(list, n.ID)
		}
	}
	return list
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
			line := strings.Repeat("  ", depth) + n.ID + " " + reply.OneLine(n.Topic, 60) + ": " + reply.OneLine(n.Content, contentInView) + n.struckOut()
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
		state := "done"
		if n.Content == "" {
			state = "failed"
		}
		g.Nodes = append(g.Nodes, methods.Node{ID: n.ID, Label: n.ID + " " + n.Topic, Text: n.Content + n.struckOut() + "\n" + n.Source, Value: n.Content, State: state})
		g.Edges = append(g.Edges, methods.Edge{From: n.Parent, To: n.ID})
		for _, to := range n.Links {
			g.Edges = append(g.Edges, methods.Edge{From: to, To: n.ID, Kind: "link"})
		}
	}
	return g
}
