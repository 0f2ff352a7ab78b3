// Package numbering has programs in Python and Node say where they make each call of a
// model, without a change of the program: an interpreter that starts with what [Write]
// wrote sends the header Noema-Call. Equal requests that are under way at the same time
// have no other order.
//
// Python: each thread, task, process and pool job is a place, named after the one that started
// it and its number there, and calls are counted in their place. The clients of OpenAI and
// Anthropic send both, and so do httpx, urllib3, aiohttp and http.client. What runs within a
// call, such as a look-up of a name, is not a place of its own.
//
// Node: equal requests are counted where fetch is called, in the one order in which a
// thread calls it; each worker counts for itself.
//
// Both take a clock (NOEMA_CLOCK) and a seed (NOEMA_SEED), so that dates, random numbers and
// UUIDs are the same in each execution.
package numbering

import (
	_ "embed"
	"errors"
	"os"
	"path/filepath"
)

//go:embed sitecustomize.py
var python []byte

//go:embed solver.py
var solver []byte

//go:embed numbering.cjs
var node []byte

// Write writes what Python finds by PYTHONPATH=dir, and Node by
// NODE_OPTIONS=--require=dir/numbering.cjs, and dir/solver.py, which calls a function of a
// program once for each trial.
func Write(dir string) error {
	return errors.Join(
		os.MkdirAll(dir, 0o700),
		os.WriteFile(filepath.Join(dir, "sitecustomize.py"), python, 0o600),
		os.WriteFile(filepath.Join(dir, "solver.py"), solver, 0o600),
		os.WriteFile(filepath.Join(dir, "numbering.cjs"), node, 0o600),
	)
}
