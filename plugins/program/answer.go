package program

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"noema/methods"
	"noema/methods/reply"
	"noema/plugins"
)

// answerFile is where a program whose manifest says "answer: file" writes its answer.
const answerFile = "answer.txt"

// answer reads the program's answer as a model's reply is read; a text that is not marked as
// an answer is one all the same, since the program has said where its answer is. Where it gave
// none, the answer is unparsed, or a ranking's default; if one of its calls failed before, that is
// the reason, and what was told of it does not count.
func (w *world) answer(f folders, printed []byte, spec methods.AnswerSpec, failed error) (methods.Answer, error) {
	text, err := w.pick(printed)
	if err != nil {
		if failed != nil {
			return methods.Answer{}, failed
		}
		return reply.Fallback(spec, methods.Unparsed, err.Error()), nil
	}
	if failed != nil && strings.Contains(text, failed.Error()) {
		return methods.Answer{}, failed
	}
	text = string(f.taken([]byte(text)))
	a := reply.Conclude(text, false, spec)
	if a.Outcome == methods.Unparsed && spec.Kind == methods.Text && strings.TrimSpace(text) != "" {
		a = methods.TextAnswer(strings.TrimSpace(strings.ToValidUTF8(text, "\ufffd")))
	}
	if failed != nil && (a.Outcome == methods.Unparsed || a.Outcome == methods.Defaulted) {
		return methods.Answer{}, failed
	}
	return a, nil
}

// pick returns the text that holds the answer.
func (w *world) pick(printed []byte) (string, error) {
	way := w.source.Program.Answer
	field, inJSON := strings.CutPrefix(way, plugins.InJSON)
	pattern, byPattern := strings.CutPrefix(way, plugins.ByPattern)
	switch {
	case way == plugins.AllOutput:
		return string(printed), nil
	case way == plugins.InFile:
		raw, err := os.ReadFile(filepath.Join(w.work, answerFile))
		if errors.Is(err, fs.ErrNotExist) {
			err = errors.New("the program wrote no " + answerFile)
		}
		return string(raw), err
	case inJSON:
		return jsonField(lastLine(printed), field)
	case byPattern:
		found := regexp.MustCompile(pattern).FindAllSubmatch(printed, -1) // the manifest was checked
		if found == nil {
			return "", fmt.Errorf("nothing that the program printed matches %q", pattern)
		}
		match := found[len(found)-1]
		return string(match[min(1, len(match)-1)]), nil
	}
	if last := lastLine(printed); len(last) > 0 {
		return string(last), nil
	}
	return "", errors.New("the program printed nothing")
}

// lastLine is the last line that is not blank.
func lastLine(printed []byte) []byte {
	printed = bytes.TrimSpace(printed)
	return bytes.TrimSpace(printed[bytes.LastIndexByte(printed, '\n')+1:])
}

// jsonField is a field of an object, a text as it is and anything else as JSON.
func jsonField(line []byte, field string) (string, error) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(line, &object); err != nil {
		return "", errors.New("the program's last line is not a JSON object")
	}
	raw, ok := object[field]
	if !ok {
		return "", fmt.Errorf("the object that the program printed has no field %q", field)
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text, nil
	}
	return string(raw), nil
}
