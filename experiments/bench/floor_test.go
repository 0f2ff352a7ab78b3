package bench

import (
	"context"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// The floors below a call through the boundary: a message of 2 KB goes to another
// process over a Unix socket and comes back, bare and with gRPC.

const pingSize = 2 << 10

// pong serves the other end of a floor: "socket" or "grpc", at a socket.
func pong(kind, address string) error {
	listener, err := net.Listen("unix", address)
	if err != nil {
		return err
	}
	if kind == "grpc" {
		server := grpc.NewServer()
		server.RegisterService(&pingService, nil)
		return server.Serve(listener)
	}
	conn, err := listener.Accept()
	if err != nil {
		return err
	}
	message := make([]byte, pingSize)
	for {
		if _, err := io.ReadFull(conn, message); err != nil {
			return nil
		}
		if _, err := conn.Write(message); err != nil {
			return err
		}
	}
}

// pingService returns each message of a stream, and of a unary call.
var pingService = grpc.ServiceDesc{
	ServiceName: "ping", HandlerType: (*any)(nil),
	Methods: []grpc.MethodDesc{{MethodName: "Once", Handler: func(_ any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
		message := new(wrapperspb.StringValue)
		return message, decode(message)
	}}},
	Streams: []grpc.StreamDesc{{StreamName: "Stream", ServerStreams: true, ClientStreams: true, Handler: func(_ any, s grpc.ServerStream) error {
		for {
			message := new(wrapperspb.StringValue)
			if err := s.RecvMsg(message); err != nil {
				return nil
			}
			if err := s.SendMsg(message); err != nil {
				return err
			}
		}
	}}},
}

// startPong starts pong in another process and returns its address.
func startPong(b *testing.B, kind string) string {
	b.Helper()
	address := filepath.Join(b.TempDir(), "s")
	server := exec.CommandContext(b.Context(), os.Args[0], "pong", kind, address)
	if err := server.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	return address
}

// floors measures what no call can be quicker than, and returns the time of one
// turn of a gRPC stream in seconds; 0 if it was not asked for.
func floors(b *testing.B) (stream float64) {
	b.Run("floor/socket", func(b *testing.B) {
		address := startPong(b, "socket")
		conn, err := net.Dial("unix", address)
		for err != nil && b.Context().Err() == nil { // until it listens
			conn, err = net.Dial("unix", address)
		}
		defer conn.Close()
		message := make([]byte, pingSize)
		for b.Loop() {
			if _, err := conn.Write(message); err != nil {
				b.Fatal(err)
			}
			if _, err := io.ReadFull(conn, message); err != nil {
				b.Fatal(err)
			}
		}
	})
	message := wrapperspb.String(strings.Repeat("x", pingSize))
	b.Run("floor/grpc-unary", func(b *testing.B) {
		conn := dialPong(b)
		for b.Loop() {
			if err := conn.Invoke(b.Context(), "/ping/Once", message, new(wrapperspb.StringValue), grpc.WaitForReady(true)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("floor/grpc-stream", func(b *testing.B) {
		pings, err := dialPong(b).NewStream(b.Context(), &pingService.Streams[0], "/ping/Stream", grpc.WaitForReady(true))
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if err := pings.SendMsg(message); err != nil {
				b.Fatal(err)
			}
			if err := pings.RecvMsg(new(wrapperspb.StringValue)); err != nil {
				b.Fatal(err)
			}
		}
		stream = b.Elapsed().Seconds() / float64(b.N)
	})
	return stream
}

func dialPong(b *testing.B) *grpc.ClientConn {
	b.Helper()
	conn, err := grpc.NewClient("unix:"+startPong(b, "grpc"), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { conn.Close() })
	return conn
}
