// Command misbehave is a plugin that does not do as it should, in the way that
// its argument names. The kernel must contain each, and say what it did.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"noema/methods"
	"noema/plugins"
)

// solver is a method that is a function.
type solver func(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error)

// Solve implements methods.Method.
func (f solver) Solve(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
	return f(ctx, p, h)
}

// inTrials are the plugins that start well.
func inTrials() map[string]solver {
	return map[string]solver{
		"well": func(_ context.Context, p methods.Problem, _ methods.Host) (methods.Answer, error) {
			return methods.TextAnswer(p.Query), nil
		},
		"flood-stdout":   flood(1),
		"flood-stderr":   flood(2),
		"fork":           fork,
		"double-fork":    doubleFork,
		"ignore-sigterm": ignore,
		"leak":           leak,
		"leak-in-child":  leakInChild,
		"hold":           hold,
		"call":           call,
		"crash":          func(context.Context, methods.Problem, methods.Host) (methods.Answer, error) { return crash() },
		"quit": func(context.Context, methods.Problem, methods.Host) (methods.Answer, error) {
			os.Exit(0)
			return none()
		},
		"spin":         func(context.Context, methods.Problem, methods.Host) (methods.Answer, error) { return spin() },
		"open-files":   openFiles,
		"flood-events": floodEvents,
		"flood-seeds":  floodSeeds,
		"tell":         tell,
		"steal":        steal,
		"phone":        phone,
		"pry":          pry,
		"hide":         hide,
		"freeze":       freeze,
		"remember":     remember,
	}
}

func main() {
	mode := os.Args[1]
	if method, ok := inTrials()[mode]; ok {
		plugins.Serve(method)
		return
	}
	if start, ok := atStart()[mode]; ok {
		start()
		return
	}
	fmt.Fprintf(os.Stderr, "misbehave: unknown mode %q\n", mode)
	os.Exit(2)
}

// remember leaves a note for later trials in every folder that it may write, and answers with what
// earlier ones left.
func remember(_ context.Context, p methods.Problem, _ methods.Host) (methods.Answer, error) {
	dir := os.Getenv("TMPDIR")
	found := ""
	for _, path := range []string{filepath.Join(dir, "note"), filepath.Join(dir, "deep", "down", "note"), filepath.Join(dir, ".note")} {
		if raw, err := os.ReadFile(path); err == nil {
			found += string(raw)
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(p.Query), 0o600)); err != nil {
			return methods.Answer{}, err
		}
	}
	return methods.TextAnswer("found " + found), nil
}

func none() (methods.Answer, error) { return methods.Answer{}, nil }

// flood writes to a descriptor for ever, past whatever stands before it.
func flood(fd int) solver {
	return func(context.Context, methods.Problem, methods.Host) (methods.Answer, error) {
		line := make([]byte, 1<<16)
		for i := range line {
			line[i] = 'x'
		}
		line[len(line)-1] = '\n'
		for {
			if _, err := syscall.Write(fd, line); err != nil {
				return methods.Answer{}, err
			}
		}
	}
}

// sleeper starts a process that outlives everybody, if it may.
func sleeper(apart bool) error {
	cmd := exec.Command("sleep", "600")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: apart}
	return cmd.Start()
}

func fork(ctx context.Context, _ methods.Problem, _ methods.Host) (methods.Answer, error) {
	for range 30 {
		if err := sleeper(false); err != nil {
			return methods.Answer{}, err
		}
	}
	<-ctx.Done()
	return methods.Answer{}, ctx.Err()
}

// doubleFork leaves a process behind that has another parent and another
// session, holds stdout and stderr, and then crashes.
func doubleFork(context.Context, methods.Problem, methods.Host) (methods.Answer, error) {
	cmd := exec.Command("sh", "-c", "setsid sleep 600 & exit 0")
	cmd.Stdout, cmd.Stderr = os.NewFile(1, "stdout"), os.NewFile(2, "stderr")
	if err := cmd.Run(); err != nil {
		return methods.Answer{}, err
	}
	return crash()
}

// hide leaves processes behind that have another parent, another session and
// nothing in their environment, some levels deep and some of them dying in between.
func hide(context.Context, methods.Problem, methods.Host) (methods.Answer, error) {
	for range 3 {
		const script = `for i in 1 2 3; do (setsid env -i sh -c "sleep $((10000000+$0)) & sleep $((10000000+$0)) & exec sleep 0.2" &) & done; true`
		if err := exec.Command("sh", "-c", script, fmt.Sprint(os.Getppid())).Run(); err != nil {
			return methods.Answer{}, err
		}
	}
	return none()
}

func ignore(_ context.Context, _ methods.Problem, h methods.Host) (methods.Answer, error) {
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	h.Emit(methods.Event{Text: "deaf"})
	select {}
}

func leak(context.Context, methods.Problem, methods.Host) (methods.Answer, error) {
	var kept [][]byte
	for {
		block := make([]byte, 8<<20)
		for i := 0; i < len(block); i += 4096 {
			block[i] = 1
		}
		kept = append(kept, block)
		time.Sleep(15 * time.Millisecond) // so that it is measured before the limit of its address space
		if len(kept) > 1<<20 {
			return none()
		}
	}
}

// hold does what the query says: leaks, or holds so many MiB for a while.
func hold(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
	if p.Query == "leak" {
		return leak(ctx, p, h)
	}
	var mebibytes int
	if _, err := fmt.Sscan(p.Query, &mebibytes); err != nil {
		return methods.Answer{}, err
	}
	block := make([]byte, mebibytes<<20)
	for i := 0; i < len(block); i += 4096 {
		block[i] = 1
	}
	time.Sleep(400 * time.Millisecond)
	return methods.TextAnswer(fmt.Sprint(len(block))), nil
}

// leakInChild has another process use the memory.
func leakInChild(ctx context.Context, _ methods.Problem, _ methods.Host) (methods.Answer, error) {
	self, err := os.Executable()
	if err != nil {
		return methods.Answer{}, err
	}
	return methods.Answer{}, exec.CommandContext(ctx, self, "just-leak").Run()
}

// call takes no notice of what the kernel answers.
func call(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
	var callers sync.WaitGroup
	for range 1000 {
		callers.Go(func() {
			for range 100 {
				_, _ = h.Complete(ctx, methods.Request{Messages: methods.Ask(p.Query), Path: "c"})
			}
		})
	}
	callers.Wait()
	return methods.NumberAnswer(100_000), nil
}

func crash() (methods.Answer, error) {
	fmt.Fprintln(os.Stderr, "it is all too much")
	os.Exit(3)
	return none()
}

func spin() (methods.Answer, error) {
	for i := 0; ; i++ {
		if i < 0 {
			return none()
		}
	}
}

func openFiles(context.Context, methods.Problem, methods.Host) (methods.Answer, error) {
	var kept []*os.File
	for range 10_000 {
		f, err := os.Open(os.DevNull)
		if err != nil {
			return methods.Answer{}, fmt.Errorf("with %d files open: %w", len(kept), err)
		}
		kept = append(kept, f)
	}
	return methods.NumberAnswer(float64(len(kept))), nil
}

func floodEvents(_ context.Context, _ methods.Problem, h methods.Host) (methods.Answer, error) {
	text := string(make([]byte, 8<<20))
	for range 100 {
		h.Emit(methods.Event{Kind: "x", Text: text})
	}
	return none()
}

func floodSeeds(ctx context.Context, _ methods.Problem, h methods.Host) (methods.Answer, error) {
	var callers sync.WaitGroup
	for i := range 5000 {
		callers.Go(func() {
			_, _ = h.Seed(ctx, methods.SeedKey{Kind: "k", Content: fmt.Sprint(i)}, func(ctx context.Context) ([]byte, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			})
		})
	}
	callers.Wait()
	return none()
}

// View is what a plugin sees of the machine.
type View struct {
	Env         []string
	Dir         string
	Files       []string // in Dir
	Descriptors []string // what the descriptors beyond 2 lead to
	Pried       []string // what of the kernel's process can be opened
}

func tell(context.Context, methods.Problem, methods.Host) (methods.Answer, error) {
	v := View{Env: os.Environ()}
	var err error
	if v.Dir, err = os.Getwd(); err != nil {
		return methods.Answer{}, err
	}
	entries, err := os.ReadDir(".")
	if err != nil {
		return methods.Answer{}, err
	}
	for _, e := range entries {
		v.Files = append(v.Files, e.Name())
	}
	for fd := 3; fd < 100; fd++ {
		if to, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd)); err == nil {
			v.Descriptors = append(v.Descriptors, to)
		}
	}
	for _, name := range []string{"environ", "mem", "maps"} {
		if f, err := os.Open(fmt.Sprintf("/proc/%d/%s", os.Getppid(), name)); err == nil {
			v.Pried = append(v.Pried, name)
			_ = f.Close() // it was opened for reading
		}
	}
	if err := os.WriteFile("left-behind", nil, 0o600); err != nil {
		return methods.Answer{}, err
	}
	raw, err := json.Marshal(v)
	return methods.TextAnswer(string(raw)), err
}

// freeze answers and then stops to do anything.
func freeze(_ context.Context, _ methods.Problem, h methods.Host) (methods.Answer, error) {
	go func() {
		time.Sleep(50 * time.Millisecond)
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	}()
	return methods.TextAnswer("bye"), nil
}
