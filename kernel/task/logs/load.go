package logs

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"

	"noema/kernel/task"
	"noema/methods"
)

// ConfigName is the file that makes a folder a task over logs of one's own.
const ConfigName = "logs.yaml"

// LoadDir reads a task over a log of one's own from a folder with a logs.yaml: the
// log's file and format, patterns or columns of the entities, and queries with
// their right answers. A query without a target is run and not scored; its answer
// says what it asks for, as [task.ParseAnswer] reads it. There may be no queries at
// all, for questions that are asked one by one. Workflows, templates and severities
// that it leaves out are those of the generated task. Whatever is wrong with it is
// told at once.
func LoadDir(dir string) (*task.Task, error) {
	path := filepath.Join(dir, ConfigName)
	whole, err := filepath.Abs(dir) // the name of "." is that of the folder
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	c, err := ReadConfig(path)
	if err != nil {
		return nil, err
	}
	l, err := OpenLog(c)
	if err != nil {
		return nil, err
	}
	digest, err := l.digest()
	if err != nil {
		return nil, err
	}
	env, err := newEnvironment(l)
	if err != nil {
		return nil, err
	}
	notes, err := env.preview()
	if err != nil {
		return nil, fmt.Errorf("read log configuration %s: %w", path, err)
	}
	t := &task.Task{
		Name: filepath.Base(whole), Version: version, Summary: "questions about " + filepath.Base(c.File),
		Config: "log=" + digest[:12], Source: c.File, Environment: env, Notes: notes,
	}
	t.Context = contextWith(c.Domain, digest)
	for i, q := range c.Queries {
		s, err := q.sample(i)
		if err != nil {
			return nil, fmt.Errorf("read log configuration %s: query %d: %w", path, i+1, err)
		}
		s.Problem.Context = t.Context
		t.Samples = append(t.Samples, s)
	}
	t.NoteUnscored()
	return t, nil
}

func (q Query) sample(i int) (task.Sample, error) {
	s := task.Sample{ID: q.ID, Group: q.Group, Problem: methods.Problem{Query: q.Query}}
	if s.ID == "" {
		s.ID = fmt.Sprintf("Q%03d", i+1)
	}
	if q.Query == "" {
		return s, errors.New("the query is empty")
	}
	if q.Target == nil {
		var items []string
		var err error
		if s.Problem.Answer, items, err = task.ParseAnswer(cmp.Or(q.Answer, string(methods.Text))); err == nil && items != nil {
			err = errors.New("a log has no items to rank")
		}
		return s, err
	}
	if q.Answer != "" {
		return s, errors.New("the answer follows from the target: leave answer out")
	}
	switch v := q.Target.(type) {
	case int, int64, uint64, float64:
		s.Problem.Answer.Kind = methods.Number
	case string:
		s.Problem.Answer.Kind = methods.Text
	case []any:
		s.Problem.Answer.Kind = methods.Set
		for _, m := range v {
			if _, ok := m.(string); !ok {
				return s, fmt.Errorf("target entry %v is not a text: put it in quotes", m)
			}
		}
	default:
		return s, fmt.Errorf("the target %.80s is not a number, a text or a list of texts", fmt.Sprint(q.Target))
	}
	if f, ok := q.Target.(float64); ok && (math.IsNaN(f) || math.IsInf(f, 0)) {
		return s, errors.New("the target is not a number")
	}
	s.Target = methods.Must(json.Marshal(q.Target))
	return s, nil
}

// digest is of the log's bytes and of how they are read: what tools find depends on
// both.
func (l *Log) digest() (_ string, err error) {
	r, err := l.open()
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, r.Close()) }() // which fails if the log changed meanwhile
	h := sha256.New()
	if _, err := io.Copy(h, r); err != nil {
		return "", fmt.Errorf("read log: %w", err)
	}
	c := l.config
	sum := sha256.Sum256(methods.Must(json.Marshal([]any{hex.EncodeToString(h.Sum(nil)), c.format(), c.Pattern, c.Severity, c.Time, c.Year})))
	return hex.EncodeToString(sum[:]), nil
}
