package plugins

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"noema/kernel/base/files"
	"noema/methods"
)

// Program is what a manifest says of a program that is a method as it is: how it gets the
// problem and gives its answer. A manifest that names one of both makes the folder such a
// program; what it starts then need not know noema. See package plugins/program.
type Program struct {
	Problem string `yaml:"problem"` // how it gets the question: stdin (the default), argv, env or file
	// Answer is where its answer is: last-line of its output (the default), stdout for
	// all of it, file for answer.txt in its folder, json:FIELD of its last line, or
	// pattern:REGEX, whose first group counts, in its last match.
	Answer string `yaml:"answer"`
	// Models are which of the experiment's models the names that the program uses mean; all
	// others mean its first. See [methods.Request.By].
	Models  map[string]string `yaml:"models"`
	Env     map[string]string `yaml:"env"`     // further variables
	Timeout time.Duration     `yaml:"timeout"` // of one trial; 0 for none beside the run's
	// Noise are patterns of what differs between equal executions, such as a date in a
	// prompt: keys have "noise-1" in the place of the first, and so on.
	Noise []string `yaml:"noise"`
	// Solve is a function of the Python file that the command names. It is called with the
	// question, or by "problem: file" with the whole problem, and returns the answer. The file
	// is loaded once, and each trial has a copy of the process as it was then.
	Solve string     `yaml:"solve"`
	Setup [][]string `yaml:"setup"` // commands that "noema plugin build" runs in the folder, such as [pip, install, …]
	Clock string     `yaml:"clock"` // a moment such as 2026-01-01T00:00:00Z, at which the clock of Python and Node begins
}

// ProgramVerb is the argument with which a program starts itself to serve the [Program] whose
// manifest is in its working directory.
const ProgramVerb = "serve-program"

// The ways of a problem into a program.
const (
	ByStdin = "stdin" // on standard input
	ByArgv  = "argv"  // as the last argument
	ByEnv   = "env"   // in the variable NOEMA_QUESTION
	ByFile  = "file"  // in problem.json in its folder, whose name is the last argument
)

// The ways of an answer out of a program; the last two with what follows.
const (
	LastLine  = "last-line"
	AllOutput = "stdout"
	InFile    = "file"
	InJSON    = "json:"
	ByPattern = "pattern:"
)

// Check refuses what a manifest cannot mean.
func (p Program) Check() error {
	ways := []string{ByStdin, ByArgv, ByEnv, ByFile}
	if !slices.Contains(ways, p.Problem) {
		return fmt.Errorf("problem: %q: use %s%s", p.Problem, strings.Join(ways, ", "), methods.DidYouMean(p.Problem, ways))
	}
	pattern, byPattern := strings.CutPrefix(p.Answer, ByPattern)
	switch {
	case slices.Contains([]string{LastLine, AllOutput, InFile}, p.Answer), strings.HasPrefix(p.Answer, InJSON) && len(p.Answer) > len(InJSON):
	case byPattern:
		if _, err := regexp.Compile(pattern); err != nil {
			return fmt.Errorf("answer: %w", err)
		}
	default:
		return fmt.Errorf("answer: %q: use last-line, stdout, file, json:FIELD or pattern:REGEX", p.Answer)
	}
	for _, pattern := range p.Noise {
		if re, err := regexp.Compile(pattern); err != nil || re.MatchString("") {
			return fmt.Errorf("noise: %q is not a pattern of at least one character", pattern)
		}
	}
	if _, err := p.Start(); err != nil {
		return err
	}
	if p.Solve != "" && (!function.MatchString(p.Solve) || p.Problem != ByStdin && p.Problem != ByFile) {
		return fmt.Errorf("solve: %q: write the name of a function, with problem: stdin for the question or file for the whole problem", p.Solve)
	}
	if p.Timeout < 0 {
		return fmt.Errorf("timeout: %v: write a time such as 90s", p.Timeout)
	}
	return nil
}

// function is a name of Python.
var function = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// Start is the moment at which the program's clock begins; zero means the real time.
func (p Program) Start() (time.Time, error) {
	if p.Clock == "" {
		return time.Time{}, nil
	}
	at, err := time.Parse(time.RFC3339, p.Clock)
	if err != nil {
		return at, fmt.Errorf("clock: %q: write a moment such as 2026-01-01T00:00:00Z", p.Clock)
	}
	return at, nil
}

// program makes s the source of the program that a manifest describes, if it describes one:
// this program starts it, once a trial, and serves it as a method.
func (s *Source) program(m manifest) error {
	p := m.Program
	if p.Problem == "" && p.Answer == "" && p.Solve == "" {
		return nil
	}
	if p.Solve != "" {
		p.Answer = cmp.Or(p.Answer, AllOutput)
		if !slices.ContainsFunc(m.Command[1:], func(word string) bool { return filepath.Ext(word) == ".py" }) {
			return fmt.Errorf("solve: %q is a function of the file that the command names, as in command: [python3, agent.py]", p.Solve)
		}
	}
	p.Problem, p.Answer = cmp.Or(p.Problem, ByStdin), cmp.Or(p.Answer, LastLine)
	if err := p.Check(); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find own executable: %w", err)
	}
	s.Starts, s.Command, s.Program, s.Serial = s.Command, []string{self, ProgramVerb}, &p, true
	return nil
}

// programsAtOnce is how many processes of one program may run at once: each waits for its
// model most of the time.
const programsAtOnce = 16

// ExecPrefix begins a method that is a command, as in "exec:python agent.py".
const ExecPrefix = "exec:"

// Exec returns the program that a command line starts, as a folder with a manifest below
// keep: a copy of the code in the folder of the first file that the command names, see [Choose],
// and the command. The same command gives the same folder again, with what its files are now.
func Exec(keep, line string, withheld *Withheld) (Source, error) {
	command, err := words(line)
	if err != nil {
		return Source{}, fmt.Errorf("read the command %q: %w", line, err)
	}
	env := assignments(&command)
	if len(command) == 0 {
		return Source{}, fmt.Errorf("read the command %q: it names no program", line)
	}
	from, name := "", filepath.Base(command[0])
	if i := fileOf(command); i >= 0 {
		word := command[i]
		if from, err = filepath.Abs(filepath.Dir(word)); err != nil {
			return Source{}, err
		}
		command[i] = filepath.Base(word)
		if i == 0 {
			command[i] = "." + string(filepath.Separator) + command[i]
		}
		name = strings.ReplaceAll(strings.TrimSuffix(filepath.Base(word), filepath.Ext(word)), "_", "-")
	}
	code := Source{Dir: from, Path: from, Command: command}
	if from != "" {
		if _, err = os.Stat(filepath.Join(from, ManifestName)); err == nil {
			return Source{}, fmt.Errorf("take the program of %q: the folder has a %s: name the folder instead: %s", line, ManifestName, files.Word(from))
		}
		if code, err = Choose(code, withheld); err != nil {
			return Source{}, fmt.Errorf("take the program of %q: %w", line, err)
		}
	}
	raw, err := manifestOf(name, command, env)
	if err != nil {
		return Source{}, err
	}
	dir := filepath.Join(keep, fmt.Sprintf("%.16x", sha256.Sum256([]byte(from+"\x00"+line))))
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o700)); err != nil {
		return Source{}, err
	}
	if from != "" {
		if err := copyCode(code, dir); err != nil {
			return Source{}, fmt.Errorf("take the program of %q: %w", line, err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, ManifestName), raw, 0o600); err != nil {
		return Source{}, err
	}
	src, err := At(dir)
	src.Left, src.copied = code.Left, code.copied
	return src, err
}

// manifestOf is the manifest of a program that gets and gives what most do. The variable
// NOEMA_CLOCK is its clock.
func manifestOf(name string, command []string, env map[string]string) ([]byte, error) {
	all := map[string]any{"name": name, "command": command, "problem": ByStdin, "answer": LastLine}
	if clock := env[ClockVariable]; clock != "" {
		all["clock"] = clock
	}
	delete(env, ClockVariable)
	if len(env) > 0 {
		all["env"] = env
	}
	return yaml.Marshal(all)
}

// ClockVariable before a command is its [Program.Clock].
const ClockVariable = "NOEMA_CLOCK"

// assignments takes the variables off the beginning of a command, as a shell reads them:
// NAME=VALUE python agent.py.
func assignments(command *[]string) map[string]string {
	env := map[string]string{}
	for len(*command) > 0 {
		name, value, ok := strings.Cut((*command)[0], "=")
		if !ok || !function.MatchString(name) {
			break
		}
		env[name], *command = value, (*command)[1:]
	}
	return env
}

// Promote makes the folder of a plugin from a command line, as [Exec] does, for people to edit. The
// plugin has the folder's name.
func Promote(line, dir string) error {
	keep, err := os.MkdirTemp("", "noema-promote-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(keep)
	src, err := Exec(keep, line, nil)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := copyCode(src, dir); err != nil {
		return fmt.Errorf("promote %q: %w", line, err)
	}
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error { // copies are not to be written to
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			err = os.Chmod(path, info.Mode().Perm()|0o600)
		}
		return err
	})
	if err != nil {
		return err
	}
	env := map[string]string{ClockVariable: src.Program.Clock}
	maps.Copy(env, src.Program.Env)
	raw, err := manifestOf(filepath.Base(dir), src.Starts, env)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, ManifestName), raw, 0o600)
}

// fileOf is which word of a command is the program's own file: the first argument that is a
// file, or else the command itself where it is named by a relative path; -1 if none is.
func fileOf(command []string) int {
	regular := func(word string) bool {
		info, err := os.Stat(word)
		return err == nil && info.Mode().IsRegular()
	}
	if i := slices.IndexFunc(command[1:], regular); i >= 0 {
		return i + 1
	}
	if strings.ContainsRune(command[0], filepath.Separator) && !filepath.IsAbs(command[0]) && regular(command[0]) {
		return 0
	}
	return -1
}

// words splits a command line at spaces, as a shell does: what is in quotes or behind a
// backslash belongs to a word.
func words(line string) (all []string, err error) {
	var word strings.Builder
	quote, inWord, escaped := rune(0), false, false
	for _, c := range line {
		switch {
		case escaped:
			word.WriteRune(c)
			escaped = false
		case c == '\\' && quote != '\'':
			escaped, inWord = true, true
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote, inWord = c, true
		case quote == 0 && (c == ' ' || c == '\t' || c == '\n'):
			if inWord {
				all = append(all, word.String())
				word.Reset()
				inWord = false
			}
		default:
			word.WriteRune(c)
			inWord = true
		}
	}
	if inWord {
		all = append(all, word.String())
	}
	switch {
	case quote != 0 || escaped:
		return nil, errors.New("a quote is not closed")
	case len(all) == 0 || all[0] == "":
		return nil, errors.New("it names no program")
	}
	return all, nil
}
