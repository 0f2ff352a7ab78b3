// Package wire is the form in which the contract of noema/methods crosses a
// process boundary: the protocol in method.proto, the code generated from it
// (run "just proto" after a change), and the conversions to and from the
// vocabulary. Only package plugins uses it, so the vocabulary stays free of
// gRPC and the protocol can change behind this wall.
package wire
