// Package bench measures the roads that cross packages, each as a ratio
// against a named limit or peer in the same run. Run it with
//
//	go test -run '^$' -bench . ./experiments/bench
//
// Benchmarks of single packages live with them: keys and hits in cache, LWT
// in methods/anot/lwt, a thousand calls in flight in kernel/gateway, the warm
// rerun of the README's comparison in kernel/cmd/noema.
package bench
