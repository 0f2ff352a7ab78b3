// Package battery holds the proof that a cell means what Go means: some two
// hundred and fifty small pieces of Go that its test runs twice, once through
// a cell session and once compiled by the Go toolchain, and whose output must
// be the same. Where a session refuses a piece, the table says so, and the test
// demands the refusal; nothing may be silently different.
//
// The pieces are in testdata, one archive a theme. From them and from what the
// runs showed the test writes kernel/cell/SUBSET.md, the page that tells a
// researcher what a cell can hold:
//
//	go test ./kernel/cell/battery -update
//
// The same test runs the scripts of experiments both ways.
//
// The package has no code of its own but its tests.
package battery
