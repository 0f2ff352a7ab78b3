package lab

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"noema/kernel/result/record"
	"noema/plugins"
)

// withholding says what the methods of an experiment must not read, once its tasks are open; nil
// withholds nothing.
type withholding func() *plugins.Withheld

func (w withholding) known() *plugins.Withheld {
	if w == nil {
		return nil
	}
	return w()
}

// withheld is the data of tasks, which are written as in named: their files, and the questions of
// those that are not generated.
func (l *Lab) withheld(named []string, tasks []*Task) *plugins.Withheld {
	w := &plugins.Withheld{}
	var questions [][]string
	for i, t := range tasks {
		s, err := ParseSpec(named[i])
		if err != nil || t == nil || slices.ContainsFunc(l.o.Catalog.Tasks(), func(e TaskEntry) bool { return e.Name == s.Name }) {
			continue
		}
		w.File(s.Name)
		for _, value := range s.Options {
			if info, err := os.Stat(value); err == nil && info.Mode().IsRegular() {
				w.File(value)
			}
		}
		for _, sample := range t.Samples {
			questions = append(questions, []string{sample.Problem.Query, string(sample.Problem.Context)})
		}
	}
	w.Questions(questions)
	return w
}

// programs is where copies of the code of commands are.
func (l *Lab) programs() string { return filepath.Join(l.o.Home, "programs") }

// copied reports whether a folder is a copy that this Lab made, of code that was chosen.
func (l *Lab) copied(dir string) bool {
	for _, kept := range []string{l.programs(), l.Copies().Folder} {
		if at, err := filepath.Abs(kept); err == nil && strings.HasPrefix(dir, at+string(filepath.Separator)) {
			return true
		}
	}
	return false
}

// maxLeft bounds what a run lists of a plugin's folder that is not part of its code.
const maxLeft = 200

func leftOf(src plugins.Source) (all []record.Left) {
	for _, l := range src.Left[:min(len(src.Left), maxLeft)] {
		all = append(all, record.Left(l))
	}
	return all
}
