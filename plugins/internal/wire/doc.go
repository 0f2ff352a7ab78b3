// Package wire is the form in which the contract of noema/methods crosses a
// process boundary: the protocol in method.proto, the code generated from it
// (run "just proto" after a change), and the conversions to and from the
// vocabulary. Only package plugins uses it, so the vocabulary stays free of
// gRPC and the protocol can change behind this wall.
package wire

// BenchID is the id of the problem that asks a plugin not for an answer but for
// many calls, to measure what one costs. Its query is the prompt of each call,
// and its options are those of Bench. A plugin that does not know it solves it
// like any other.
const BenchID = "noema/bench"

// Bench is how many calls a plugin is asked for, and how many of them at once.
type Bench struct {
	Calls   int `json:"calls"`
	Callers int `json:"callers"`
}
