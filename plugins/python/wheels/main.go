// Command wheels builds the Python package with the command noema in it, a wheel for each
// platform, with nothing but the Go toolchain:
//
//	go run ./plugins/python/wheels dist [linux/amd64 ...]
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"noema/plugins/python"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./plugins/python/wheels FOLDER [PLATFORM...]")
		os.Exit(2)
	}
	wanted := os.Args[2:]
	if len(wanted) == 0 {
		wanted = python.Platforms()
	}
	for _, platform := range wanted {
		if err := build(os.Args[1], platform); err != nil {
			fmt.Fprintf(os.Stderr, "build the wheel of %s: %v\n", platform, err)
			os.Exit(1)
		}
	}
}

// build compiles the command for a platform such as linux/arm64, and writes the wheel.
func build(folder, platform string) error {
	at, err := os.MkdirTemp("", "noema-wheel-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(at)
	system, processor, _ := strings.Cut(platform, "/")
	binary := filepath.Join(at, "noema")
	cmd := exec.Command("go", "build", "-tags=queue", "-trimpath", "-ldflags=-s -w", "-o", binary, "noema/kernel/cmd/noema")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+processor)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return err
	}
	content, err := os.ReadFile(binary)
	if err != nil {
		return err
	}
	name, wheel, err := python.WheelWith(platform, content)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	file := filepath.Join(folder, name)
	if err := os.WriteFile(file, wheel, 0o644); err != nil {
		return err
	}
	fmt.Printf("%s  %.1f MB, of which the command is %.1f MB unpacked\n", file, float64(len(wheel))/1e6, float64(len(content))/1e6)
	return nil
}
