package builtin

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"noema/kernel"
	"noema/kernel/files"
	"noema/kernel/task"
	"noema/kernel/task/arithmetic"
	"noema/kernel/task/booking"
	"noema/kernel/task/cafes"
	"noema/kernel/task/logs"
	"noema/kernel/task/multihop"
	"noema/kernel/task/policy"
	"noema/kernel/task/wiki"
	"noema/methods"
)

// generatedTask is a task that needs no files.
type generatedTask struct {
	kernel.TaskEntry
	open func(map[string]string) (*task.Task, error)
}

// opener reads the options that O declares and opens a task with them; what it
// refuses is wrong usage.
func opener[O any](name string, open func(O) (*task.Task, error)) func(map[string]string) (*task.Task, error) {
	return func(given map[string]string) (*task.Task, error) {
		var o O
		if err := methods.ParseOptions(given, &o); err != nil {
			return nil, kernel.Misused(fmt.Errorf("task %q: %w", name, err))
		}
		return open(o)
	}
}

func generated[O any](name, summary string, open func(O) (*task.Task, error)) generatedTask {
	var o O
	return generatedTask{kernel.TaskEntry{Name: name, Summary: summary, Options: methods.OptionsOf(o)}, opener(name, open)}
}

// generatedTasks is the table of tasks that need no files.
func generatedTasks() []generatedTask {
	return []generatedTask{
		generated(cafes.Name, "find the one cafe that fits a request: ten groups of rising difficulty", cafes.New),
		generated(policy.Name, "judge restaurants by a policy over their reviews: six policies, three verdicts", policy.New),
		generated(arithmetic.Name, "solve word problems with tools: five levels, one to eight operations", arithmetic.New),
		generated(multihop.Name, "answer questions of two to four hops over a closed wiki, with tools or from full articles", multihop.New),
		generated(logs.Name, "answer questions about cable network logs with tools: six types of question", logs.New),
		generated(booking.Name, "book, pay and undo with tools that have effects: five groups, half of them end with nothing new", booking.New),
	}
}

// Tasks implements [kernel.Catalog].
func (Catalog) Tasks() []kernel.TaskEntry {
	var entries []kernel.TaskEntry
	for _, t := range generatedTasks() {
		entries = append(entries, t.TaskEntry)
	}
	return entries
}

// FileForms lists the files and folders that are tasks, for help and errors.
func FileForms() [][2]string {
	return [][2]string{
		{"FILE.jsonl", `one sample a line: {"id", "input", "target", "metadata"}; or GSM8K: {"question", "answer"}`},
		{"FILE.jsonl", "MuSiQue; and FILE.json, HotpotQA: questions of several hops with their paragraphs"},
		{"?corpus=DIR", "behind a file: tools that search a folder of HTML or Markdown, or a .jsonl of paragraphs; ?wikipedia=URL: a MediaWiki server"},
		{"FILE.csv", "Game of 24: a column Puzzles with the numbers of each"},
		{"FOLDER", "logs of your own: a logs.yaml with the file, the entities, and queries with their answers"},
		{"FOLDER", "the public ANoT format: restaurants.jsonl, reviews.jsonl, requests.jsonl, groundtruth.jsonl"},
		{"FOLDER", "the public policy format: dataset_K50.jsonl, NAME_K50_groundtruth.json and the policy as text"},
		{"?embeddings=local/DIR", "behind any task: an embedding model (BERT, MiniLM); tools that search do so by meaning, or with search=hybrid by words and meaning; other tasks get the tool similarity, which general-anot?filter=semantic needs"},
	}
}

// Task implements [kernel.Catalog]: a generated task by name, a file or a
// folder. Without a name it is the tools over the articles that the options name.
func (Catalog) Task(s kernel.Spec) (*task.Task, error) {
	if s.Name == "" { // articles alone, for questions of a user's own
		return openArticles(s)
	}
	var names []string
	for _, t := range generatedTasks() {
		if t.Name == s.Name {
			return t.open(s.Options)
		}
		names = append(names, t.Name)
	}
	info, err := os.Stat(s.Name)
	if err != nil {
		return nil, kernel.Misused(fmt.Errorf("unknown task %q%s: there is no file or folder of that name; the generated tasks are %s", s.Name, methods.DidYouMean(s.Name, names), strings.Join(names, ", ")))
	}
	if info.IsDir() {
		return openTaskFolder(s)
	}
	source, err := articles(s)
	if err != nil {
		return nil, err
	}
	t, err := openTaskFile(s.Name)
	if ext := strings.ToLower(filepath.Ext(s.Name)); err != nil && ext != ".jsonl" {
		err = fmt.Errorf("%w\n%s", err, formsOf("FILE")) // the format is a guess
	}
	return source.attach(t, err)
}

// openTaskFile tells the file formats apart by the end of the name and by the
// first line.
func openTaskFile(path string) (*task.Task, error) {
	switch {
	case filepath.Base(path) == logs.ConfigName:
		return logs.LoadDir(filepath.Dir(path))
	case strings.EqualFold(filepath.Ext(path), ".json"):
		return multihop.LoadHotpotQA(path)
	case firstLineHas(path, "paragraphs"):
		return multihop.LoadMuSiQue(path)
	case strings.EqualFold(filepath.Ext(path), ".csv"):
		return arithmetic.LoadGame24(path)
	case firstLineHas(path, "question") && firstLineHas(path, "answer") && !firstLineHas(path, "input"):
		return arithmetic.LoadGSM8K(path)
	}
	return task.LoadJSONL(path)
}

// openTaskFolder tells the folder formats apart by the names of their files.
func openTaskFolder(s kernel.Spec) (*task.Task, error) {
	if _, err := os.Stat(filepath.Join(s.Name, logs.ConfigName)); err == nil {
		if len(s.Options) > 0 {
			return nil, kernel.Misused(fmt.Errorf("task %q takes no options: its %s says everything", s.Name, logs.ConfigName))
		}
		return logs.LoadDir(s.Name)
	}
	entries, err := os.ReadDir(s.Name)
	if err != nil {
		return nil, kernel.Misused(fmt.Errorf("open task folder: %w", err))
	}
	for _, e := range entries {
		switch name := e.Name(); {
		case strings.HasPrefix(name, "dataset_K") && strings.HasSuffix(name, ".jsonl"):
			return opener(s.Name, func(o policy.DirOptions) (*task.Task, error) { return policy.LoadDir(s.Name, o) })(s.Options)
		case slices.Contains([]string{"restaurants.jsonl", "reviews.jsonl", "requests.jsonl", "groundtruth.jsonl"}, name):
			return opener(s.Name, func(o cafes.DirOptions) (*task.Task, error) { return cafes.LoadDir(s.Name, o) })(s.Options)
		}
	}
	return nil, fmt.Errorf("open task folder %q: found none of %s, restaurants.jsonl and dataset_K….jsonl in it\n%s",
		s.Name, logs.ConfigName, formsOf("FOLDER"))
}

// formsOf lists the formats of files or folders, one a line.
func formsOf(kind string) string {
	text := "The formats of a task " + strings.ToLower(kind) + " are:"
	for _, form := range FileForms() {
		if strings.HasPrefix(form[0], kind) {
			text += "\n  " + form[0] + "  " + form[1]
		}
	}
	return text
}

// firstLineHas reports whether the first line of a JSON Lines file is an object
// with this key: formats are told apart so. What cannot be read is left to the
// loader, which says why.
func firstLineHas(path, key string) bool {
	f, err := files.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	line, err := bufio.NewReaderSize(f, 1<<20).ReadSlice('\n')
	if err != nil && len(line) == 0 {
		return false
	}
	var keys map[string]json.RawMessage
	return json.Unmarshal(line, &keys) == nil && keys[key] != nil
}

// articleSource is where the tools of a file's questions search, if its options
// name a corpus or a MediaWiki server.
type articleSource struct {
	source wiki.Source
	name   string // with the content's digest, for a corpus
}

func articles(s kernel.Spec) (articleSource, error) {
	var o struct {
		Corpus    string `json:"corpus" doc:"a folder of HTML or Markdown, or a .jsonl of paragraphs, for tools that search"`
		Wikipedia string `json:"wikipedia" doc:"base URL of a MediaWiki server, for tools that search"`
	}
	if err := methods.ParseOptions(s.Options, &o); err != nil {
		return articleSource{}, kernel.Misused(fmt.Errorf("task %q: %w", s.Name, err))
	}
	if o.Wikipedia != "" {
		return articleSource{&wiki.MediaWiki{Base: o.Wikipedia}, "wikipedia=" + o.Wikipedia}, nil
	}
	if o.Corpus != "" {
		c, err := wiki.LoadCorpus(o.Corpus)
		if err != nil {
			return articleSource{}, kernel.Misused(err)
		}
		return articleSource{c, "corpus=" + c.Digest()}, nil
	}
	return articleSource{}, nil
}

// openArticles is a task without samples.
func openArticles(s kernel.Spec) (*task.Task, error) {
	source, err := articles(s)
	if err != nil {
		return nil, err
	}
	t := &task.Task{Name: source.name, Version: "1", Summary: "articles to search", Source: cmp.Or(s.Options["corpus"], s.Options["wikipedia"])}
	if c, ok := source.source.(*wiki.Corpus); ok {
		t.Notes = c.Notes()
	}
	return source.attach(t, nil)
}

// attach gives a task the tools search, inspect and read_section over a source.
// The source enters the task's version: another corpus makes another task.
func (a articleSource) attach(t *task.Task, err error) (*task.Task, error) {
	if err != nil || a.source == nil {
		return t, err
	}
	t.Environment = wiki.NewEnvironment(a.source, wiki.Options{})
	t.Version += "+" + a.name
	return t, nil
}
