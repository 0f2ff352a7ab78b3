package pack

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"noema/kernel/base/display"
)

// What stands before and after the numbers in LaTeX.
const (
	texWritten = "% Written by noema cite; noema pack verify --tex computes every number again."
	texHead    = texWritten + `
\makeatletter
\providecommand{\noema}[1]{\@ifundefined{noema@#1}{\PackageError{noema}{there is no number "#1"}{noema cite lists all names}}{\@nameuse{noema@#1}}}
`
	texTail = "\\makeatother\n"
)

// LaTeX is a file of the numbers for a paper, in which \noema{NAME} prints one.
func LaTeX(numbers []Number) []byte {
	var b bytes.Buffer
	b.WriteString(texHead)
	for _, n := range numbers {
		fmt.Fprintf(&b, "\\@namedef{noema@%s}{%s}\n", n.Name, display.LaTeXText(n.Text))
	}
	b.WriteString(texTail)
	return b.Bytes()
}

// JSON is the same as an object of texts by name, for Typst and Quarto.
func JSON(numbers []Number) ([]byte, error) {
	object := map[string]string{}
	for _, n := range numbers {
		object[n.Name] = n.Text
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	err := e.Encode(object)
	return b.Bytes(), err
}

// definition is a line of a LaTeX file of numbers.
var definition = regexp.MustCompile(`^\\@namedef\{noema@([^}]*)\}\{(.*)\}$`)

// checkCited compares a file that [LaTeX] or [JSON] wrote with the numbers as they are,
// and returns how many it has.
func checkCited(file []byte, numbers []Number) (int, error) {
	tex, plain := map[string]string{}, map[string]string{}
	for _, n := range numbers {
		tex[n.Name], plain[n.Name] = display.LaTeXText(n.Text), n.Text
	}
	if bytes.HasPrefix(bytes.TrimSpace(file), []byte("{")) {
		var said map[string]string
		if err := json.Unmarshal(file, &said); err != nil {
			return 0, err
		}
		for _, n := range numbers { // in the order of tables
			if text, has := said[n.Name]; has {
				if err := sameNumber(n.Name, text, plain); err != nil {
					return 0, err
				}
			}
		}
		for name, text := range said {
			if err := sameNumber(name, text, plain); err != nil {
				return 0, err
			}
		}
		if len(said) == 0 {
			return 0, errors.New(`it has no number: write it with "noema cite"`)
		}
		return len(said), nil
	}
	return checkTeX(string(file), tex)
}

// checkTeX compares the lines of a LaTeX file. Others than those that [LaTeX] writes could
// define a number in a way that goes unseen, and are an error.
func checkTeX(file string, now map[string]string) (n int, err error) {
	frame := strings.Split(texHead+texTail+earlier(texHead), "\n")
	for i, line := range strings.Split(file, "\n") {
		line = strings.TrimSpace(line)
		part := definition.FindStringSubmatch(line)
		switch {
		case part != nil:
			n++
			err = sameNumber(part[1], part[2], now)
		case !slices.Contains(frame, line):
			err = fmt.Errorf("%q is not a line that noema cite writes", line)
		}
		if err != nil {
			return n, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	if n == 0 {
		return 0, errors.New(`it defines no number: write it with "noema cite"`)
	}
	return n, nil
}

func sameNumber(name, said string, now map[string]string) error {
	switch text, has := now[name]; {
	case !has:
		return fmt.Errorf("the tables have no number %q", name)
	case text != said:
		return fmt.Errorf("%s is %s, and computed again %s", name, said, text)
	}
	return nil
}
