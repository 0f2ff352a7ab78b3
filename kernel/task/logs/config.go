package logs

import (
	"bytes"
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"noema/kernel/base/files"
	"noema/kernel/task/internal/words"
	"noema/methods"
	"noema/methods/workflow"
)

// Columns of a log whose configuration names none.
const (
	defaultSeverity = "severity"
	defaultTime     = "time"
)

//go:embed docsis.yaml
var docsis []byte

// Config says how a log is read and what is known of its domain.
type Config struct {
	workflow.Domain `yaml:",inline"`

	File     string `yaml:"file"`     // as seen from the configuration's folder
	Format   string `yaml:"format"`   // csv, jsonl, text+jsonl or text; default by the file's name
	Pattern  string `yaml:"pattern"`  // of text: a regular expression whose named groups are the columns
	Severity string `yaml:"severity"` // column, or a path into the JSON of one, such as details.level; default severity
	Time     string `yaml:"time"`     // the same; default time
	Year     int    `yaml:"year"`     // of times that have none, as in syslog

	Queries []Query `yaml:"queries"`
}

// Query is a question about a log with its right answer.
type Query struct {
	ID     string `yaml:"id"`
	Query  string `yaml:"query"`
	Group  string `yaml:"group"`
	Target any    `yaml:"target"` // a number, a text, or a list of texts; may be missing
	Answer string `yaml:"answer"` // without a target: what is asked for; default text
}

// Domain is what is known of cable network logs, the domain of the generated
// task.
func Domain() workflow.Domain {
	return methods.Must(parseConfig("docsis.yaml", docsis)).Domain // it is part of the program, and tested
}

// ReadConfig reads a configuration. Workflows, entities and severities that it
// leaves out are those of the generated task.
func ReadConfig(path string) (Config, error) {
	raw, err := files.Read(path, files.MaxConfig)
	if err != nil {
		return Config{}, fmt.Errorf("read log configuration: %w", err)
	}
	c, err := parseConfig(path, raw)
	if err != nil {
		return c, err
	}
	known := Domain()
	if len(c.Workflows) == 0 {
		c.Workflows, c.Fallback = known.Workflows, known.Fallback
	}
	if len(c.Severities) == 0 {
		c.Severities = known.Severities
	}
	c.Fallback = cmp.Or(c.Fallback, known.Fallback)
	if c.File == "" {
		return c, fmt.Errorf("read log configuration %s: no file: add a line such as file: records.csv", path)
	}
	if !filepath.IsLocal(c.File) {
		// A folder from elsewhere must not have any file of the user's read and
		// sent to a model.
		return c, fmt.Errorf("read log configuration %s: file %q is outside of the folder: move the log there, or link to it from there", path, c.File)
	}
	c.File = filepath.Join(filepath.Dir(path), c.File)
	return c, c.check(path)
}

func parseConfig(path string, raw []byte) (Config, error) {
	var c Config
	err := files.YAML(raw, &c, yaml.Strict())
	var kind *yaml.TypeError
	var node *yaml.UnexpectedNodeTypeError
	switch {
	case errors.As(err, &kind):
		return c, fmt.Errorf("read log configuration %s:%d: want %s, not %s", path, kind.Token.Position.Line, words.Form(kind.DstType), words.Form(kind.SrcType))
	case errors.As(err, &node):
		return c, fmt.Errorf("read log configuration %s:%d: want %s", path, node.Token.Position.Line, strings.NewReplacer("sequence", "a list", "mapping", "keys with values", "string", "a text").Replace(node.Expected.YAMLName()))
	case err != nil && !errors.Is(err, io.EOF):
		return c, fmt.Errorf("read log configuration %s: %w", path, err)
	}
	c.Severity = cmp.Or(c.Severity, defaultSeverity)
	c.Time = cmp.Or(c.Time, defaultTime)
	return c, nil
}

// check lists all that is wrong with a configuration.
func (c Config) check(path string) error {
	faults := c.Faults(Tools())
	if !slices.Contains([]string{"", "csv", "jsonl", "text+jsonl", "text"}, c.Format) {
		faults = append(faults, fmt.Sprintf("format: %q is not one of csv, jsonl, text+jsonl, text", c.Format))
	}
	if c.format() == "text" && c.Pattern == "" {
		faults = append(faults, "pattern: a log of format text needs one, with named groups such as (?P<severity>[A-Z]+); if its lines end with JSON objects, write format: text+jsonl")
	}
	if _, err := regexp.Compile(c.Pattern); err != nil {
		faults = append(faults, fmt.Sprintf("pattern: %v", err))
	}
	if len(faults) > 0 {
		return fmt.Errorf("the log configuration %s has faults, %d in all:\n  %s", path, len(faults), strings.Join(faults, "\n  "))
	}
	return nil
}

// format is that of the file, if it is not given.
func (c Config) format() string {
	if c.Format != "" {
		return c.Format
	}
	name := c.File
	for _, packing := range []string{".gz", ".zst", ".bz2", ".xz"} {
		name = strings.TrimSuffix(name, packing)
	}
	switch filepath.Ext(name) {
	case ".csv":
		return "csv"
	case ".jsonl", ".ndjson":
		return "jsonl"
	}
	return "text"
}

// Log is a log that tools read. It is read anew at every call, in a stream, so
// that its size does not matter.
type Log struct {
	config  Config
	open    func() (io.ReadCloser, error)
	pattern *regexp.Regexp
}

// OpenLog returns the log of a configuration.
func OpenLog(c Config) (*Log, error) {
	was, err := files.Check(c.File, files.MaxLog)
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	pattern, err := regexp.Compile(c.Pattern)
	if err != nil {
		return nil, fmt.Errorf("open log: pattern: %w", err)
	}
	return &Log{config: c, pattern: pattern, open: file{c.File, was}.open}, nil
}

// memoryLog is a log in memory, as CSV.
func memoryLog(content []byte) *Log {
	c := Config{Domain: Domain(), Format: "csv", Severity: defaultSeverity, Time: defaultTime}
	return &Log{config: c, open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }}
}

func (l *Log) newFormat() format {
	switch l.config.format() {
	case "csv":
		return &csvFormat{}
	case "jsonl":
		return jsonFormat{}
	case "text+jsonl":
		return jsonFormat{before: true}
	}
	return newTextFormat(l.pattern)
}
