package compare

import (
	"encoding/json"
	"fmt"
	"math"
)

// Number is a float64 whose undefined value, NaN or an infinity, is null in
// JSON: what is undefined is never 0.
type Number float64

// Defined reports whether n is finite.
func (n Number) Defined() bool { return finite(float64(n)) }

// MarshalJSON writes null for what is undefined.
func (n Number) MarshalJSON() ([]byte, error) {
	if !n.Defined() {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (n *Number) UnmarshalJSON(raw []byte) error {
	var p *float64
	if err := json.Unmarshal(raw, &p); err != nil {
		return fmt.Errorf("decode number: %w", err)
	}
	*n = undefined
	if p != nil {
		*n = Number(*p)
	}
	return nil
}

var undefined = Number(math.NaN())

// bisect narrows down where beyond begins to be so on the way from one place to another, by
// halves. It returns the last place found that is not, and the first that is.
func bisect(from, to float64, steps int, beyond func(x float64) bool) (before, after float64) {
	for range steps {
		if mid := (from + to) / 2; beyond(mid) {
			to = mid
		} else {
			from = mid
		}
	}
	return from, to
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
