// Package plugins runs methods in processes of their own. [Serve] is the
// plugin's side: a main of a dozen lines hands its method over. [Host] is the
// kernel's side: it finds plugins, starts and restarts their processes and
// returns each as a methods.Method, so that callers cannot tell a plugin from
// a method in the process.
//
// A process serves many trials at a time, since trials wait for models: a plugin
// has about one process per core. When a process crashes or is killed, its trials
// fail with a [Failure] that is Shared: each is run again [Alone], in a process of
// its own, and only the one that is to blame fails again, with the plugin's name
// and the last lines of its stderr. A trial that hangs is cancelled alone, and
// takes its process with it only if it does not stop. A plugin that is not safe
// for concurrent use says so in its manifest: concurrent: false.
//
// # Isolation
//
// A plugin is kept from doing harm by accident:
//
//   - Its process has [Limits]; if it exceeds one it is killed, with an error
//     that says so.
//   - It has a process group, and a cgroup where the user may make one, so that
//     everything it started is killed with it.
//   - Of the kernel's environment it gets only PATH, HOME, the language and the
//     time zone, and it gets none of the kernel's file descriptors.
//   - Its working directory and TMPDIR are its own; they link to the files of
//     its folder and are removed with it.
//   - On Linux it cannot read the kernel's memory and environment, with keys and
//     the targets of samples, unless it runs as root where there is no Landlock.
//   - Its calls, seeds, events and bytes in the kernel are bounded; further calls
//     wait.
//   - Its first line must name a socket of this machine and a version of the
//     protocol that both sides speak.
//   - On Linux it reads only its own code, the system's libraries and the Python
//     that runs it, writes only in its temporary folder, changes no file's mode,
//     owner, times or attributes, signals no process but its own (from Linux 6.12),
//     sets no limit, priority or processor of another process, keeps nothing in
//     System V's or POSIX's shared memory, semaphores, queues and keys, watches no
//     file, and makes no socket but those that wait for the kernel, by Landlock and
//     seccomp. Root's plugins have no capability. Its manifest may ask for more of
//     files and network, which the user grants.
//   - What it started and left behind is this process's child, and ends with it.
//
// What is in force is tried when a process starts, under the rules that it has:
// [Plugin.Isolation] says what was refused and what was not.
//
// What remains: a plugin can fill the disk, see the names, sizes and times of
// files and the command lines of other processes, raise soft limits, and tell
// another that runs at the same time something by what it locks, listens on or
// computes; its memory, also that without a name (memfd), ends with its processes.
// With a granted network it also reaches the sockets of this machine. Where the
// user may make no cgroup, what hides from its killed kernel is not found.
// A file that lies among the system's libraries can be read. Memory
// and CPU time are measured ten times a second, so that it can exceed both for a
// moment. Run code that you do not trust in a container or a virtual machine, or
// as another user. On other systems than Linux, only the plugin's own process is
// killed, and only the limit on output holds.
package plugins

import (
	"context"
	"net"

	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/grpc/experimental"
	"google.golang.org/grpc/mem"

	"noema/methods"
	"noema/plugins/internal/wire"
)

// handshake tells a plugin that a noema kernel started it, and the kernel
// that what it started is a plugin. It is not a secret.
func handshake() plugin.HandshakeConfig {
	return plugin.HandshakeConfig{MagicCookieKey: "NOEMA_PLUGIN", MagicCookieValue: "method"}
}

// pluginName is the key under which go-plugin knows the one service.
const pluginName = "method"

// protocols are the versions of the protocol that this package speaks, oldest
// first. A new one is needed when an old plugin would misunderstand a new kernel.
func protocols() []int { return []int{1} }

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
	return methods.Must(mem.NewBinaryTieredBufferPool(8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24)) // the exponents are constants
}

func serverOptions() []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.MaxRecvMsgSize(wire.MaxMessage), grpc.MaxSendMsgSize(wire.MaxMessage),
		experimental.BufferPool(bufferPool()),
		grpc.InitialWindowSize(256 << 10), grpc.InitialConnWindowSize(1 << 20),
		grpc.NumStreamWorkers(trialsEach), // whose stacks have grown already
	}
}

func dialOptions(dial func(context.Context, string) (net.Conn, error)) []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithContextDialer(dial),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(wire.MaxMessage), grpc.MaxCallSendMsgSize(wire.MaxMessage)),
		experimental.WithBufferPool(bufferPool()),
		grpc.WithInitialWindowSize(256 << 10), grpc.WithInitialConnWindowSize(1 << 20),
	}
}
