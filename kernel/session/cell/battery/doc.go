// Package battery tests that a cell means what Go means: some four hundred small
// programs run in a session and compiled by the Go toolchain, and must print the
// same. If a session refuses one, the test requires the refusal; nothing may
// differ silently.
//
// The programs are in testdata, one archive per theme. From their results the
// test writes kernel/session/cell/SUBSET.md, which lists what cells support:
//
//	go test ./kernel/session/cell/battery -update
//
// The test also runs the scripts of experiments both ways. The package contains
// only tests.
package battery
