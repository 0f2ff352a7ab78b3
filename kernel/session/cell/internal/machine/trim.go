package machine

import (
	"golang.org/x/tools/go/ssa"
)

// trim lets go of what a compiled function was compiled from. The program keeps
// every function for ever, and of many cells their instructions are most of the
// memory. The function keeps its name, and Blocks that are not nil, which tell it
// from a compiled package's. The lock is held.
func (m *Machine) trim(fn *ssa.Function) {
	for _, b := range fn.Blocks {
		for _, i := range b.Instrs {
			if c, ok := i.(*ssa.MakeClosure); ok {
				c.Bindings = nil // functions within refer to this instruction
			}
		}
		b.Instrs, b.Preds, b.Succs = nil, nil, nil
	}
	fn.Blocks, fn.Locals, fn.Params, fn.Recover = []*ssa.BasicBlock{}, nil, nil, nil
	if fn.Parent() != nil {
		fn.FreeVars = nil // they refer to the function around this one
	}
	for _, within := range fn.AnonFuncs {
		delete(m.slots, within) // fn's code has it, and nothing else names it
	}
}

// Drop lets go of a function that nothing calls again, such as a cell's
// statements. Its goroutines and closures keep the code that they need.
func (m *Machine) Drop(fn *ssa.Function) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.trim(fn)
	delete(m.slots, fn)
	delete(fn.Pkg.Members, fn.Name())
}
