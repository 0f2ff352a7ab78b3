package builtin

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"noema/kernel/base/files"
	"noema/kernel/base/score"
	"noema/kernel/lab"
	"noema/kernel/task"
	"noema/kernel/task/arithmetic"
	"noema/kernel/task/booking"
	"noema/kernel/task/cafes"
	"noema/kernel/task/dataset"
	"noema/kernel/task/logs"
	"noema/kernel/task/multihop"
	"noema/kernel/task/policy"
	"noema/kernel/task/program"
	"noema/kernel/task/table"
	"noema/kernel/task/wiki"
	"noema/methods"
)

// generatedTask is a task that needs no files.
type generatedTask struct {
	lab.TaskEntry
	open func(map[string]string) (*task.Task, error)
}

// opener reads the options that O declares and opens a task with them; what it
// refuses is wrong usage.
func opener[O any](name string, open func(O) (*task.Task, error)) func(map[string]string) (*task.Task, error) {
	return func(given map[string]string) (*task.Task, error) {
		var o O
		if err := methods.ParseOptions(given, &o); err != nil {
			return nil, lab.Misused(fmt.Errorf("task %q: %w", name, err))
		}
		return open(o)
	}
}

func generated[O any](name, summary string, open func(O) (*task.Task, error)) generatedTask {
	var o O
	return generatedTask{lab.TaskEntry{Name: name, Summary: summary, Options: methods.OptionsOf(o)}, opener(name, open)}
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

// Tasks implements [lab.Catalog].
func (Catalog) Tasks() []lab.TaskEntry {
	var entries []lab.TaskEntry
	for _, t := range generatedTasks() {
		entries = append(entries, t.TaskEntry)
	}
	return entries
}

// FileForms lists the files and folders that are tasks, for help and errors.
func FileForms() [][2]string {
	return [][2]string{
		{"FILE.jsonl", `one sample a line: {"id", "input", "target", "metadata"}`},
		{"FILE", "a table (.csv, .tsv, .json, .jsonl, .parquet; also .gz, .zst) with columns input or question, target or answer, choices, id; or as in FILE?input=COLUMN&target=COLUMN"},
		{"FILE", "a table of MuSiQue, HotpotQA, GSM8K, HumanEval, MBPP or the Game of 24, told by its columns"},
		{dataset.Prefix + "ORG/NAME", "a data set of the Hugging Face hub that noema task pull fetched; ?config= and ?split= choose a part; " + readyMappings()},
		{"?corpus=DIR", "behind a file: tools that search a folder of HTML or Markdown, or a .jsonl of paragraphs; ?wikipedia=URL: a MediaWiki server"},
		{"FOLDER", "logs of your own: a logs.yaml with the file, the entities, and queries with their answers"},
		{"FOLDER", "the public ANoT format: restaurants.jsonl, reviews.jsonl, requests.jsonl, groundtruth.jsonl"},
		{"FOLDER", "the public policy format: dataset_K50.jsonl, NAME_K50_groundtruth.json and the policy as text"},
		{"?embeddings=local/DIR", "behind any task: an embedding model (BERT, MiniLM); tools that search do so by meaning, or with search=hybrid by words and meaning; other tasks get the tool similarity, which general-anot?filter=semantic needs"},
		{"?python=true", "behind any task: the tool python, which runs programs that models write, isolated; pal works by it"},
	}
}

// Task implements [lab.Catalog]: a generated task by name, a file or a
// folder. Without a name it is the tools over the articles that the options name.
func (Catalog) Task(ctx context.Context, s lab.Spec) (*task.Task, error) {
	if s.Name == "" { // articles alone, for questions of a user's own
		return openArticles(s)
	}
	if strings.HasPrefix(s.Name, dataset.Prefix) {
		return openDataset(ctx, s)
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
		return nil, lab.Misused(fmt.Errorf("unknown task %q%s: there is no file or folder of that name; the generated tasks are %s", s.Name, methods.DidYouMean(s.Name, names), strings.Join(names, ", ")))
	}
	if info.IsDir() {
		return openTaskFolder(s)
	}
	var o fileOptions
	if err := methods.ParseOptions(s.Options, &o); err != nil {
		return nil, lab.Misused(fmt.Errorf("task %q: %w", s.Name, err))
	}
	source, err := o.source()
	if err != nil {
		return nil, err
	}
	t, err := openTaskFile(ctx, s.Name, o)
	if err == nil {
		err = o.named(t)
	}
	if err == nil && (o.Mapping.Given() || o.Scorer != "") {
		t.Config = strings.TrimPrefix(s.Label(""), "?")
	}
	return source.attach(t, err)
}

// fileOptions are the options of a task that is a file.
type fileOptions struct {
	table.Mapping
	articleOptions
	Scorer string `json:"scorer" doc:"scorer of the answers, as after --scorer, which goes before it"`
}

// named has in t the scorer that its name has.
func (o fileOptions) named(t *task.Task) error {
	if o.Scorer == "" {
		return nil
	}
	scorer, err := score.Choose([]string{o.Scorer})
	if err != nil {
		return lab.Misused(fmt.Errorf("task %q: %w", t.Name, err))
	}
	t.Scorer = scorer
	return nil
}

// openTaskFile opens a table, or the logs of a logs.yaml.
func openTaskFile(ctx context.Context, path string, o fileOptions) (*task.Task, error) {
	if filepath.Base(path) == logs.ConfigName {
		return logs.LoadDir(filepath.Dir(path))
	}
	t, err := table.Open(ctx, path)
	if err == nil && o.Separator != "" {
		err = t.Separate(o.Separator)
	}
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, formsOf("FILE"))
	}
	return loadTable(t, o)
}

// loadTable reads the rows of a table. Layouts that need more than a mapping are told by
// their columns, unless a mapping is given.
func loadTable(t *table.Table, o fileOptions) (*task.Task, error) {
	if o.Given() {
		return table.Load(t, o.Mapping)
	}
	first, err := t.First()
	if refused := unreadable(t.Path, first); err == nil && refused != nil {
		return nil, refused
	}
	switch {
	case err != nil: // which says what is wrong
	case multihop.IsMuSiQue(first):
		return multihop.LoadMuSiQue(t, o.Corpus != "" || o.Wikipedia != "")
	case multihop.IsHotpotQA(first):
		return multihop.LoadHotpotQA(t)
	case arithmetic.IsGame24(first):
		return arithmetic.LoadGame24(t)
	case program.IsHumanEval(first):
		return program.LoadHumanEval(t)
	case program.IsMBPP(first):
		return program.LoadMBPP(t)
	case arithmetic.IsGSM8K(first):
		return arithmetic.LoadGSM8K(t)
	}
	return table.Load(t, o.Mapping)
}

// unreadable refuses layouts that cannot be read as they are, with what to do; they are told
// by their columns.
func unreadable(path string, first table.Row) error {
	if first.Has("title", "paragraphs") && !first.Has("question") { // SQuAD
		return lab.Misused(fmt.Errorf("task %q: its rows are articles, whose questions are deeper, in paragraphs and qas. Make a row of each question:\n"+
			"  jq -c %s %s > questions.jsonl\n  --task 'questions.jsonl?input=question&context=context&target=aliases:answers'",
			path, files.Word(`(.data? // .)[] | .paragraphs[] | .context as $c | .qas[] | {id, question, context: $c, answers: [.answers[].text]}`), files.Word(path)))
	}
	return nil
}

// openTaskFolder tells the folder formats apart by the names of their files.
func openTaskFolder(s lab.Spec) (*task.Task, error) {
	if _, err := os.Stat(filepath.Join(s.Name, logs.ConfigName)); err == nil {
		if len(s.Options) > 0 {
			return nil, lab.Misused(fmt.Errorf("task %q takes no options: its %s says everything", s.Name, logs.ConfigName))
		}
		return logs.LoadDir(s.Name)
	}
	entries, err := os.ReadDir(s.Name)
	if err != nil {
		return nil, lab.Misused(fmt.Errorf("open task folder: %w", err))
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

// articleSource is where the tools of a file's questions search, if its options
// name a corpus or a MediaWiki server.
type articleSource struct {
	source wiki.Source
	name   string // with the content's digest, for a corpus
}

// articleOptions are the options that name where tools search.
type articleOptions struct {
	Corpus    string `json:"corpus" doc:"a folder of HTML or Markdown, or a .jsonl of paragraphs, for tools that search"`
	Wikipedia string `json:"wikipedia" doc:"base URL of a MediaWiki server, for tools that search"`
}

func (o articleOptions) source() (articleSource, error) {
	if o.Wikipedia != "" {
		return articleSource{&wiki.MediaWiki{Base: o.Wikipedia}, "wikipedia=" + o.Wikipedia}, nil
	}
	if o.Corpus != "" {
		c, err := wiki.LoadCorpus(o.Corpus)
		if err != nil {
			return articleSource{}, lab.Misused(err)
		}
		return articleSource{c, "corpus=" + c.Digest()}, nil
	}
	return articleSource{}, nil
}

// openArticles is a task without samples.
func openArticles(s lab.Spec) (*task.Task, error) {
	var o articleOptions
	if err := methods.ParseOptions(s.Options, &o); err != nil {
		return nil, lab.Misused(fmt.Errorf("task %q: %w", s.Name, err))
	}
	source, err := o.source()
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
	t.Environment = wiki.NewEnvironment(a.source)
	t.Version += "+" + a.name
	return t, nil
}
