package matrix

import "slices"

// Memory is the keys and values of one head, which a sequence remembers, in pages
// of 16: the keys interleaved, then the values. Full pages never change, so that
// copies share them.
type Memory struct {
	dim, n int
	pages  [][]float32 // [2, 16, dim]
}

// Append adds a key and its value.
func (m *Memory) Append(key, value []float32) {
	m.dim = len(key)
	if m.n%lanes == 0 {
		m.pages = append(m.pages, make([]float32, 2*lanes*m.dim))
	}
	page, at := m.pages[m.n/lanes], m.n%lanes
	for d, v := range key {
		page[d*lanes+at] = v
	}
	copy(page[(lanes+at)*m.dim:], value)
	m.n++
}

// Cut gives a copy of the first n.
func (m *Memory) Cut(n int) Memory {
	c := Memory{m.dim, n, slices.Clone(m.pages[:(n+lanes-1)/lanes])}
	if n%lanes > 0 { // what comes after the n-th in its page is overwritten before it is read
		c.pages[n/lanes] = slices.Clone(c.pages[n/lanes])
	}
	return c
}

// Bytes is how much memory it takes, alone.
func (m *Memory) Bytes() int { return len(m.pages) * 2 * 4 * lanes * m.dim }

// Attend computes the attention of up to 4 queries, [n, dim]: query i sees what lies
// from from[i] to before to[i]. A cap bounds the scores by a tanh; 0 does not. The
// result is [n, dim].
func (m *Memory) Attend(q []float32, from, to []int, softCap float32, room, out []float32) []float32 {
	n := len(from)
	first, last := slices.Min(from)/lanes, (slices.Max(to)+lanes-1)/lanes
	width := (last - first) * lanes
	room = slices.Grow(room[:0], n*width)[:n*width]
	for i, page := range m.pages[first:last] {
		for j := range n {
			floats16(page[:lanes*m.dim], q[j*m.dim:(j+1)*m.dim], room[j*width+i*lanes:])
		}
	}
	for i := range n {
		seen := room[i*width+from[i]-first*lanes : i*width+to[i]-first*lanes]
		if softCap > 0 {
			capped(seen, softCap)
		}
		sum := Exp(seen, slices.Max(seen))
		o := out[i*m.dim : (i+1)*m.dim]
		clear(o)
		m.mix(seen, from[i], o)
		for d := range o {
			o[d] /= sum
		}
	}
	return room
}

// mix adds the values from one on by weight.
func (m *Memory) mix(p []float32, from int, out []float32) {
	for len(p) > 0 {
		at := from % lanes
		n := min(lanes-at, len(p))
		mix(p[:n], m.pages[from/lanes][(lanes+at)*m.dim:][:n*m.dim], out, m.dim)
		p, from = p[n:], from+n
	}
}
