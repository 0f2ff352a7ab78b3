// Command engineplanner serves Engine Planner as a plugin of its own. The noema binary has it
// built in; this one shows how little a plugin's main holds.
package main

import (
	"noema/methods/engineplanner"
	"noema/plugins"
)

func main() { plugins.Serve(engineplanner.New()) }
