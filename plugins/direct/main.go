// Command direct serves the direct baseline as a plugin of its own.
package main

import (
	"noema/methods/baseline"
	"noema/plugins"
)

func main() { plugins.Serve(baseline.Direct()) }
