package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"noema/kernel/show/report"
)

func versionCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "version", Short: "print the version of noema, its commit and the Go version", Example: "  noema version",
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			v := build()
			if v.Home = a.home; asJSON {
				return report.JSON(a.stdout, v)
			}
			_, err := fmt.Fprintln(a.stdout, versionLine())
			return err
		},
	}
	addJSON(cmd, &asJSON)
	return cmd
}

// addJSON declares --json of a verb that lists.
func addJSON(cmd *cobra.Command, to *bool) { cmd.Flags().BoolVar(to, "json", false, "print JSON") }

// versionLine names the build: the module's version, the commit as far as the
// build knows it, and what it was built with and for.
func versionLine() string {
	v := build()
	commit := "unknown commit"
	if v.Commit != "" {
		commit = "commit " + v.Commit
	}
	if v.Changed {
		commit += " with changes"
	}
	return fmt.Sprintf("noema %s, %s, %s %s", v.Version, commit, v.Go, v.Platform)
}

func build() versionJSON {
	v := versionJSON{Version: "unknown version", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		if info.Main.Version != "" {
			v.Version = info.Main.Version
		}
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision":
				v.Commit = s.Value
			case s.Key == "vcs.modified" && s.Value == "true":
				v.Changed = true
			}
		}
	}
	return v
}
