//go:build queue

package main

import (
	"noema/kernel/run/cluster"
	"noema/kernel/run/cluster/embedded"
)

// queueServer is the server for workers that this program has.
func queueServer() cluster.StartServer { return embedded.Start }
