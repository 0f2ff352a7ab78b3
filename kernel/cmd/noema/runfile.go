package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/spf13/cobra"

	"noema/kernel/base/files"
	"noema/kernel/lab"
	"noema/methods"
)

func runCommand(a *app) *cobra.Command {
	var c comparison
	var update bool
	var memory *byteSize
	var engine *engineName
	cmd := &cobra.Command{
		Use:   "run FILE.yaml... | FILE.go [ARGUMENT...] | FILE.ipynb",
		Short: "run experiments that files declare, a script or a notebook",
		Long: `Runs a script, a Go file of package main, in a session of cells: the same file
also runs with "go run". Its arguments follow its name, after -- if they begin
with a dash. The exit code is the script's own.

Or runs a notebook from the top in a fresh session, and fails if a cell shows
something else than what is saved in it; --update saves what they show now.

Or runs the comparisons that YAML files declare, one after the other. Their keys are
the flags of compare, with task-options, method-options and sampling as maps; "noema
schema experiment" prints them all for an editor. Flags and the environment win over
the file. Given again after an interruption, finished runs are repeated from the
store, and the unfinished one goes on.`,
		Example: `  noema run experiments/first-comparison/main.go
  noema run experiments/first-comparison/notebook.ipynb
  noema run experiments/cafes/experiment.yaml
  noema run experiments/grid/*.yaml`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if strings.HasSuffix(args[0], ".ipynb") {
				if err := errors.Join(a.onlyParts(cmd, "on a notebook"), usage(cobra.ExactArgs(1)(cmd, args))); err != nil {
					return err
				}
				return a.notebook(cmd.Context(), args[0], update, *memory, *engine)
			}
			if update {
				return usage(errors.New("--update saves what the cells of a notebook show: name a .ipynb file"))
			}
			if strings.HasSuffix(args[0], ".go") {
				if err := a.onlyParts(cmd, "on a script"); err != nil {
					return err
				}
				return a.script(cmd.Context(), args, *memory, *engine)
			}
			if a.source["memory"] == fromCommandLine {
				return usage(errors.New("--memory has no effect on an experiment file, which holds no Go: leave it out"))
			}
			if a.source["engine"] == fromCommandLine {
				return usage(errors.New("--engine has no effect on an experiment file, which holds no Go: leave it out"))
			}
			return a.runFiles(cmd, &c, args)
		},
	}
	bind(cmd, &c, []string{"what", "how", "flow", "pair", "design", "print", "json"}, "watch")
	cmd.Flags().BoolVar(&update, "update", false, "save what the cells of a notebook show")
	memory, engine = addMemory(cmd.Flags()), addEngine(cmd.Flags())
	return cmd
}

// runFiles runs the comparisons that files declare. All are read and checked
// before the first is run.
func (a *app) runFiles(cmd *cobra.Command, c *comparison, files []string) error {
	if c.HTML != "" && len(files) > 1 {
		return usage(fmt.Errorf("--html %s would be written by each of the %d files: run one, or compare the stored runs", c.HTML, len(files)))
	}
	all := make([]comparison, len(files))
	for i, file := range files {
		all[i] = *c
		if err := a.readFile(file, &all[i]); err != nil {
			return usage(err)
		}
		if err := a.ready(&all[i]); err != nil {
			return inFile(file, err)
		}
	}
	for i, file := range files {
		if i > 0 && !c.JSON {
			fmt.Fprintln(a.stdout)
		}
		if err := a.compare(cmd, &all[i]); err != nil {
			return inFile(file, err)
		}
	}
	return nil
}

// inFile names the file of what is wrong in it.
func inFile(file string, err error) error {
	var coded *codedError
	switch {
	case lab.IsMisuse(err):
		return lab.Misused(fmt.Errorf("experiment %s: %w", file, err))
	case errors.As(err, &coded) && coded.code == exitUsage:
		return usage(fmt.Errorf("experiment %s: %w", file, coded.err))
	}
	return err
}

// inFiles are the parts of a declaration that an experiment file may hold.
var inFiles = []string{"what", "how", "design"}

// readFile fills in what an experiment file says. Flags and the environment
// win over it.
func (a *app) readFile(path string, c *comparison) error {
	raw, err := files.Read(path, files.MaxConfig)
	if err != nil {
		return fmt.Errorf("read experiment: %w", err)
	}
	file, err := files.ParseYAML(bytes.TrimSpace(raw))
	if err != nil {
		return fmt.Errorf("read experiment %s: %w", path, err)
	}
	if len(file.Docs) > 1 {
		return fmt.Errorf("read experiment %s: it holds %d documents, separated by ---: write a file for each", path, len(file.Docs))
	}
	fields := methods.FieldsOf(c)
	var faults []error
	for _, doc := range file.Docs {
		pairs, err := pairsOf(doc.Body)
		if err != nil {
			return fmt.Errorf("read experiment %s: %w", path, err)
		}
		for _, pair := range pairs {
			if err := a.setKey(fields, pair); err != nil {
				faults = append(faults, fmt.Errorf("read experiment %s:%d: %w", path, pair.Key.GetToken().Position.Line, err))
			}
		}
	}
	if len(c.Methods) == 0 && len(faults) == 0 {
		faults = append(faults, fmt.Errorf("read experiment %s: no methods: add a line such as methods: [direct, anot]", path))
	}
	c.Task = seenFrom(path, c.Task)
	for i, task := range c.Tasks {
		c.Tasks[i] = seenFrom(path, task)
	}
	return errors.Join(faults...)
}

// seenFrom is a task whose relative file is named as an experiment file sees it.
func seenFrom(file, task string) string {
	if strings.HasPrefix(task, "./") || strings.HasPrefix(task, "../") {
		return filepath.Join(filepath.Dir(file), task)
	}
	return task
}

// pairsOf are the keys and values of a file. An empty file has none.
func pairsOf(body ast.Node) ([]*ast.MappingValueNode, error) {
	switch node := body.(type) {
	case nil:
		return nil, nil
	case *ast.MappingNode:
		return node.Values, nil
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{node}, nil
	}
	return nil, fmt.Errorf("line %d: it must hold keys and values, as in methods: [direct, anot]", body.GetToken().Position.Line)
}

// setKey sets the field that a key names.
func (a *app) setKey(fields []methods.Field, pair *ast.MappingValueNode) error {
	key := pair.Key.GetToken().Value
	var known []string
	for _, f := range fields {
		if !slices.Contains(inFiles, f.Tag.Get("part")) {
			continue
		}
		known = append(known, f.Name)
		if f.Name != key {
			continue
		}
		if from := a.source[flagName(f)]; from == fromCommandLine || from == fromEnvironment {
			return nil
		}
		var value any
		if err := yaml.NodeToValue(pair.Value, &value); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		if more := moreOf(fields, f); more != nil {
			value = shareOut(more, value)
		}
		if err := setValue(f, value); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		return nil
	}
	return fmt.Errorf("unknown key %q%s: the keys are %s", key, methods.DidYouMean(key, known), strings.Join(known, ", "))
}

// setValue sets a field from a YAML value.
func setValue(f methods.Field, value any) error {
	f.Clear()
	switch v := value.(type) {
	case nil:
		return nil
	case map[string]any:
		if f.Type != methods.MapOption {
			return fmt.Errorf("it must be a %s, not a map", f.Type)
		}
		for key, item := range v {
			if err := setField(f, fmt.Sprintf("%s=%v", key, item)); err != nil {
				return err
			}
		}
		return nil
	case []any:
		if f.Type != methods.ListOption {
			return fmt.Errorf("it must be a %s, not a list", f.Type)
		}
		for _, item := range v {
			if err := f.Set(quoted(fmt.Sprint(item))); err != nil {
				return err
			}
		}
		return nil
	}
	if f.Type == methods.MapOption {
		return errors.New("it must be a map, as in {n: 20}")
	}
	return f.Set(fmt.Sprint(value))
}

// quoted is one value of a list whose values are separated by commas.
func quoted(value string) string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	_ = w.Write([]string{value}) // a strings.Builder takes all
	w.Flush()
	return strings.TrimSuffix(b.String(), "\n")
}
