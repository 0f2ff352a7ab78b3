// Package python_test puts the Python SDK through the plugin host: what is
// promised of methods in Go must hold for those in Python.
package python_test

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"noema/methods"
	"noema/methods/methodspb"
	"noema/plugins"
	"noema/plugins/internal/wire"
)

var update = flag.Bool("update", false, "write the descriptor anew")

// TestDescriptorIsThatOfTheProtocol keeps the SDK's copy of the protocol
// equal to the protocol.
func TestDescriptorIsThatOfTheProtocol(t *testing.T) {
	set := &descriptorpb.FileDescriptorSet{}
	for _, d := range []protoreflect.FileDescriptor{methodspb.File_methods_methodspb_methods_proto, wire.File_plugins_internal_wire_method_proto} {
		file := protodesc.ToFileDescriptorProto(d)
		file.Syntax, file.Edition = proto.String("proto3"), nil // older versions of protobuf know no editions
		file.Options = nil                                      // they are for Go
		set.File = append(set.File, file)
	}
	want, err := proto.MarshalOptions{Deterministic: true}.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	const path = "src/noema/method.binpb"
	if *update {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var have descriptorpb.FileDescriptorSet
	if err := proto.Unmarshal(raw, &have); err != nil {
		t.Fatal(err)
	}
	if !proto.Equal(&have, set) {
		t.Errorf("%s is not that of method.proto: run go test ./plugins/python -run Descriptor -update", path)
	}
}

// interpreter finds a Python that has what the SDK needs, once.
var interpreter = sync.OnceValues(func() (string, string) {
	python := os.Getenv("NOEMA_TEST_PYTHON")
	if python == "" {
		python = "python3"
	}
	path, err := exec.LookPath(python)
	if err != nil {
		return "", "there is no " + python + ": install Python 3.9 or newer, or name one by NOEMA_TEST_PYTHON"
	}
	const probe = "import sys; assert sys.version_info >= (3, 9), 'Python is older than 3.9'; import grpc, google.protobuf"
	if out, err := exec.Command(path, "-c", probe).CombinedOutput(); err != nil {
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		return "", path + " lacks what the SDK needs (" + lines[len(lines)-1] + "): pip install grpcio protobuf, or name another Python by NOEMA_TEST_PYTHON"
	}
	return path, ""
})

func python(t testing.TB) string {
	t.Helper()
	path, lack := interpreter()
	if lack != "" {
		t.Skip(lack)
	}
	return path
}

// sdk is the environment in which Python finds the SDK without installing it.
func sdk(t testing.TB) string {
	t.Helper()
	src, err := filepath.Abs("src")
	if err != nil {
		t.Fatal(err)
	}
	return "PYTHONPATH=" + src
}

// withPython has a plugin's command run by the tests' Python with the SDK.
func withPython(t testing.TB, src plugins.Source) plugins.Source {
	t.Helper()
	args := src.Command
	if args[0] == "python3" {
		args = args[1:]
	}
	src.Command = append([]string{"env", sdk(t), "PYTHONDONTWRITEBYTECODE=1", python(t)}, args...)
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	src.Read, src.Granted = []string{here}, true // the SDK is not installed there
	return src
}

// source is one of the methods in testdata.
func source(t testing.TB, name string) plugins.Source {
	t.Helper()
	main, err := filepath.Abs("testdata/methods/main.py")
	if err != nil {
		t.Fatal(err)
	}
	return withPython(t, plugins.Source{Name: name, Command: []string{main, name}, Path: main})
}

func openHost(t testing.TB) *plugins.Host {
	t.Helper()
	h, err := plugins.NewHost(plugins.HostOptions{StopGrace: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

func open(t testing.TB, h *plugins.Host, name string) *plugins.Plugin {
	t.Helper()
	p, err := h.Open(t.Context(), source(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// kernel is the Host that the tests offer to plugins: it echoes.
type kernel struct {
	complete func(context.Context, methods.Request) (methods.Completion, error)
	seed     func(context.Context, methods.SeedKey, func(context.Context) ([]byte, error)) ([]byte, error)
	events   chan methods.Event
}

func newKernel() *kernel { return &kernel{events: make(chan methods.Event, 100)} }

func (k *kernel) Complete(ctx context.Context, r methods.Request) (methods.Completion, error) {
	if k.complete != nil {
		return k.complete(ctx, r)
	}
	return methods.Completion{Text: r.Messages[0].Content, Usage: methods.Usage{Calls: 1, Latency: time.Second}}, nil
}

func (k *kernel) CallTool(_ context.Context, c methods.ToolCall) (methods.ToolResult, error) {
	if c.Name != "add" {
		return methods.ToolResult{}, methods.ErrUnknownTool
	}
	return methods.ToolResult{Content: string(c.Arguments), IsError: true}, nil
}

func (k *kernel) Seed(ctx context.Context, key methods.SeedKey, build func(context.Context) ([]byte, error)) ([]byte, error) {
	if k.seed != nil {
		return k.seed(ctx, key, build)
	}
	return build(ctx)
}

func (k *kernel) Emit(e methods.Event) { k.events <- e }

// next is the text of the next event.
func (k *kernel) next(t *testing.T) string {
	t.Helper()
	select {
	case e := <-k.events:
		return e.Text
	case <-time.After(2 * time.Minute):
		t.Fatal("the plugin sent no event in two minutes")
		return ""
	}
}

// TestUnits runs the Python tests of the SDK and of a whole method.
func TestUnits(t *testing.T) {
	for _, dir := range []string{"tests", "testdata/tree_of_thoughts/tests"} {
		t.Run(dir, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(python(t), "-W", "error::ResourceWarning", "-m", "unittest", "discover", "-s", dir)
			cmd.Env = withCommand(t)
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.Contains(string(out), "\nOK") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// TestStartedByHand demands words that help.
func TestStartedByHand(t *testing.T) {
	cmd := exec.Command(python(t), "testdata/methods/main.py", "echo")
	cmd.Env = append(os.Environ(), sdk(t), "NOEMA_PLUGIN=")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "noema compare --task arithmetic --methods direct,") {
		t.Errorf("%v\n%s", err, out)
	}
}
