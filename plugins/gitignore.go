package plugins

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"noema/kernel/base/files"
)

// ignored is what git ignores below a folder, by the files .gitignore there and above, up to the
// top of the repository, and by its own list of exclusions. It never starts git, which does what
// the settings of a repository say.
type ignored struct {
	rules map[string][]ignoreRule // of each folder, in their order
}

type ignoreRule struct {
	pattern       *regexp.Regexp // of a path below the folder, with slashes
	again, folder bool           // it takes back what others ignore; it is of folders alone
}

// load reads the rules of a folder, and of those above it up to the top of the repository.
func (g *ignored) load(dir string) {
	if g.rules == nil {
		g.rules = map[string][]ignoreRule{}
	}
	if _, known := g.rules[dir]; known {
		return
	}
	g.rules[dir] = nil
	if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
		g.rules[dir] = readIgnore(filepath.Join(dir, ".git", "info", "exclude"))
	} else if top := filepath.Dir(dir); top != dir && inRepository(top) {
		g.load(top)
	}
	g.rules[dir] = append(g.rules[dir], readIgnore(filepath.Join(dir, ".gitignore"))...)
}

func inRepository(dir string) bool {
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return true
		}
		if dir == filepath.Dir(dir) {
			return false
		}
		dir = filepath.Dir(dir)
	}
}

// has reports whether git ignores a path, whose own folder it does not ignore: the last rule
// that fits decides, and those of deeper folders come last.
func (g *ignored) has(path string, folder bool) bool {
	dir := filepath.Dir(path)
	g.load(dir)
	for at := dir; ; at = filepath.Dir(at) {
		below, err := filepath.Rel(at, path)
		if err != nil {
			return false
		}
		rules := g.rules[at]
		for i := len(rules) - 1; i >= 0; i-- {
			if r := rules[i]; (folder || !r.folder) && r.pattern.MatchString(filepath.ToSlash(below)) {
				return !r.again
			}
		}
		if _, known := g.rules[filepath.Dir(at)]; !known || at == filepath.Dir(at) {
			return false
		}
	}
}

// readIgnore reads the rules of a file; those that git does not understand have no effect either.
func readIgnore(file string) (rules []ignoreRule) {
	raw, err := files.Read(file, files.MaxConfig)
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimRight(line, "\r\n")
		for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
			line = line[:len(line)-1]
		}
		if line == "" || line[0] == '#' {
			continue
		}
		var r ignoreRule
		line, r.again = strings.CutPrefix(line, "!")
		line, r.folder = strings.CutSuffix(line, "/")
		if r.pattern, err = regexp.Compile(ignorePattern(line)); err == nil && line != "" {
			rules = append(rules, r)
		}
	}
	return rules
}

// ignorePattern is the expression of a pattern of git.
func ignorePattern(glob string) string {
	var b strings.Builder
	b.WriteString("(?s)^")
	if !strings.Contains(glob, "/") {
		b.WriteString("(?:.*/)?")
	}
	glob = strings.TrimPrefix(glob, "/")
	for i := 0; i < len(glob); i++ {
		rest, start := glob[i:], i == 0 || glob[i-1] == '/'
		switch {
		case start && strings.HasPrefix(rest, "**/"):
			b.WriteString("(?:.*/)?")
			i += 2
		case start && rest == "**":
			b.WriteString(".+")
			i++
		case rest[0] == '*':
			b.WriteString("[^/]*")
		case rest[0] == '?':
			b.WriteString("[^/]")
		case rest[0] == '[' && len(rest) > 2 && strings.Contains(rest[2:], "]"):
			end := 2 + strings.Index(rest[2:], "]")
			set := strings.Replace(rest[1:end], "!", "^", 1)
			b.WriteString("[" + strings.ReplaceAll(set, "[", `\[`) + "]")
			i += end
		case rest[0] == '\\' && len(rest) > 1:
			b.WriteString(regexp.QuoteMeta(rest[1:2]))
			i++
		default:
			b.WriteString(regexp.QuoteMeta(rest[:1]))
		}
	}
	return b.String() + "$"
}
