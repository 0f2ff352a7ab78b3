package predictions

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"noema/kernel/base/files"
	"noema/kernel/task"
	"noema/kernel/task/table"
	"noema/methods"
	"noema/methods/decimal"
)

var (
	// concluded matches columns of what a model was taken to answer.
	concluded = regexp.MustCompile(`(?i)^((model|llm|parsed|extracted|my)[ _-]?)?(preds?|predictions?|predicted)([ _-]?(answer|label|text|ans|value))?$|^(model|llm|parsed|extracted|generated)[ _-]?(answer|label)$`)
	// replied matches columns of what it wrote.
	replied = regexp.MustCompile(`(?i)^((model|llm|raw|full)[ _-]?)?(outputs?|responses?|completions?|reply|replies|generations?|generated)([ _-]?(text|content))?$`)
)

// maxCandidates bounds the columns that may each be the prediction.
const maxCandidates = 20

// named takes the columns off a path such as FILE?answer=pred&id=qid.
func (o Options) named(path string) (string, Options, error) {
	at := strings.LastIndexByte(path, '?')
	if _, err := os.Stat(path); at < 0 || !errors.Is(err, fs.ErrNotExist) {
		return path, o, nil
	}
	values, err := url.ParseQuery(path[at+1:])
	if err != nil {
		return path, o, fmt.Errorf("read predictions: %q: %w", path, err)
	}
	for name := range values {
		if name != "answer" && name != "id" {
			return path, o, fmt.Errorf("read predictions: %q: there is no option %q: write answer= or id= with a column", path, name)
		}
	}
	o.answer, o.id = values.Get("answer"), values.Get("id")
	return path[:at], o, nil
}

// answerColumn finds the column of the predictions among those of all rows. A column that
// is called as that of the task's targets is left out where another is clearly the prediction.
func (f *File) answerColumn(t *table.Table, path string, first table.Row, o Options) (string, error) {
	var found []string
	other := o.answer != "" && !first.Has(o.answer)
	err := t.Each(func(row table.Row) error {
		for _, name := range row.Columns() {
			if other = other && name != o.answer; slices.Contains(found, name) || len(found) == maxCandidates {
				continue
			}
			if slices.Contains(answerColumns, name) || concluded.MatchString(name) || replied.MatchString(name) {
				found = append(found, name)
			}
		}
		return nil
	})
	columns := strings.Join(first.Columns(), ", ")
	switch {
	case err != nil:
		return "", err
	case other:
		return "", fmt.Errorf("%s has no column %q: its columns are %s", f.Name, o.answer, columns)
	case o.answer != "":
		return o.answer, nil
	case len(found) == 0:
		return "", fmt.Errorf("%s has no column of answers: its columns are %s: name one of them \"answer\", or write it behind the file, as in %s", f.Name, columns, files.Word(path+"?answer=COLUMN"))
	case len(found) == 1:
		return found[0], nil
	}
	slices.Sort(found)
	f.lines = o.lines(path, found)
	rest := slices.DeleteFunc(slices.Clone(found), func(name string) bool { return name == o.Right })
	said := slices.DeleteFunc(slices.Clone(rest), func(name string) bool { return !concluded.MatchString(name) })
	if len(said) == 1 {
		rest = append(said, slices.DeleteFunc(rest, func(name string) bool { return name == said[0] || replied.MatchString(name) })...)
	}
	if len(rest) != 1 {
		return "", fmt.Errorf("%s: the columns %s may each be the prediction: write which%s", f.Name, quotedAnd(found), f.lines)
	}
	if slices.Contains(found, o.Right) {
		f.right = o.Right
		f.Notes = append(f.Notes, fmt.Sprintf("the predictions are the column %q: %q holds the targets", rest[0], o.Right))
	} else {
		f.Notes = append(f.Notes, fmt.Sprintf("the predictions are the column %q of %s", rest[0], quotedAnd(found)))
	}
	return rest[0], nil
}

// lines are the commands that name the column: the one that was given, where it is known.
func (o Options) lines(path string, columns []string) string {
	var b strings.Builder
	for _, name := range columns {
		at := path + "?answer=" + url.QueryEscape(name)
		if o.id != "" {
			at += "&id=" + url.QueryEscape(o.id)
		}
		words := []string{files.Word(at)}
		if i := slices.IndexFunc(o.Command, func(word string) bool { return word == path || strings.HasPrefix(word, path+"?") }); i > 0 {
			words = []string{"noema"}
			for j, word := range o.Command[1:] {
				if j+1 == i {
					word = at
				}
				words = append(words, files.Word(word))
			}
		}
		b.WriteString("\n  " + strings.Join(words, " "))
	}
	return b.String()
}

func quotedAnd(names []string) string {
	var quoted []string
	for _, name := range names {
		quoted = append(quoted, strconv.Quote(name))
	}
	return strings.Join(quoted, " and ")
}

// equals reports whether a value of a file is the target of a sample as it stands: the same
// text, number or list, an accepted text, or the place or the text of the right option.
func equals(raw json.RawMessage, s task.Sample) bool {
	if len(raw) == 0 || !s.Scored() {
		return false
	}
	texts := func(raw json.RawMessage) []string {
		var text string
		var list []string
		if json.Unmarshal(raw, &text) == nil {
			return []string{strings.TrimSpace(text)}
		}
		if json.Unmarshal(raw, &list) == nil && s.Problem.Answer.Kind == methods.Text {
			return list
		}
		return []string{string(raw)}
	}
	got, want := texts(raw)[0], texts(s.Target)
	if labels := s.Problem.Answer.Labels; s.Problem.Answer.Kind == methods.Choice {
		want = append(want, s.Problem.Answer.OptionText(want[0]))
		if at := slices.Index(labels, want[0]); raw[0] != '"' || !slices.Contains(labels, got) {
			want = append(want, strconv.Itoa(at), strconv.Itoa(at+1))
		}
	}
	n, err := decimal.Parse(got)
	return slices.ContainsFunc(want, func(text string) bool {
		m, bad := decimal.Parse(text)
		return text != "" && (strings.EqualFold(text, got) || err == nil && bad == nil && n.Cmp(m) == 0)
	})
}
