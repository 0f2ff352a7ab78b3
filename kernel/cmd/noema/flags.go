package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"noema/kernel/base/files"
	"noema/methods"
)

// flagValue is a declared option as a flag. A list that is given replaces the
// default, and grows when it is given again.
type flagValue struct {
	methods.Field
	given bool
	text  string         // the last that was given
	more  *methods.Field // takes what is given again; nil for an option that is given once
}

var _ pflag.Value = (*flagValue)(nil)

// String implements [pflag.Value]: the default, for help.
func (v *flagValue) String() string { return v.Default }

// Set implements [pflag.Value].
func (v *flagValue) Set(text string) error {
	if text == "" {
		return errors.New("the value is empty: leave the flag out for the default")
	}
	single := v.Option.Type != methods.MapOption && v.Option.Type != methods.ListOption
	if v.given && v.more != nil {
		return v.more.Set(quoted(text))
	}
	if v.given && single && v.text != text {
		return fmt.Errorf("it is given twice, and was %q before: leave one of them out", v.text)
	}
	if !v.given && v.Option.Type != methods.MapOption {
		v.Clear()
	}
	v.given, v.text = true, text
	return setField(v.Field, text)
}

// Type implements [pflag.Value]: how help writes the value.
func (v *flagValue) Type() string {
	if v.Option.Type == methods.MapOption {
		return "key=value"
	}
	return string(v.Option.Type)
}

// setField sets a declared option from text. In key=@FILE the value is the
// content of the file.
func setField(f methods.Field, text string) error {
	if key, file, ok := strings.Cut(text, "=@"); ok && f.Type == methods.MapOption && !strings.Contains(key, "=") {
		raw, err := files.Read(file, files.MaxText)
		if err != nil {
			return err
		}
		text = key + "=" + string(raw)
	}
	return f.Set(text)
}

// taskOptions are the options of a task, for verbs that take a task and nothing
// else of an experiment.
type taskOptions struct {
	TaskOptions map[string]string `json:"task-options" flag:"task-option" short:"T" part:"what" doc:"option of the task, as in -T n=20"`
}

// flagName is the name of a declared option on the command line.
func flagName(f methods.Field) string {
	if name := f.Tag.Get("flag"); name != "" {
		return name
	}
	return f.Name
}

// partOf is the key of a flag's annotation that says which part of a
// declaration it belongs to.
const partOf = "part"

// bind declares the options of the struct behind a pointer as flags: those of
// the given parts, without the named ones.
func bind(cmd *cobra.Command, pointer any, parts []string, without ...string) {
	fields := methods.FieldsOf(pointer)
	for _, f := range fields {
		name, part := flagName(f), f.Tag.Get("part")
		if !slices.Contains(parts, part) || slices.Contains(without, name) {
			continue
		}
		flag := cmd.Flags().VarPF(&flagValue{Field: f, more: moreOf(fields, f)}, name, f.Tag.Get("short"), f.Doc)
		flag.Annotations = map[string][]string{partOf: {part}}
		flag.Hidden = f.Tag.Get("hidden") != "" // it has another form, and works as before
		if f.Type == methods.BoolOption {
			flag.NoOptDefVal = "true"
		}
		if len(f.Choices) > 0 {
			choices := cobra.FixedCompletions(f.Choices, cobra.ShellCompDirectiveNoFileComp)
			if err := cmd.RegisterFlagCompletionFunc(name, choices); err != nil {
				panic(err) // the flag is declared above
			}
		}
	}
}

// moreOf is the field of further values of a field that may be given several times; nil for
// any other.
func moreOf(fields []methods.Field, f methods.Field) *methods.Field {
	name := f.Tag.Get("more")
	i := slices.IndexFunc(fields, func(other methods.Field) bool { return other.Name == name })
	if name == "" || i < 0 {
		return nil
	}
	return &fields[i]
}

// shareOut leaves the first of a list to the field itself and gives the others to more.
func shareOut(more *methods.Field, value any) any {
	list, ok := value.([]any)
	if !ok || len(list) == 0 {
		return value
	}
	more.Clear()
	for _, item := range list[1:] {
		if err := more.Set(quoted(fmt.Sprint(item))); err != nil {
			return value // which says that it is a list
		}
	}
	return list[0]
}

// flagGroup is flags that help lists together: those of parts of a declaration, or named.
type flagGroup struct {
	title        string
	parts, names []string
}

// group has the help of a verb list its flags in groups. One that two groups have is in
// the first.
func group(cmd *cobra.Command, groups []flagGroup) {
	cmd.SetUsageFunc(func(cmd *cobra.Command) error {
		w := cmd.OutOrStderr()
		fmt.Fprintf(w, "Usage:\n  %s\n\nExamples:\n%s\n", cmd.UseLine(), cmd.Example)
		listed := map[string]bool{"help": true}
		for _, g := range groups {
			set := pflag.NewFlagSet(g.title, pflag.ContinueOnError)
			cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
				part := f.Annotations[partOf]
				if !listed[f.Name] && (slices.Contains(g.names, f.Name) || len(part) == 1 && slices.Contains(g.parts, part[0])) {
					listed[f.Name] = true
					set.AddFlag(f)
				}
			})
			fmt.Fprintf(w, "\n%s:\n%s", g.title, set.FlagUsages())
		}
		fmt.Fprintf(w, "\nGlobal flags:\n%s", cmd.InheritedFlags().FlagUsages())
		return nil
	})
}

// onlyParts refuses flags on the command line that have no effect: those of
// other parts than the given ones. Settings from the environment and from files
// are for all verbs, and are passed over.
func (a *app) onlyParts(cmd *cobra.Command, when string, parts ...string) error {
	var faults []error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		part := f.Annotations[partOf]
		if len(part) == 1 && a.source[f.Name] == fromCommandLine && !slices.Contains(parts, part[0]) {
			faults = append(faults, fmt.Errorf("--%s has no effect %s: leave it out", f.Name, when))
		}
	})
	return usage(errors.Join(faults...))
}
