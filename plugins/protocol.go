// Package plugins runs methods in processes of their own. [Serve] is the
// plugin's side: a main of a dozen lines hands its method over. [Host] is the
// kernel's side: it finds plugins, starts and restarts their processes and
// returns each as a methods.Method, so that callers cannot tell a plugin from
// a method in the process.
//
// A process serves one trial at a time. When it crashes, hangs or breaks the
// protocol, exactly that trial fails, with the plugin's name and the last
// lines of its stderr, and the next trial gets a fresh process.
//
// # Isolation
//
// A plugin is kept from doing harm by accident. Its process has [Limits], of
// which it is killed when it goes beyond, with an error that says so; a process
// group, and a cgroup where the user may make one, with which everything that it
// started is killed when it ends; an environment without the kernel's variables,
// of which only PATH, HOME, the language and the time zone pass; a working
// directory and TMPDIR of its own, which lead to the files of its folder and are
// removed with it; and none of the kernel's descriptors. On Linux the kernel's
// memory and environment, with its keys and the targets of samples, are closed to
// it, unless it runs as root. It may hold no more of the kernel than a bounded
// number of calls, seeds, events and bytes; a call too many waits. Its first line
// must name a socket of this machine and a version of the protocol that both
// sides speak.
//
// This is no security boundary. A plugin runs as the user who runs noema: it
// can read and write the user's files, keys in the home folder included, use
// the network, fill the disk, signal other processes, raise limits that are not
// hard, and, if it wants to, leave its group, its cgroup and its mark in the
// environment. Memory and CPU time are looked at ten times a second, so that it
// can exceed both for a moment. Run code that you do not trust in a container or
// a virtual machine, or as another user. Where the operating system is not
// Linux, a plugin is killed alone, and of its limits only that on output holds.
package plugins

import (
	"context"

	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/grpc/experimental"
	"google.golang.org/grpc/mem"

	"noema/methods"
	"noema/plugins/internal/wire"
)

// ProtocolVersion is the version of the protocol between kernel and plugin
// that this package speaks. It changes when an old plugin would misunderstand
// a new kernel.
const ProtocolVersion = 1

// handshake tells a plugin that a noema kernel started it, and the kernel
// that what it started is a plugin. It is no secret.
func handshake() plugin.HandshakeConfig {
	return plugin.HandshakeConfig{MagicCookieKey: "NOEMA_PLUGIN", MagicCookieValue: "method"}
}

// pluginName is the key under which go-plugin knows the one service.
const pluginName = "method"

// OldestProtocol is the oldest version of the protocol whose plugins this
// package still runs.
const OldestProtocol = 1

// protocols are the versions that this package speaks, oldest first.
func protocols() []int {
	var all []int
	for v := OldestProtocol; v <= ProtocolVersion; v++ {
		all = append(all, v)
	}
	return all
}

// versions is what one side can speak; method is nil on the kernel's side.
func versions(speaks []int, method methods.Method) map[int]plugin.PluginSet {
	sets := map[int]plugin.PluginSet{}
	for _, v := range speaks {
		sets[v] = plugin.PluginSet{pluginName: &servicePlugin{method: method}}
	}
	return sets
}

// servicePlugin adapts the gRPC service to go-plugin.
type servicePlugin struct {
	plugin.NetRPCUnsupportedPlugin
	method methods.Method
}

// GRPCServer registers the service in the plugin's process.
func (s *servicePlugin) GRPCServer(_ *plugin.GRPCBroker, server *grpc.Server) error {
	wire.RegisterMethodServer(server, newGuest(s.method))
	return nil
}

// GRPCClient returns the client in the kernel's process.
func (s *servicePlugin) GRPCClient(_ context.Context, _ *plugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return wire.NewMethodClient(conn), nil
}

// bufferPool has tiers at powers of two from 256 B to 16 MiB. gRPC's own pool
// jumps from 32 KiB to 1 MiB, which for prompts of 64 KiB halved the
// throughput and took twenty times the memory.
func bufferPool() mem.BufferPool {
	pool, err := mem.NewBinaryTieredBufferPool(8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24)
	if err != nil { // the exponents are constants
		panic(err)
	}
	return pool
}

func serverOptions() []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.MaxRecvMsgSize(wire.MaxMessage), grpc.MaxSendMsgSize(wire.MaxMessage),
		experimental.BufferPool(bufferPool()),
	}
}

func dialOptions() []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(wire.MaxMessage), grpc.MaxCallSendMsgSize(wire.MaxMessage)),
		experimental.WithBufferPool(bufferPool()),
	}
}
