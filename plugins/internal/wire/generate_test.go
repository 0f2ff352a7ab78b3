package wire_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/protoutil"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

var update = flag.Bool("update", false, "write the Go code of the project's .proto files anew")

// TestGeneratedCodeIsCurrent generates everything again and compares: a
// changed .proto without "just proto" fails here. It needs no protoc: a Go library
// compiles the files and the generators pinned in go.mod do the rest.
func TestGeneratedCodeIsCurrent(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	out := t.TempDir()
	if *update {
		out = root
	}
	for _, generator := range []string{"protoc-gen-go", "protoc-gen-go-grpc"} {
		if err := exec.Command("go", "tool", "-n", generator).Run(); err != nil {
			t.Skipf("%s, pinned in go.mod, cannot be had here: %v", generator, err)
		}
	}
	if err := generateAll(t.Context(), root, out); err != nil {
		t.Fatal(err)
	}
	if *update {
		return
	}
	generated := 0
	err := filepath.WalkDir(out, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(out, path)
		if err != nil {
			return err
		}
		fresh, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		committed, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return err
		}
		if !bytes.Equal(fresh, committed) {
			t.Errorf("%s is not what its .proto gives: run \"just proto\"", name)
		}
		generated++
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := 4; generated != want {
		t.Errorf("%d files generated, want %d", generated, want)
	}
}

// protos lists every .proto of the project, relative to its root, with the
// generators that it needs.
var protos = map[string][]string{
	"methods/methodspb/methods.proto":      {"protoc-gen-go"},
	"plugins/internal/wire/method.proto":   {"protoc-gen-go", "protoc-gen-go-grpc"},
	"cache/internal/recordpb/record.proto": {"protoc-gen-go"},
}

// generateAll writes the code of all files below out.
func generateAll(ctx context.Context, root, out string) error {
	for name, generators := range protos {
		if _, err := os.Stat(filepath.Join(root, name)); err != nil {
			return err
		}
		request, err := compile(ctx, root, name)
		if err != nil {
			return fmt.Errorf("compile %s: %w", name, err)
		}
		for _, generator := range generators {
			if err := generate(ctx, root, out, generator, request); err != nil {
				return fmt.Errorf("%s %s: %w", generator, name, err)
			}
		}
	}
	return nil
}

// compile parses one file into the request that protoc would send.
func compile(ctx context.Context, root, name string) ([]byte, error) {
	compiler := protocompile.Compiler{
		Resolver:       protocompile.WithStandardImports(&protocompile.SourceResolver{ImportPaths: []string{root}}),
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	files, err := compiler.Compile(ctx, name)
	if err != nil {
		return nil, err
	}
	var descriptors []*descriptorpb.FileDescriptorProto
	imports := files[0].Imports()
	for i := range imports.Len() { // which the generators want first
		descriptors = append(descriptors, protoutil.ProtoFromFileDescriptor(imports.Get(i).FileDescriptor))
	}
	descriptors = append(descriptors, protoutil.ProtoFromFileDescriptor(files[0]))
	return proto.Marshal(&pluginpb.CodeGeneratorRequest{
		FileToGenerate: []string{name},
		Parameter:      proto.String("module=noema"),
		ProtoFile:      descriptors,
	})
}

// generate runs one generator and writes its files.
func generate(ctx context.Context, root, out, generator string, request []byte) error {
	cmd := exec.CommandContext(ctx, "go", "tool", generator)
	cmd.Dir, cmd.Stdin, cmd.Stderr = root, bytes.NewReader(request), os.Stderr
	raw, err := cmd.Output()
	if err != nil {
		return err
	}
	var response pluginpb.CodeGeneratorResponse
	if err := proto.Unmarshal(raw, &response); err != nil {
		return fmt.Errorf("decode response: %w", err)
	}
	if response.Error != nil {
		return fmt.Errorf("%s", response.GetError())
	}
	for _, f := range response.GetFile() {
		path := filepath.Join(out, f.GetName())
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(f.GetContent()), 0o644); err != nil {
			return err
		}
	}
	return nil
}
