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
	"time"

	"github.com/spf13/cobra"

	"noema/kernel/lab"
	"noema/kernel/model/provider"
	"noema/kernel/model/provider/exchange"
	"noema/kernel/session/builtin"
	"noema/kernel/show/report"
	"noema/plugins"
)

func doctorCommand(a *app) *cobra.Command {
	var contact, asJSON bool
	cmd := &cobra.Command{
		Use: "doctor", Short: "check the installation: store, plugins, models, keys", Example: "  noema doctor\n  noema doctor --contact",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if asJSON {
				a.findings = []findingJSON{}
			}
			err := a.doctor(cmd.Context(), contact)
			if asJSON {
				err = errors.Join(report.JSON(a.clean(), a.findings), err)
			}
			return err
		},
	}
	addJSON(cmd, &asJSON)
	cmd.Flags().BoolVar(&contact, "contact", false, "ask each server that has a key or an address for something that costs nothing, to see whether it answers")
	return cmd
}

// finding is one line of doctor: ok, or what is wrong and what helps.
func (a *app) finding(name string, err error, detail string) bool {
	if err != nil {
		a.found("FAIL", name, err.Error())
		return false
	}
	a.found("ok", name, detail)
	return true
}

// found prints a line of doctor, or keeps it for --json.
func (a *app) found(mark, name, detail string) {
	if a.findings != nil {
		a.findings = append(a.findings, findingJSON{strings.ToLower(mark), name, detail})
		return
	}
	fmt.Fprintf(a.clean(), "%-5s %-8s %s\n", mark, name, detail)
}

func (a *app) doctor(ctx context.Context, contact bool) error {
	a.found("ok", "go", fmt.Sprintf("%s on %s/%s, %d cores", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU()))
	healthy := a.checkStore(ctx)
	healthy = a.checkPlugins(ctx) && healthy
	healthy = a.checkModels(ctx, contact) && healthy
	if path, err := exec.LookPath("python3"); err == nil {
		a.found("ok", "python", path+", for plugins in Python")
	} else {
		a.found("note", "python", "no python3 found: plugins in Python will not start")
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
// is, and which server it uses; with contact, what came of asking that.
func (a *app) checkModels(ctx context.Context, contact bool) (healthy bool) {
	healthy = true
	for _, p := range builtin.Providers() {
		mark, detail := "ok", "needs no server and no key"
		if p.Server != nil {
			mark, detail = checkServer(*p.Server)
		}
		if server, own := strings.CutSuffix(detail, notContacted); own && contact {
			mark, detail = a.contact(ctx, p)
			detail = server + ": " + detail
			healthy = healthy && mark != "FAIL"
		}
		a.found(mark, "model", p.Form+": "+detail)
	}
	return healthy
}

// contact asks a provider's server, and says what came of it with the cure. One that is only
// a default may be missing.
func (a *app) contact(ctx context.Context, p builtin.Provider) (mark, said string) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	client, err := (builtin.Catalog{Home: a.home}).Model(lab.Spec{Name: p.Example}, false, 0)
	if err == nil {
		err = client.(interface{ Contact(context.Context) error }).Contact(ctx)
	}
	if err == nil {
		return "ok", "reached, and it answers"
	}
	e := &provider.Error{Kind: provider.Network}
	mark, said = "FAIL", "reached, and it does not answer as it should"
	switch errors.As(err, &e); {
	case e.Status == http.StatusNotFound: // the key was not tried
		mark, said = "note", fmt.Sprintf("reached, and it has no %s: check %s, or run \"noema model test %s/NAME\"", p.Server.Probe, p.Server.URLVariable, p.Kind)
	case e.Kind == provider.RateLimited:
		mark, said = "note", "reached, and it is busy"
	case e.Kind == provider.Unauthorized:
		said = "reached, and the key is refused"
	case e.Kind == provider.Network:
		said = "unreachable: check the network, HTTPS_PROXY and " + p.Server.URLVariable
		if variable, _ := p.Server.Key(os.Getenv); variable == "" && os.Getenv(p.Server.URLVariable) == "" {
			mark = "note"
		}
	}
	return mark, said + ": " + err.Error()
}

const notContacted = " (not contacted)"

func checkServer(s exchange.Service) (mark, detail string) {
	base, err := s.Base(os.Getenv(s.URLVariable))
	if err != nil {
		return "note", err.Error()
	}
	variable, _ := s.Key(os.Getenv)
	server := "server " + cmp.Or(base.Endpoint, s.BaseURL) + notContacted
	switch {
	case variable != "":
		return "ok", variable + " is set, " + server
	case base.Endpoint == "" && !s.KeyOptional:
		return "note", fmt.Sprintf("%s is not set: set it, or %s for another server", strings.Join(s.KeyVariable, " or "), s.URLVariable)
	}
	return "ok", "no key, " + server
}
