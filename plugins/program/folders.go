package program

import (
	"bytes"
	"strings"
)

// worldPath is the folder of a trial's world as models know it: the same in every trial and on
// every machine. It is long, and no text names it by chance.
const worldPath = "/tmp/noema-program-world-8f2c1d7e5ab94c06"

// folders stand where a trial's world lies elsewhere than at [worldPath], with both spellings that
// clients have of a folder: the whole path, and with "-" for "/", as agents name what they keep of
// one. Only the whole of it is replaced, on its way to a model and on its way back.
type folders struct{ actual, named [2]string }

func newFolders(root string) folders {
	dashed := func(path string) string { return strings.ReplaceAll(strings.Trim(path, "/"), "/", "-") }
	if root == worldPath || root == "" {
		return folders{}
	}
	return folders{actual: [2]string{root, dashed(root)}, named: [2]string{worldPath, dashed(worldPath)}}
}

// taken is what a model is told.
func (f folders) taken(text []byte) []byte { return replaced(text, f.actual, f.named) }

// given is what a program is told.
func (f folders) given(text []byte) []byte { return replaced(text, f.named, f.actual) }

func replaced(text []byte, from, to [2]string) []byte {
	for i := range from {
		if from[i] != "" {
			text = bytes.ReplaceAll(text, []byte(from[i]), []byte(to[i]))
		}
	}
	return text
}
