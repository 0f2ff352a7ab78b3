package pyexpr

import (
	"context"
	"math"
)

// Limits bound one evaluation. A field that is zero or less takes its default.
type Limits struct {
	// Steps bounds the work: about one for each operation and each item
	// that a loop visits, more for operations on long values.
	Steps int
	// Memory bounds the bytes that are made in all, whether or not they are
	// still in use; what the environment holds does not count.
	Memory int
	// Depth bounds how deep lambdas may call one another.
	Depth int
}

// The default limits: enough for counts and sums over 100,000 extractions, and
// reached within a tenth of a second and 64 MiB, on a fast core, by whatever does not end. Raise them for
// longer lists.
const (
	DefaultSteps  = 1_000_000
	DefaultMemory = 16 << 20
	DefaultDepth  = 200
)

const fuelChunk = 8192 // steps between two looks at the context

type machine struct {
	ctx     context.Context
	lib     *library
	fuel    int // steps until the next look at ctx
	steps   int // steps left beyond fuel
	mem     int
	depth   int
	pos     int // byte offset of the operation at work
	nans    uint64
	regexes map[regexKey]*regex
	seen    []uint64 // room for a reRunner
	globals []Value
}

func newMachine(ctx context.Context, l Limits) *machine {
	or := func(n, def int) int {
		if n <= 0 {
			return def
		}
		return n
	}
	return &machine{ctx: ctx, lib: stdlib(), steps: or(l.Steps, DefaultSteps), mem: or(l.Memory, DefaultMemory), depth: or(l.Depth, DefaultDepth)}
}

func (m *machine) step(n int) {
	m.fuel -= n
	if m.fuel < 0 {
		m.refuel()
	}
}

func (m *machine) refuel() {
	if err := m.ctx.Err(); err != nil {
		panic(stopped{err})
	}
	m.steps += m.fuel
	m.fuel = 0
	if m.steps <= 0 {
		m.limit("steps")
	}
	m.fuel = min(m.steps, fuelChunk)
	m.steps -= m.fuel
}

// alloc charges n bytes, before they are made.
func (m *machine) alloc(n int) {
	m.mem -= n
	if m.mem < 0 || n < 0 {
		m.limit("memory")
	}
	if n >= 256 {
		m.step(n >> 8)
	}
}

// work charges for looking at n bytes.
func (m *machine) work(n int) { m.step(n >> 5) }

func (m *machine) limit(which string) { panic(&LimitError{Limit: which}) }

// enter goes one call deeper; the caller must leave again.
func (m *machine) enter() {
	m.depth--
	if m.depth < 0 {
		m.limit("depth")
	}
}

func (m *machine) leave() { m.depth++ }

// times is a*b for sizes, or more than any limit allows when that overflows.
func times(a, b int) int {
	if a <= 0 || b <= 0 {
		return 0
	}
	if a > math.MaxInt/2/b {
		return math.MaxInt / 2
	}
	return a * b
}

// float makes a Float. A not-a-number gets bits of its own, because two of
// them are equal in a container exactly when they are the same object.
func (m *machine) float(x float64) Value {
	if x != x {
		m.nans++
		return Float(math.Float64frombits(nanBits | m.nans))
	}
	return Float(x)
}

const nanBits = 0x7ff8_0000_0000_0000
