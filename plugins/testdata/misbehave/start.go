package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"noema/methods"
	"noema/plugins/internal/wire"
)

// atStart are the plugins that do not even serve as they should.
func atStart() map[string]func() {
	return map[string]func(){
		"old":            func() { serve(0, server{}) },
		"two":            func() { serve(2, server{}) },
		"one":            func() { serve(1, server{}) },
		"describe-hangs": func() { serve(1, server{describe: hang}) },
		"gigabyte":       func() { serve(1, server{session: gigabyte}) },
		"junk-frames":    func() { serve(1, server{session: junkFrames}) },
		"empty-frames":   func() { serve(1, server{session: emptyFrames}) },
		"no-finish":      func() { serve(1, server{session: func(wire.Method_SessionServer) error { return nil }}) },
		"same-id":        func() { serve(1, server{session: sameID}) },
		"other-service":  func() { serve(1, nil) },
		"silent":         func() {},
		"hang":           hang,
		"chat":           func() { fmt.Println("Loading 3 models ..."); hang() },
		"long-line":      func() { fmt.Print(strings.Repeat("x", 1<<20)); hang() },
		"wrong-core":     func() { fmt.Println("9|1|unix|/tmp/x|grpc"); hang() },
		"wrong-version":  func() { fmt.Println("1|one|unix|/tmp/x|grpc"); hang() },
		"wrong-protocol": func() { fmt.Println("1|1|unix|/tmp/x|netrpc"); hang() },
		"elsewhere":      func() { fmt.Println("1|1|tcp|203.0.113.7:80|grpc"); hang() },
		"nobody-there":   func() { fmt.Println("1|1|unix|" + os.Getenv("PLUGIN_UNIX_SOCKET_DIR") + "/none|grpc"); hang() },
		"others-socket":  func() { fmt.Println("1|1|unix|" + othersSocket() + "|grpc"); hang() },
		"link-to-others-socket": func() {
			link := filepath.Join(os.Getenv("PLUGIN_UNIX_SOCKET_DIR"), "s")
			if err := os.Symlink(othersSocket(), link); err != nil {
				panic(err)
			}
			fmt.Println("1|1|unix|" + link + "|grpc")
			hang()
		},
		"junk-bytes": junkBytes,
		"just-leak":  func() { _, _ = leak(context.Background(), methods.Problem{}, nil) },
	}
}

// othersSocket is where the kernel's test has a socket of another process.
func othersSocket() string { return filepath.Join(filepath.Dir(os.Getenv("TMPDIR")), "others", "s") }

// hang never returns. Without cgo, a program whose only goroutine blocks on
// nothing ends as deadlocked; one that waits for a signal does not.
func hang() {
	never := make(chan os.Signal, 1)
	signal.Notify(never, syscall.SIGUSR2)
	<-never
}

// server is a plugin without the kernel's own package between.
type server struct {
	wire.UnimplementedMethodServer
	describe func()
	session  func(wire.Method_SessionServer) error
}

// Describe implements the service.
func (s server) Describe(context.Context, *wire.DescribeRequest) (*wire.Description, error) {
	if s.describe != nil {
		s.describe()
	}
	return &wire.Description{Name: "misbehave"}, nil
}

// Session implements the service: by default a good answer.
func (s server) Session(stream wire.Method_SessionServer) error {
	if s.session != nil {
		return s.session(stream)
	}
	return stream.Send(finish([]byte(`"fine"`)))
}

func finish(value []byte) *wire.PluginMessage {
	return frames(&wire.PluginFrame{Frame: &wire.PluginFrame_Finish{Finish: &wire.Finish{
		Answer: &wire.Answer{Value: value, Outcome: string(methods.Answered)},
	}}})
}

func frames(f ...*wire.PluginFrame) *wire.PluginMessage { return &wire.PluginMessage{Frames: f} }

func gigabyte(stream wire.Method_SessionServer) error {
	return stream.Send(finish(make([]byte, 1<<30)))
}

func emptyFrames(stream wire.Method_SessionServer) error {
	return stream.Send(frames(&wire.PluginFrame{}))
}

func sameID(stream wire.Method_SessionServer) error {
	call := &wire.PluginFrame{Frame: &wire.PluginFrame_Call{Call: &wire.Call{
		Id: 7, What: &wire.Call_Complete{Complete: &wire.Request{Path: "wait"}},
	}}}
	if err := stream.Send(frames(call, call)); err != nil {
		return err
	}
	<-stream.Context().Done()
	return nil
}

// junk is sent as it is.
type junk []byte

func junkFrames(stream wire.Method_SessionServer) error {
	return stream.SendMsg(junk("\xff\xff\xff\xff this is no message"))
}

// codec encodes everything but junk as it should be.
type codec struct{}

func (codec) Name() string { return "proto" }

func (codec) Marshal(v any) ([]byte, error) {
	if j, ok := v.(junk); ok {
		return j, nil
	}
	return proto.Marshal(v.(proto.Message))
}

func (codec) Unmarshal(data []byte, v any) error { return proto.Unmarshal(data, v.(proto.Message)) }

// serve offers m under a version of the protocol, and nothing if m is nil.
func serve(version int, m wire.MethodServer) {
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig:  plugin.HandshakeConfig{MagicCookieKey: "NOEMA_PLUGIN", MagicCookieValue: "method"},
		VersionedPlugins: map[int]plugin.PluginSet{version: {"method": &service{server: m}}},
		Logger:           hclog.NewNullLogger(),
		GRPCServer: func(opts []grpc.ServerOption) *grpc.Server {
			return grpc.NewServer(append(opts, grpc.ForceServerCodec(codec{}), grpc.MaxSendMsgSize(2<<30-1))...)
		},
	})
}

// service adapts a server to go-plugin.
type service struct {
	plugin.NetRPCUnsupportedPlugin
	server wire.MethodServer
}

// GRPCServer implements plugin.GRPCPlugin.
func (s *service) GRPCServer(_ *plugin.GRPCBroker, g *grpc.Server) error {
	if s.server != nil {
		wire.RegisterMethodServer(g, s.server)
	}
	return nil
}

// GRPCClient implements plugin.GRPCPlugin.
func (*service) GRPCClient(context.Context, *plugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, fmt.Errorf("this side has no client")
}

// junkBytes shakes hands and then does not speak HTTP/2.
func junkBytes() {
	address := filepath.Join(os.Getenv("PLUGIN_UNIX_SOCKET_DIR"), "s")
	l, err := net.Listen("unix", address)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	fmt.Printf("1|1|unix|%s|grpc\n", address)
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			for {
				if _, err := conn.Write([]byte(strings.Repeat("junk", 1024))); err != nil {
					return
				}
			}
		}()
	}
}
