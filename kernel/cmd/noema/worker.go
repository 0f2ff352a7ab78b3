package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"noema/kernel/lab"
	"noema/kernel/model/provider"
	"noema/kernel/run/cluster"
	"noema/kernel/show/report"
)

func workerCommand(a *app) *cobra.Command {
	var o cluster.WorkerOptions
	var serve []string
	cmd := &cobra.Command{
		Use: "worker", Short: "take part in the runs of another machine",
		Long: `Joins the machine on which a run is started with --listen or --nats, runs trials of
its methods, and asks it for every model and tool call. A worker has no keys and no
store. It must be the same build of noema; code of plugins comes from the other
machine. The secret ` + lab.JoinTokenVariable + ` must be set as the other machine prints it.

With --serve, it also answers the calls of a local model that it has, for a run that
names the model in the same way. --slots 0 then serves the model alone.

It ends when there is no more work, with --stay at Ctrl-C or after --wait.`,
		Example: `  noema worker --join nats://127.0.0.1:4222
  noema worker --join tls://10.0.0.1:4222 --serve local/smollm2-135m
  noema worker list`,
	}
	cmd.Flags().StringVar(&o.Join, "join", "", "address that the other machine prints, as in tls://HOST:PORT")
	cmd.Flags().IntVar(&o.Slots, "slots", 16, "trials at once")
	cmd.Flags().StringArrayVar(&serve, "serve", nil, "local model that this worker answers for, as in local/NAME; repeatable")
	cmd.Flags().DurationVar(&o.Wait, "wait", 0, "how long to wait for a run before ending with an error, as in 10m (default: forever)")
	cmd.Flags().BoolVar(&o.Stay, "stay", false, "when there is no more work, wait for the next run")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return a.worker(cmd.Context(), o, serve) }
	cmd.AddCommand(workerListCommand(a))
	return cmd
}

func (a *app) worker(ctx context.Context, o cluster.WorkerOptions, serve []string) error {
	if o.Join == "" {
		return usage(errors.New("join: no address: give --join with the address that the other machine prints"))
	}
	o.Token = cluster.Token(os.Getenv(lab.JoinTokenVariable))
	if o.Token == "" {
		return usage(fmt.Errorf("join: %s is not set: set it as the other machine prints it", lab.JoinTokenVariable))
	}
	if err := o.Token.Check(); err != nil {
		return usage(fmt.Errorf("%s: %w", lab.JoinTokenVariable, err))
	}
	if o.Slots < 0 || o.Slots == 0 && len(serve) == 0 {
		return usage(fmt.Errorf("--slots %d: use at least 1, or 0 with --serve", o.Slots))
	}
	if o.Wait < 0 {
		return usage(fmt.Errorf("--wait %v: give a time above 0, or leave it out", o.Wait))
	}
	o.Serves = map[string]provider.Provider{}
	for _, name := range serve {
		p, err := a.lab.ServedModel(name)
		if err != nil {
			return err
		}
		o.Serves[name] = p
	}
	o.Open, o.Tell = a.lab.OpenCode, func(text string) { fmt.Fprintln(report.Guarded(a.stderr), text) }
	return cluster.Work(ctx, o)
}

func workerListCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Short: "show the workers of the run that is under way here", Example: "  noema worker list",
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			s, ok := a.lab.Crew()
			if !ok {
				return errors.New("list workers: no run with --listen or --nats is under way in this home")
			}
			if asJSON {
				return json.NewEncoder(a.clean()).Encode(s)
			}
			return a.printCrew(s)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// crewLine says in a line what a coordinator is doing.
func crewLine(s cluster.State) string {
	return fmt.Sprintf("%s: %d trials in the queue, %d run, %d are done, %.1f/s; %d workers lost, %d foreign messages refused",
		s.Address, s.Queued, s.Running, s.Done, s.Rate, s.Lost, s.Foreign)
}

func (a *app) printCrew(s cluster.State) error {
	out := a.text()
	fmt.Fprintln(out, crewLine(s))
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "worker\tplatform\tjoined\tat once\trunning\tdone\tserves\tcannot run")
	for _, m := range s.Workers {
		var cannot []string
		for _, method := range slices.Sorted(maps.Keys(m.Cannot)) {
			cannot = append(cannot, method+": "+m.Cannot[method])
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\t%d\t%s\t%s\n", m.Name, m.Platform, m.Since.Format(time.TimeOnly), m.Slots, m.Running, m.Done,
			strings.Join(m.Serves, ", "), strings.Join(cannot, "; "))
	}
	return w.Flush()
}
