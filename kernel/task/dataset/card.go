package dataset

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"noema/kernel/base/files"
	"noema/kernel/base/hub"
)

// config is a subset of a repository; its name is default where there is but one.
type config struct {
	name      string
	first     bool // the one that is meant where none is named
	separator string
	splits    []split
}

type split struct {
	name  string
	files []hub.File
}

// card is what a data set's README.md says of its files, in the YAML at its top.
//
// Source: huggingface.co/docs/hub/datasets-manual-configuration.
type card struct {
	Configs []struct {
		Name      string `yaml:"config_name"`
		Default   bool   `yaml:"default"`
		Files     any    `yaml:"data_files"` // a pattern, a list of them, or of splits with their patterns
		Dir       string `yaml:"data_dir"`
		Sep       string `yaml:"sep"`
		Delimiter string `yaml:"delimiter"`
	} `yaml:"configs"`
}

// configsOf are the configs of a repository, by its card or else by the names of its
// files.
func configsOf(all []hub.File, readme []byte) ([]config, error) {
	var c card
	head, ok := bytes.CutPrefix(bytes.ReplaceAll(readme, []byte("\r\n"), []byte("\n")), []byte("---\n"))
	if end := bytes.Index(head, []byte("\n---")); ok && end >= 0 {
		if err := files.YAML(head[:end+1], &c); err != nil {
			return nil, fmt.Errorf("%s: the YAML at its top: %w", cardName, err)
		}
	}
	rows := &matcher{left: maxMatches}
	rows.all = slices.DeleteFunc(slices.Clone(all), func(f hub.File) bool { return formatOf(f.Path) == "" })
	var configs []config
	for _, of := range c.Configs {
		made := config{name: of.Name, first: of.Default, separator: separatorOf(of.Sep + of.Delimiter)}
		var err error
		if of.Files == nil {
			inside := slices.Clone(all)
			if of.Dir != "" {
				inside = slices.DeleteFunc(inside, func(f hub.File) bool { return !strings.HasPrefix(f.Path, path.Clean(of.Dir)+"/") })
			}
			made.splits = named(inside)
		} else if made.splits, err = rows.listed(of.Dir, of.Files); err != nil {
			return nil, fmt.Errorf("%s: config %q: %w", cardName, of.Name, err)
		}
		if len(made.splits) > 0 {
			configs = append(configs, made)
		}
	}
	if configs == nil {
		configs = conventional(all)
	}
	if configs == nil {
		return nil, misnamed("it has no rows in .parquet, .jsonl, .json, .csv or .tsv at this revision: the hub's own copy in Parquet may be at @refs/convert/parquet")
	}
	return configs, nil
}

func separatorOf(sign string) string {
	return map[string]string{",": "comma", "\t": "tab", ";": "semicolon", "|": "pipe"}[sign]
}

// matcher finds files by patterns. A card may have many patterns and a repository many
// files: what a search may cost is bounded.
type matcher struct {
	all  []hub.File // of rows
	left int        // comparisons that may be made still
}

// maxMatches is a second or two of comparisons.
const maxMatches = 5_000_000

// listed are the splits of data_files.
func (m *matcher) listed(dir string, value any) (splits []split, err error) {
	add := func(name string, value any) error {
		found, err := m.matching(dir, value)
		if err == nil && len(found) > 0 {
			splits = append(splits, split{name, found})
		}
		return err
	}
	list, ok := value.([]any)
	if !ok {
		list = []any{value}
	}
	var loose []any // patterns without a split are of train
	for _, item := range list {
		fields, ok := item.(map[string]any)
		if !ok {
			loose = append(loose, item)
			continue
		}
		name, ok := fields["split"].(string)
		if !ok || fields["path"] == nil {
			return nil, fmt.Errorf("data_files: want a split and a path, not %.80v", item)
		}
		if err := add(name, fields["path"]); err != nil {
			return nil, err
		}
	}
	if loose != nil {
		err = add("train", loose)
	}
	return splits, err
}

// matching are the files that a pattern or a list of patterns means: of each pattern
// by name, a file once.
func (m *matcher) matching(dir string, value any) (found []hub.File, err error) {
	list, ok := value.([]any)
	if !ok {
		list = []any{value}
	}
	for _, item := range list {
		text, ok := item.(string)
		if !ok || strings.Contains(text, "://") || len(text) > 1000 {
			return nil, fmt.Errorf("data_files: %.80q is not a path in the repository", fmt.Sprint(item))
		}
		re, err := glob(path.Join(dir, text))
		if err != nil {
			return nil, err
		}
		if m.left -= len(m.all); m.left < 0 {
			return nil, fmt.Errorf("data_files: too many patterns for %d files: at most %d paths are compared", len(m.all), maxMatches)
		}
		seen := map[string]bool{}
		for _, f := range found {
			seen[f.Path] = true
		}
		var some []hub.File
		for _, f := range m.all {
			if re.MatchString(f.Path) && !seen[f.Path] {
				some = append(some, f)
			}
		}
		found = append(found, byPath(some)...)
	}
	return found, nil
}

// glob reads a pattern: * and ? are within a folder, ** is over folders, [0-9] a class.
func glob(pattern string) (*regexp.Regexp, error) {
	quoted := regexp.QuoteMeta(pattern)
	for _, r := range [][2]string{{`\*\*/`, `(?:.*/)?`}, {`\*\*`, `.*`}, {`\*`, `[^/]*`}, {`\?`, `[^/]`}, {`\[`, `[`}, {`\]`, `]`}} {
		quoted = strings.ReplaceAll(quoted, r[0], r[1])
	}
	re, err := regexp.Compile("^" + quoted + "$")
	if err != nil {
		return nil, fmt.Errorf("data_files: %q is not a pattern of paths", pattern)
	}
	return re, nil
}

func byPath(files []hub.File) []hub.File {
	slices.SortFunc(files, func(a, b hub.File) int { return strings.Compare(a.Path, b.Path) })
	return files
}
