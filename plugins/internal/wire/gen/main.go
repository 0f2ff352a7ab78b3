// Command gen writes the Go code of the project's .proto files, without
// protoc: a Go library compiles them and the generators pinned in go.mod do
// the rest. Run it with "just proto", at the root of the checkout.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/protoutil"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

// protos lists every .proto of the project, relative to its root, with the
// generators that it needs.
var protos = map[string][]string{
	"methods/methodspb/methods.proto":      {"protoc-gen-go"},
	"plugins/internal/wire/method.proto":   {"protoc-gen-go", "protoc-gen-go-grpc"},
	"cache/internal/recordpb/record.proto": {"protoc-gen-go"},
}

func main() {
	root := flag.String("root", ".", "root of the checkout to read")
	out := flag.String("out", ".", "folder to write below")
	flag.Parse()
	if err := run(context.Background(), *root, *out); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, root, out string) error {
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
