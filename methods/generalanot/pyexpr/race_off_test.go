//go:build !race

package pyexpr

const raceEnabled = false
