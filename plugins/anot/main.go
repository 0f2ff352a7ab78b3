// Command anot serves ANoT as a plugin of its own. The noema binary has it
// built in; this one shows how little a plugin's main holds.
package main

import (
	"noema/methods/anot"
	"noema/plugins"
)

func main() { plugins.Serve(anot.New()) }
