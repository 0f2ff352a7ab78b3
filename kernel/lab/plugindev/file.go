package plugindev

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"

	"noema/kernel/lab"
	"noema/methods"
	"noema/methods/methodtest"
	"noema/plugins"
)

// IsFile reports whether a plugin's path is that of a file of Go.
func IsFile(path string) bool { return filepath.Ext(path) == ".go" }

// NewFile writes a method that works to a file of Go, which noema interprets as it
// is; [BuildFile] compiles it.
func NewFile(file string) error {
	v, err := fileValues(file)
	if err != nil {
		return err
	}
	if err := fill("templates/go/main.go.tmpl", file, v); err != nil {
		return fmt.Errorf("new plugin: %w", err)
	}
	return nil
}

// fileValues are the values that follow from the name of a file, which must not exist yet.
func fileValues(file string) (values, error) {
	if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) {
		return values{}, lab.Misused(fmt.Errorf("new plugin: %s already exists: choose another name, or remove it", file))
	}
	return nameValues(plugins.FileMethod(file))
}

// BuildFile compiles the method in a file of Go with noema's source in the folder
// checkout; "" finds it. What the compiler prints goes to out. A build that fails
// leaves an earlier binary in place.
func BuildFile(ctx context.Context, file, binary, checkout string, out io.Writer) error {
	if _, err := exec.LookPath("go"); err != nil {
		return fmt.Errorf("build plugin: compiling %s needs the Go toolchain (https://go.dev/dl); noema runs the file without it: %w", file, err)
	}
	checkout, err := FindCheckout(checkout)
	if err != nil {
		return err
	}
	if file, err = filepath.Abs(file); err != nil {
		return err
	}
	if binary, err = filepath.Abs(binary); err != nil {
		return err
	}
	if err := compile(ctx, checkout, binary, file, out); err != nil {
		return fmt.Errorf("build plugin %s: %w", filepath.Base(file), err)
	}
	return nil
}

// goBuild are the arguments with which the go tool compiles a package: the same source gives
// the same bytes, wherever it lies.
func goBuild(binary, pkg string) []string {
	return []string{"build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", binary, pkg}
}

// compile compiles a package, as package go names it, in a folder.
func compile(ctx context.Context, dir, binary, pkg string, out io.Writer) error {
	fresh := binary + ".new" // renamed at the end: a plugin that runs keeps its old binary
	if err := run(ctx, dir, out, "go", goBuild(fresh, pkg)...); err != nil {
		return err
	}
	return os.Rename(fresh, binary)
}

// compiled: a file of Go, compiled, makes the same calls with the same requests
// and gives the same answers as interpreted, whatever the model replies.
func (c *checker) compiled() {
	const name = "compiled"
	dir, err := os.MkdirTemp("", "noema-check-")
	if err != nil {
		c.add(name, err.Error())
		return
	}
	defer os.RemoveAll(dir)
	binary, told := filepath.Join(dir, c.source.Name), &bytes.Buffer{}
	err = BuildFile(c.ctx, c.source.Path, binary, c.o.Checkout, told)
	switch {
	case errors.Is(err, exec.ErrNotFound) || lab.IsMisuse(err):
		c.pass(name, "not compared, only the interpreted file was checked: "+err.Error())
		return
	case err != nil:
		c.add(name, fmt.Sprintf("it does not compile: %v\n%s", err, told))
		return
	}
	src, err := plugins.At(binary)
	if err != nil {
		c.add(name, err.Error())
		return
	}
	other, err := c.host.Open(c.ctx, src)
	if err != nil {
		c.add(name, fmt.Sprintf("compiled, it does not start: %v", err))
		return
	}
	faults, calls := c.against(other)
	c.result(faults, name, fmt.Sprintf("compiled, it makes the same %d calls and gives the same answers", calls))
}

// against compares the plugin with another method, and counts the calls of which they
// agree.
func (c *checker) against(other methods.Method) (faults []string, calls int) {
	var made atomic.Int64
	for _, tc := range c.cases {
		plain := tc.Model
		for turn := range len(replies) {
			tc.Model = mixed(plain, turn, &made)
			for _, f := range methodtest.Differences(c.ctx, c.method, other, tc) {
				faults = append(faults, tc.Name+": "+f.Text)
			}
		}
	}
	return faults, int(made.Load() / 2)
}

// replies are what models may answer in place of what was asked for; nil is that.
var replies = []methods.Model{
	nil, nil, nil, methodtest.Reply(""), methodtest.Reply("I cannot say."), methodtest.Reply("yes, or no: 4.5 and -3"),
	methodtest.Reply("```json\n[1, 2]\n```"), methodtest.Reply(`{"name": "Brio"`),
}

// mixed is a model that answers each request as m or as one of replies does, by
// the request and the turn alone. It counts the calls.
func mixed(m methods.Model, turn int, made *atomic.Int64) methods.Model {
	return methodtest.ModelFunc(func(ctx context.Context, r methods.Request) (methods.Completion, error) {
		made.Add(1)
		h := fnv.New32()
		fmt.Fprint(h, r.Path, r.Draw, r.Messages)
		other := replies[(int(h.Sum32()%1024)+turn)%len(replies)]
		if other == nil {
			other = m
		}
		return other.Complete(ctx, r)
	})
}
