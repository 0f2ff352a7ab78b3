package main

import (
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

// byteSize is a flag for an amount of memory, as in 4GiB; a number alone is MiB.
type byteSize int64

var _ pflag.Value = (*byteSize)(nil)

// sessionMemory is the default limit on the memory of an interactive session.
const sessionMemory byteSize = 4 << 30

// sizeUnits are the units of a byteSize, the largest first.
var sizeUnits = []struct {
	name  string
	bytes float64
}{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"", 1 << 20}}

// Set implements [pflag.Value].
func (b *byteSize) Set(text string) error {
	for _, u := range sizeUnits {
		number, ok := strings.CutSuffix(text, u.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil || !(n >= 0) || n*u.bytes >= math.MaxInt64 {
			break
		}
		*b = byteSize(n * u.bytes)
		return nil
	}
	return fmt.Errorf("%q is not an amount of memory: write it as in 4GiB or 512MiB", text)
}

// String implements [pflag.Value].
func (b *byteSize) String() string {
	for _, u := range sizeUnits[:len(sizeUnits)-1] {
		if n := float64(*b) / u.bytes; n >= 1 && n == math.Trunc(n) {
			return fmt.Sprintf("%.0f%s", n, u.name)
		}
	}
	return strconv.FormatInt(int64(*b)>>20, 10)
}

// Type implements [pflag.Value].
func (*byteSize) Type() string { return "size" }

// addMemory declares the limit on the memory of a session of cells.
func addMemory(flags *pflag.FlagSet) *byteSize {
	limit := sessionMemory
	flags.Var(&limit, "memory", "memory at which a cell or script ends with an error; 0 means no limit")
	return &limit
}

// collectOften collects garbage as often as Go does by default, not as rarely as
// [builtin.TuneMemory] has it for runs: a pack passes through in the same time and half of
// the memory.
func collectOften() { collectAt(100) }

// collectAt collects garbage when so many percent of what is kept alive have come to it,
// unless the user has said otherwise.
func collectAt(percent int) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}

// tuneSession collects often, because a session holds what its cells have made for
// days, and the page what was looked at. Near the limit it collects more often.
func tuneSession(limit byteSize) {
	collectOften()
	if os.Getenv("GOMEMLIMIT") == "" && limit > 0 {
		debug.SetMemoryLimit(int64(limit))
	}
}
