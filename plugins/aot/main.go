// Command aot serves Atom of Thought as a plugin of its own. The noema binary
// has it built in.
package main

import (
	"noema/methods/aot"
	"noema/plugins"
)

func main() { plugins.Serve(aot.New()) }
