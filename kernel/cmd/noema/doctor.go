package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"noema/kernel/lab"
	"noema/kernel/model/provider"
	"noema/kernel/model/provider/exchange"
	"noema/kernel/session/builtin"
	"noema/plugins"
)

func doctorCommand(a *app) *cobra.Command {
	contact := false
	cmd := &cobra.Command{
		Use: "doctor", Short: "check the installation: store, plugins, models, keys", Example: "  noema doctor\n  noema doctor --contact",
		Long: `Checks the store, starts every method, and says which providers have a key. It opens no
connection, unless --contact asks each server that has a key or an address of yours for
something that costs nothing, such as its list of models.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.doctor(cmd.Context(), contact) },
	}
	cmd.Flags().BoolVar(&contact, "contact", false, "ask the providers' servers, to see whether addresses and keys work")
	return cmd
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

func (a *app) doctor(ctx context.Context, contact bool) error {
	fmt.Fprintf(a.stdout, "ok    %-8s %s on %s/%s, %d cores\n", "go", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	healthy := a.checkStore(ctx)
	healthy = a.checkPlugins(ctx) && healthy
	healthy = a.checkModels(ctx, contact) && healthy
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
// is, and which server it uses; with contact, what the server says.
func (a *app) checkModels(ctx context.Context, contact bool) (healthy bool) {
	healthy = true
	for _, p := range builtin.Providers() {
		mark, detail := "ok", "needs no server and no key"
		if p.Server != nil {
			ask := func() (provider.Provider, error) {
				return (builtin.Catalog{Home: a.home}).Model(lab.Spec{Name: p.Example}, false, 0)
			}
			if !contact {
				ask = nil
			}
			mark, detail = checkServer(ctx, *p.Server, ask)
			healthy = healthy && mark != "FAIL"
		}
		fmt.Fprintf(a.clean(), "%-5s %-8s %s: %s\n", mark, "model", p.Form, detail)
	}
	return healthy
}

// checkServer reports what is set for a service and, unless open is nil, what its server
// says to a client that open makes. A server that is only a default may be missing.
func checkServer(ctx context.Context, s exchange.Service, open func() (provider.Provider, error)) (mark, detail string) {
	base, err := s.Base(os.Getenv(s.URLVariable))
	if err != nil {
		return "note", err.Error()
	}
	variable, _ := s.Key(os.Getenv)
	key := "no key"
	switch {
	case variable != "":
		key = variable + " is set"
	case base.Endpoint == "" && !s.KeyOptional:
		return "note", fmt.Sprintf("%s is not set: set it, or %s for another server", strings.Join(s.KeyVariable, " or "), s.URLVariable)
	}
	server := key + ", server " + cmp.Or(base.Endpoint, s.BaseURL)
	if open == nil {
		return "ok", server + " (not contacted)"
	}
	client, err := open()
	if err == nil {
		err = client.(interface{ Contact(context.Context) error }).Contact(ctx)
	}
	mark, said := contacted(err, s, variable != "")
	if mark == "FAIL" && variable == "" && base.Endpoint == "" {
		mark = "note"
	}
	return mark, server + ": " + said
}

// contacted words what came of asking a server, with the cure.
func contacted(err error, s exchange.Service, key bool) (mark, said string) {
	var e *provider.Error
	switch {
	case err == nil && key:
		return "ok", "reached, and it answers with this key"
	case err == nil:
		return "ok", "reached"
	case !errors.As(err, &e):
		return "FAIL", err.Error()
	case e.Kind == provider.Unauthorized && !key:
		return "FAIL", fmt.Sprintf("reached, and it wants a key: set %s: %v", s.KeyVariable[0], err)
	case e.Kind == provider.Unauthorized:
		return "FAIL", fmt.Sprintf("reached, and it refuses the key: %v", err)
	case e.Kind == provider.Network:
		return "FAIL", fmt.Sprintf("unreachable: %v: check the network, HTTPS_PROXY and %s", err, s.URLVariable)
	case e.Status == http.StatusNotFound:
		return "note", fmt.Sprintf("reached, and there is no %s, so the key was not tried: check %s, then try a model: noema model test %s/NAME", s.Probe, s.URLVariable, s.Kind)
	case e.Kind == provider.RateLimited:
		return "ok", "reached, and busy: HTTP 429"
	}
	return "FAIL", fmt.Sprintf("reached, and it does not answer as it should: %v", err)
}
