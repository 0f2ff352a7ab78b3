// Package bench measures the roads that cross packages, each as a ratio
// against a named limit or peer in the same run. Run it with
//
//	go test -run '^$' -bench . ./experiments/bench
//	NOEMA_BENCH=1 go test -run Warm -v ./experiments/bench
//	NOEMA_BENCH=1 go test -run AtOnce -v ./experiments/bench
//
// The second reruns 1,000 trials from the stores of noema and of Inspect AI (pip
// install inspect-ai; NOEMA_INSPECT_PYTHON names the Python that has it), with
// 16, 64 and 256 at once. The third runs 1,000 and 10,000 trials at once against a
// server with latency, beside a bare client that makes the same calls; it needs
// 10,300 open files.
//
// Benchmarks of single packages live with them: keys and hits in cache, LWT
// in methods/anot/lwt, a thousand calls in flight in kernel/run/gateway, the warm
// rerun of the README's comparison in kernel/cmd/noema.
package bench
