package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

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
with plots, samples side by side, and every trial down to the single call. Only this
machine can reach it, with the token in the address that it prints.

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
	if debug.SetMemoryLimit(-1) == math.MaxInt64 { // nobody chose another
		debug.SetMemoryLimit(viewMemory)
	}
	page, err := view.New(a.lab)
	if err != nil {
		return err
	}
	if _, err := a.lab.Store(); err != nil { // so that the first page need not wait for it
		return err
	}
	return a.serve(ctx, page, port)
}

// viewMemory is above how many bytes the server of the page collects garbage at every step.
const viewMemory = 250 << 20

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
