package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"noema/kernel/result/record"
	"noema/kernel/view"
)

func viewCommand(a *app) *cobra.Command {
	var port int
	var dir string
	var show []string
	cmd := &cobra.Command{
		Use:   "view [RUN...]",
		Short: "serve a web page of the runs, on this machine only, or write it as files",
		Long: `Serves a page with the list of runs, each run (live while it is running), comparisons
with plots, samples side by side, and every trial down to the single call. A form composes
a comparison, shows its price and starts it. Only this machine can reach the page, with the
token in the address that it prints.

With --bundle the page of the runs that you name is written as static files, to be sent or
put on a web server. Keys, the folders of this machine and command lines are taken out; what
models were asked and answered is in it.`,
		Example: `  noema view
  noema view --port 8080
  noema view --bundle site last`,
		Args: cobra.ArbitraryArgs, ValidArgsFunction: a.completeRuns,
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("bundle") {
				return a.bundle(cmd.Context(), view.Bundle{Lab: a.lab, Noema: versionLine(), Redactor: a.redactor, Show: show}, dir, args)
			}
			if len(args) > 0 || len(show) > 0 {
				return usage(errors.New("view: runs and --show are for --bundle: add --bundle DIR"))
			}
			if err := checkPort(port); err != nil {
				return err
			}
			return a.view(cmd.Context(), port)
		},
	}
	cmd.Flags().StringVar(&dir, "bundle", "", "write static files of the runs into this folder, instead of serving")
	cmd.Flags().StringSliceVar(&show, "show", nil, "leave "+strings.Join(view.Showable(), " or ")+" in the bundle")
	cmd.Flags().IntVar(&port, "port", 0, "port to listen on (default: a free one)")
	return cmd
}

func checkPort(port int) error {
	if port < 0 || port > 65535 {
		return usage(fmt.Errorf("--port %d: use 0 to 65535", port))
	}
	return nil
}

// bundle writes the page of the named runs as static files.
func (a *app) bundle(ctx context.Context, b view.Bundle, dir string, names []string) (err error) {
	if dir == "" || len(names) == 0 {
		return usage(errors.New("view: name a folder and the runs to bundle, as in: noema view --bundle site last"))
	}
	if b.Runs, err = a.runsNamed(ctx, names); err == nil {
		b.Runs, err = a.withCells(ctx, b.Runs)
	}
	if err != nil {
		return err
	}
	b.Runs = slices.DeleteFunc(b.Runs, func(r *record.Run) bool { return r.Config.Study != nil })
	written, err := b.Write(ctx, dir)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.stdout, "%s: %d files, %d bytes\n", filepath.Join(dir, "index.html"), written.Files, written.Bytes)
	return err
}

func (a *app) view(ctx context.Context, port int) error {
	tuneSession(viewMemory)
	page, err := view.New(a.lab)
	if err != nil {
		return err
	}
	if _, err := a.lab.Store(); err != nil { // so that the first page need not wait for it
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("serve page: %w", err)
	}
	page.Starts(a.starter(self))
	return a.serve(ctx, page, port)
}

// viewMemory is above how many bytes the server of the page collects garbage at every step.
const viewMemory byteSize = 200 << 20

// startFlags are the flags of compare that the page asks for.
var startFlags = []string{"task", "methods", "model", "limit", "epochs", "seed", "run-cost-limit"}

// starter has the page compose compare as its flags are declared, and start it as a
// process of this program: no shell reads what was entered.
func (a *app) starter(self string) view.Starter {
	cmd := compareCommand(a)
	s := view.Starter{Verb: []string{"noema", cmd.Name()}}
	for _, name := range startFlags {
		f := cmd.Flags().Lookup(name)
		o := view.StartOption{Name: name, Doc: f.Usage, Default: f.DefValue, Only: name == "methods"}
		if complete, ok := cmd.GetFlagCompletionFunc(name); ok && !o.Only {
			o.Values, _ = complete(cmd, nil, "")
		}
		if o.Only {
			o.Values = a.methodNames()
		}
		s.Options = append(s.Options, o)
	}
	s.Command = func(ctx context.Context, args ...string) *exec.Cmd {
		c := exec.CommandContext(ctx, self, args...)
		c.Env = append(os.Environ(), variable("home")+"="+a.lab.Home(), variable("progress")+"=json")
		c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C reaches it through ctx, once
		c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
		c.WaitDelay = endingRun
		return c
	}
	return s
}

// endingRun is how long a run that was started from the page has to end.
const endingRun = 10 * time.Second

// serve serves a page, and says where, until ctx ends.
func (a *app) serve(ctx context.Context, page *view.Page, port int) error {
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return fmt.Errorf("serve page: %w: choose another --port", err)
	}
	fmt.Fprintf(a.stdout, "http://%s/?token=%s\n", listener.Addr(), page.Token())
	fmt.Fprintln(a.stderr, "press Ctrl-C to stop")
	return page.Serve(ctx, listener)
}
