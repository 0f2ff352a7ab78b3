package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"noema/kernel/model/provider/exchange"
	"noema/kernel/session/builtin"
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

// checkModels reports for each provider whether its key is set, never what it
// is, and which server it uses.
func (a *app) checkModels() {
	for _, p := range builtin.Providers() {
		mark, detail := "ok", "needs no server and no key"
		if p.Server != nil {
			mark, detail = checkServer(*p.Server)
		}
		fmt.Fprintf(a.stdout, "%-5s %-8s %s: %s\n", mark, "model", p.Form, detail)
	}
}

func checkServer(s exchange.Service) (mark, detail string) {
	base, err := s.Base(os.Getenv(s.URLVariable))
	if err != nil {
		return "note", err.Error()
	}
	variable, _ := s.Key(os.Getenv)
	server := "server " + cmp.Or(base.Endpoint, s.BaseURL) + " (not contacted)"
	switch {
	case variable != "":
		return "ok", variable + " is set, " + server
	case base.Endpoint == "" && !s.KeyOptional:
		return "note", fmt.Sprintf("%s is not set: set it, or %s for another server", strings.Join(s.KeyVariable, " or "), s.URLVariable)
	}
	return "ok", "no key, " + server
}
