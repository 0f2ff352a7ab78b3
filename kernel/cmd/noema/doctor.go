package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"

	"github.com/spf13/cobra"

	"noema/plugins"
)

func doctorCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "doctor", Short: "check the installation: store, plugins, models, keys", Example: "  noema doctor",
		RunE: func(cmd *cobra.Command, _ []string) error { return a.doctor(cmd.Context()) },
	}
}

// finding is one line of doctor: ok, or what is wrong and what helps.
func (a *app) finding(name string, err error, detail string) bool {
	if err != nil {
		fmt.Fprintf(a.stdout, "FAIL  %-8s %v\n", name, err)
		return false
	}
	fmt.Fprintf(a.stdout, "ok    %-8s %s\n", name, detail)
	return true
}

func (a *app) doctor(ctx context.Context) error {
	fmt.Fprintf(a.stdout, "ok    %-8s %s on %s/%s, %d cores\n", "go", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	healthy := a.checkStore(ctx)
	healthy = a.checkPlugins(ctx) && healthy
	a.checkModels()
	if path, err := exec.LookPath("python3"); err == nil {
		fmt.Fprintf(a.stdout, "ok    %-8s %s, for plugins in Python\n", "python", path)
	} else {
		fmt.Fprintf(a.stdout, "note  %-8s no python3 found: plugins in Python will not start\n", "python")
	}
	if !healthy {
		return errors.New("doctor: some checks failed: see the lines that begin with FAIL")
	}
	return nil
}

func (a *app) checkStore(ctx context.Context) bool {
	store, err := a.lab.Store()
	if err != nil {
		return a.finding("store", err, "")
	}
	s, err := store.Stats(ctx)
	return a.finding("store", err, fmt.Sprintf("%s, %.1f GiB free", store.Dir(), float64(s.FreeBytes)/(1<<30)))
}

func (a *app) checkPlugins(ctx context.Context) bool {
	sources, err := a.lab.Plugins()
	healthy := err == nil || a.finding("plugins", err, "")
	host, err := plugins.NewHost(plugins.HostOptions{})
	if err != nil {
		return a.finding("plugins", err, "")
	}
	defer host.Close()
	for _, src := range sources {
		p, err := host.Open(ctx, src)
		detail := ""
		if err == nil {
			detail = fmt.Sprintf("%s version %s starts and answers", src.Name, p.Describe().Version)
		}
		healthy = a.finding("method", err, detail) && healthy
	}
	return healthy
}

// checkModels tells which keys are set, never what they are.
func (a *app) checkModels() {
	fmt.Fprintf(a.stdout, "ok    %-8s sim needs nothing (simulated model)\n", "model")
	switch {
	case os.Getenv("OPENAI_API_KEY") != "":
		fmt.Fprintf(a.stdout, "ok    %-8s OPENAI_API_KEY is set, for openai/NAME\n", "model")
	default:
		fmt.Fprintf(a.stdout, "note  %-8s OPENAI_API_KEY is not set: openai/NAME needs it, or a server of your own at OPENAI_BASE_URL\n", "model")
	}
}
