package jupyter

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"noema/kernel/base/files"
	"noema/methods"
)

// Notebook is a notebook file of nbformat 4 that this kernel can run.
type Notebook struct {
	raw   []byte
	cells []bookCell // with code
}

// bookCell is a code cell of a notebook.
type bookCell struct {
	code           string
	ignored        bool // by its tag; see ignoreTag
	outputs, count place
	saved          []savedOutput
	fresh          []savedOutput // of the run
	differs        bool
}

// place is where a value stands in the file.
type place struct{ from, to int64 }

// savedOutput is an output as nbformat has it, with its texts joined.
type savedOutput map[string]any

// ignoreTag is the tag of cells whose outputs are not compared, which nbval reads
// as well.
const ignoreTag = "nbval-ignore-output"

// ReadNotebook reads a notebook. One of another kernel is refused by its name.
func ReadNotebook(file string) (*Notebook, error) {
	raw, err := files.Read(file, files.MaxText)
	if err != nil {
		return nil, fmt.Errorf("read notebook: %w", err)
	}
	n := &Notebook{raw: raw}
	if err := n.checkKernel(); err != nil {
		return nil, fmt.Errorf("read notebook %s%w", file, n.placed(err))
	}
	if err := n.readCells(); err != nil {
		return nil, fmt.Errorf("read notebook %s%w", file, n.placed(err))
	}
	return n, nil
}

// placed begins an error with the line and column that it is about, if it says.
func (n *Notebook) placed(err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	var at int64
	switch {
	case errors.As(err, &syntax):
		at = syntax.Offset
	case errors.As(err, &kind):
		at = kind.Offset
		err = fmt.Errorf("%s is of the wrong type: %s", cmp.Or(kind.Field, "it"), kind.Value)
	default:
		return fmt.Errorf(": %w", err)
	}
	before := n.raw[:min(max(at-1, 0), int64(len(n.raw)))]
	line := bytes.Count(before, []byte("\n")) + 1
	return fmt.Errorf(":%d:%d: %w", line, len(before)-bytes.LastIndexByte(before, '\n'), err)
}

// checkKernel refuses what is not a notebook of this kernel.
func (n *Notebook) checkKernel() error {
	var book struct {
		Format   int `json:"nbformat"`
		Metadata struct {
			Kernel struct {
				Name    string `json:"name"`
				Display string `json:"display_name"`
			} `json:"kernelspec"`
		} `json:"metadata"`
		Cells []json.RawMessage `json:"cells"`
	}
	if err := json.Unmarshal(n.raw, &book); err != nil {
		return err
	}
	if book.Format != 4 {
		return fmt.Errorf("nbformat is %d, not 4: convert it with \"jupyter nbconvert --to notebook\"", book.Format)
	}
	if k := book.Metadata.Kernel; k.Name != "" && k.Name != SpecName {
		return fmt.Errorf("it is a notebook of the kernel %q (%s), not of %s: run it with \"jupyter nbconvert --execute\"",
			k.Name, cmp.Or(k.Display, k.Name), SpecName)
	}
	return nil
}

// readCells finds the code cells, and where their outputs stand in the file.
func (n *Notebook) readCells() error {
	d := json.NewDecoder(bytes.NewReader(n.raw))
	return members(d, func(key string) error {
		if key != "cells" {
			return d.Decode(new(json.RawMessage))
		}
		if _, err := d.Token(); err != nil {
			return err
		}
		for number := 1; d.More(); number++ {
			if err := n.readCell(d, number); err != nil {
				return err
			}
		}
		_, err := d.Token()
		return err
	})
}

// members calls each with the keys of the object that comes next. It must read the
// value.
func members(d *json.Decoder, each func(key string) error) error {
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return errors.Join(err, errors.New("not an object"))
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		if err := each(key.(string)); err != nil { // keys are strings
			return err
		}
	}
	_, err := d.Token()
	return err
}

func (n *Notebook) readCell(d *json.Decoder, number int) error {
	var kind string
	var source json.RawMessage
	var metadata struct {
		Tags []string `json:"tags"`
	}
	var c bookCell
	err := members(d, func(key string) error {
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return err
		}
		at := place{d.InputOffset() - int64(len(raw)), d.InputOffset()}
		switch key {
		case "cell_type":
			return json.Unmarshal(raw, &kind)
		case "source":
			source = raw
		case "metadata":
			return json.Unmarshal(raw, &metadata)
		case "outputs":
			c.outputs = at
			return methods.DecodeJSON(raw, &c.saved)
		case "execution_count":
			c.count = at
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("cell %d of the file: %s", number, err) // its offsets are not the file's
	}
	if kind != "code" {
		return nil
	}
	c.code = joined(source)
	c.ignored = slices.Contains(metadata.Tags, ignoreTag)
	if c.outputs.to == 0 || c.count.to == 0 {
		return fmt.Errorf("cell %d of the file lacks \"outputs\" or \"execution_count\", which a code cell of nbformat 4 has", number)
	}
	for _, o := range c.saved {
		o.join()
	}
	if strings.TrimSpace(c.code) != "" {
		n.cells = append(n.cells, c)
	}
	return nil
}

// joined is a text that nbformat has as one string or as lines.
func joined(raw json.RawMessage) string {
	var value any
	_ = json.Unmarshal(raw, &value) // nothing is an empty cell
	text, _ := joinLines(value).(string)
	return text
}

// joinLines joins a list of strings; other values stay.
func joinLines(value any) any {
	list, ok := value.([]any)
	if !ok {
		return value
	}
	var b strings.Builder
	for _, v := range list {
		s, ok := v.(string)
		if !ok {
			return value
		}
		b.WriteString(s)
	}
	return b.String()
}

// join joins the lines of the output's texts.
func (o savedOutput) join() {
	o["text"] = joinLines(o["text"])
	if o["text"] == nil {
		delete(o, "text")
	}
	if data, ok := o["data"].(map[string]any); ok {
		for mime, value := range data {
			if !strings.HasSuffix(mime, "json") {
				data[mime] = joinLines(value)
			}
		}
	}
}
