package grammar

import (
	"bytes"
	"slices"
)

// Vocab is a model's tokens as a trie over their bytes, so that tokens with a
// common beginning are looked at once. It is immutable.
type Vocab struct {
	n       int       // tokens, the empty ones too
	order   []int32   // the tokens that are not empty, by their bytes
	spelled [][]byte  // those tokens' bytes
	nodes   []vocNode // in preorder; node 0 is the root
	longest int       // bytes of the longest token
	opens   int32     // the most brackets and braces that a token opens
}

// vocNode is a node of the trie: a beginning that tokens share.
type vocNode struct {
	b     byte
	depth int32 // bytes from the root
	skip  int32 // the node after this one's subtree
	// lo is the first token of the subtree in order; those up to hi are equal
	// to the node's own text.
	lo, hi int32
}

// NewVocab builds the trie of tokens, which a mask names by their index. Empty
// tokens, such as those that mark a text's beginning and end, are never
// allowed; equal ones are allowed together. The tokens' bytes are copied.
func NewVocab(tokens [][]byte) *Vocab {
	v := &Vocab{n: len(tokens)}
	for i, t := range tokens {
		if len(t) > 0 {
			v.order = append(v.order, int32(i))
		}
		v.longest = max(v.longest, len(t))
		v.opens = max(v.opens, int32(bytes.Count(t, []byte("["))+bytes.Count(t, []byte("{"))))
	}
	slices.SortStableFunc(v.order, func(a, b int32) int { return bytes.Compare(tokens[a], tokens[b]) })
	size := 0
	for _, t := range tokens {
		size += len(t)
	}
	arena := make([]byte, 0, size) // one allocation for all the copies
	for _, t := range v.order {
		arena = append(arena, tokens[t]...)
		v.spelled = append(v.spelled, arena[len(arena)-len(tokens[t]):])
	}
	v.build()
	return v
}

// build makes the nodes by going through the tokens in order, keeping the path
// to the one before.
func (v *Vocab) build() {
	v.nodes = []vocNode{{}}
	path := []int32{0}
	for i, t := range v.spelled {
		common := 0
		if i > 0 {
			before := v.spelled[i-1]
			for common < min(len(t), len(before)) && t[common] == before[common] {
				common++
			}
		}
		for len(path) > common+1 {
			v.nodes[path[len(path)-1]].skip = int32(len(v.nodes))
			path = path[:len(path)-1]
		}
		for _, b := range t[common:] {
			path = append(path, int32(len(v.nodes)))
			v.nodes = append(v.nodes, vocNode{b: b, depth: int32(len(path) - 1), lo: int32(i), hi: int32(i)})
		}
		v.nodes[path[len(path)-1]].hi = int32(i + 1)
	}
	for _, n := range path {
		v.nodes[n].skip = int32(len(v.nodes))
	}
}

// text returns the bytes from the root to a node.
func (v *Vocab) text(node int32) []byte {
	n := &v.nodes[node]
	return v.spelled[n.lo][:n.depth]
}

// leaf says whether no token goes on after a node.
func (v *Vocab) leaf(node int32) bool { return v.nodes[node].skip == node+1 }

// Longest is how many bytes the longest token has.
func (v *Vocab) Longest() int { return v.longest }

// Fewest gives the fewest tokens that together spell a text, the longest one
// first where there are several ways. It reports false if the tokens cannot
// spell it.
func (v *Vocab) Fewest(text []byte) (tokens []int, ok bool) {
	// From the end: how many tokens the rest takes, and the token it begins with.
	count, first := make([]int, len(text)+1), make([]int32, len(text))
	for i := len(text) - 1; i >= 0; i-- {
		count[i] = -1
		for node := v.child(0, text[i]); node > 0; {
			n := &v.nodes[node]
			after := i + int(n.depth)
			if n.lo < n.hi && count[after] >= 0 && (count[i] < 0 || count[after]+1 <= count[i]) {
				count[i], first[i] = count[after]+1, n.lo
			}
			if after == len(text) {
				break
			}
			node = v.child(node, text[after])
		}
	}
	if count[0] < 0 {
		return nil, false
	}
	for i := 0; i < len(text); i += len(v.spelled[first[i]]) {
		tokens = append(tokens, int(v.order[first[i]]))
	}
	return tokens, true
}

// child is the node below a node for a byte, or 0 if there is none.
func (v *Vocab) child(node int32, b byte) int32 {
	for child := node + 1; child < v.nodes[node].skip; child = v.nodes[child].skip {
		if v.nodes[child].b == b {
			return child
		}
	}
	return 0
}
