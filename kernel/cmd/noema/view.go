package main

import (
	"context"
	"fmt"
	"net"
	"strconv"

	"github.com/spf13/cobra"

	"noema/kernel/view"
)

func viewCommand(a *app) *cobra.Command {
	var port int
	cmd := &cobra.Command{
		Use:   "view",
		Short: "serve a web page of the runs, on this machine only",
		Long: `Serves a page with the list of runs, each run (live while it is running), comparisons
with plots, samples side by side, and every trial down to the single call. Only this
machine can reach it, with the token in the address that it prints.`,
		Example: `  noema view
  noema view --port 8080`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkPort(port); err != nil {
				return err
			}
			return a.view(cmd.Context(), port)
		},
	}
	cmd.Flags().IntVar(&port, "port", 0, "port to listen on (default: a free one)")
	return cmd
}

func checkPort(port int) error {
	if port < 0 || port > 65535 {
		return usage(fmt.Errorf("--port %d: use 0 to 65535", port))
	}
	return nil
}

func (a *app) view(ctx context.Context, port int) error {
	page, err := view.New(a.lab)
	if err != nil {
		return err
	}
	return a.serve(ctx, page, port)
}

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
