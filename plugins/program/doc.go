// Package program runs any program as a method, as it is. The program gets the
// problem, calls its model at an address that is the trial's own, and prints its
// answer. It needs no line about noema: clients of OpenAI and Anthropic read the
// address from variables that the [Method] sets.
//
// Each request that arrives there becomes a call of the method's [methods.Host],
// so everything that holds for calls of other methods holds for it: recording,
// exact replay, limits, costs, forks, packs, workers. Three things make that
// exact although the program knows nothing of it:
//
//   - The request is carried whole, as [methods.Raw]: a field that no reader knows
//     reaches the provider, and enters the key.
//   - It is sent byte for byte, and its reply comes back so. What differs between
//     equal executions is left out of its key alone: see package verbatim.
//   - Equal requests are told apart by where they are made (order.go): package
//     numbering has Python and Node send the place of each call. Without it the
//     order of arrival counts, and it is told where that was chance.
//
// The program runs in a network of its own, in which nothing is but its trial's
// endpoint, in a clean copy of its folder, with a home, a seed and, where it is
// asked for, a clock of its own.
package program
