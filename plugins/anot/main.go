// Command anot serves ANoT as a plugin of its own. The noema binary has every
// method built in; this is the example of how short a plugin's main is.
package main

import (
	"noema/methods/anot"
	"noema/plugins"
)

func main() { plugins.Serve(anot.New()) }
