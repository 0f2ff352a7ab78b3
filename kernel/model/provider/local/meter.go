package local

import (
	"time"

	"noema/kernel/model/provider/local/internal/network"
)

// meter tells how long a reply would have taken alone, from steps that several
// shared: a step of many rows takes longer than one of a single row, but not as
// many times as it has rows. The shortest step of each size says by how much.
type meter struct{ shortest map[int]time.Duration }

// learn measures steps of one row, if none was seen before there are several.
func (m *meter) learn(d *network.Decoder, rows int) {
	if rows == 1 || m.shortest[1] > 0 {
		return
	}
	for range 3 {
		start := time.Now()
		if _, err := d.Next([]*network.Sequence{{}}, []int{0}); err == nil {
			m.note(1, time.Since(start))
		}
	}
}

// note keeps the shortest step of a size.
func (m *meter) note(rows int, took time.Duration) {
	if m.shortest == nil {
		m.shortest = map[int]time.Duration{}
	}
	if least, ok := m.shortest[rows]; !ok || took < least {
		m.shortest[rows] = max(took, 1)
	}
}

// alone is what a step of so many rows takes for one of them.
func (m *meter) alone(rows int, took time.Duration) time.Duration {
	m.note(rows, took)
	one, ok := m.shortest[1]
	if !ok || one >= m.shortest[rows] {
		return took
	}
	return time.Duration(float64(took) * float64(one) / float64(m.shortest[rows]))
}
