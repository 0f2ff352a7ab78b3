//go:build !queue

package main

import "noema/kernel/run/cluster"

// queueServer is nil: this program has no server for workers. See package embedded for why.
func queueServer() cluster.StartServer { return nil }
