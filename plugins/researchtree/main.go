// Command researchtree serves Research Tree as a plugin of its own. The noema binary has it
// built in; this one shows how little a plugin's main holds.
package main

import (
	"noema/methods/researchtree"
	"noema/plugins"
)

func main() { plugins.Serve(researchtree.New()) }
