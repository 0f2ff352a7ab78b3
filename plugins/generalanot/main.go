// Command generalanot serves General ANoT as a plugin of its own. The noema
// binary has it built in.
package main

import (
	"noema/methods/generalanot"
	"noema/plugins"
)

func main() { plugins.Serve(generalanot.New()) }
