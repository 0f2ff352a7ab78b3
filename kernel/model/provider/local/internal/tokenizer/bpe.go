package tokenizer

import (
	"container/heap"
	"fmt"
)

// bpe joins the pair of neighbours that ranks first, again and again.
type bpe struct {
	ids      map[string]int
	joins    map[[2]int]join
	scored   *scored // instead of joins, in SentencePiece models
	whole    bool    // a word that is a token stays one, whatever the merges
	unknown  int     // negative if there is none
	fuse     bool    // unknown characters in a row are one token
	fallback bool    // unknown characters become their bytes
}

// join is what a pair becomes, and how early.
type join struct{ rank, id int }

func (m *bpe) read(merges []merge) error {
	m.joins = make(map[[2]int]join, len(merges))
	for rank, pair := range merges {
		a, okA := m.ids[pair[0]]
		b, okB := m.ids[pair[1]]
		id, ok := m.ids[pair[0]+pair[1]]
		if !okA || !okB || !ok {
			return fmt.Errorf("merges: %q and %q, or both joined, are not in the vocabulary", pair[0], pair[1])
		}
		if _, twice := m.joins[[2]int{a, b}]; !twice {
			m.joins[[2]int{a, b}] = join{rank, id}
		}
	}
	return nil
}

// join finds what a pair becomes.
func (m bpe) join(pair [2]int) (join, bool) {
	if m.scored == nil {
		j, ok := m.joins[pair]
		return j, ok
	}
	id, ok := m.ids[m.scored.texts[pair[0]]+m.scored.texts[pair[1]]]
	return join{m.scored.ranks[id], id}, ok
}

func (m bpe) tokens(word string) []int {
	if m.whole {
		if id, ok := m.ids[word]; ok {
			return []int{id}
		}
	}
	ids := m.characters(word)
	if len(ids) < 2 {
		return ids
	}
	return m.merged(ids)
}

// characters gives the tokens of single characters.
func (m bpe) characters(word string) []int {
	var ids []int
	unknown := false
	for _, r := range word {
		id, ok := m.ids[string(r)]
		if ok {
			ids, unknown = append(ids, id), false
			continue
		}
		if m.fallback {
			if bytes, ok := m.bytes(string(r)); ok {
				ids, unknown = append(ids, bytes...), false
				continue
			}
		}
		if m.unknown >= 0 && !(unknown && m.fuse) {
			ids = append(ids, m.unknown)
		}
		unknown = true
	}
	return ids
}

// bytes gives the tokens of a character's bytes, if there are all of them.
func (m bpe) bytes(s string) ([]int, bool) {
	var ids []int
	for i := range len(s) {
		id, ok := m.ids[fmt.Sprintf("<0x%02X>", s[i])]
		if !ok {
			return nil, false
		}
		ids = append(ids, id)
	}
	return ids, true
}

// node is a token in a list of neighbours, by their places; -1 ends the list.
type node struct{ id, previous, next int }

// candidate is a pair that may be joined: the tokens at left and its neighbour
// as they were when it was found.
type candidate struct {
	join
	left int
	pair [2]int
}

// candidates is a heap: the lowest rank first, then the leftmost.
type candidates []candidate

func (c candidates) Len() int { return len(c) }
func (c candidates) Less(i, j int) bool {
	if c[i].rank != c[j].rank {
		return c[i].rank < c[j].rank
	}
	return c[i].left < c[j].left
}
func (c candidates) Swap(i, j int) { c[i], c[j] = c[j], c[i] }

// Push adds a candidate.
func (c *candidates) Push(x any) { *c = append(*c, x.(candidate)) }

// Pop takes the last candidate off.
func (c *candidates) Pop() any {
	last := (*c)[len(*c)-1]
	*c = (*c)[:len(*c)-1]
	return last
}

// merged joins pairs until none is left that can be. The heap keeps long
// words, which are whole texts in some tokenizers, from taking quadratic time.
func (m bpe) merged(ids []int) []int {
	nodes := make([]node, len(ids))
	for i, id := range ids {
		nodes[i] = node{id, i - 1, i + 1}
	}
	nodes[len(nodes)-1].next = -1
	var queue candidates
	consider := func(left int) {
		if left < 0 || nodes[left].next < 0 {
			return
		}
		pair := [2]int{nodes[left].id, nodes[nodes[left].next].id}
		if j, ok := m.join(pair); ok {
			heap.Push(&queue, candidate{j, left, pair})
		}
	}
	for i := range nodes {
		consider(i)
	}
	for len(queue) > 0 {
		c := heap.Pop(&queue).(candidate)
		left := &nodes[c.left]
		if left.id != c.pair[0] || left.next < 0 || nodes[left.next].id != c.pair[1] {
			continue // one of the two has been joined since
		}
		right := left.next
		left.id, left.next = c.id, nodes[right].next
		nodes[right].id = -1
		if left.next >= 0 {
			nodes[left.next].previous = c.left
		}
		consider(left.previous)
		consider(c.left)
	}
	out := ids[:0]
	for i := 0; i >= 0; i = nodes[i].next {
		out = append(out, nodes[i].id)
	}
	return out
}
