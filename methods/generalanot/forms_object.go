package generalanot

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
)

// object is a JSON object whose keys keep their order.
type object []member

type member struct {
	key  string
	raw  json.RawMessage
	used bool
}

func readObject(raw []byte) (object, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	t, err := d.Token()
	if err != nil {
		return nil, place(raw, err)
	}
	if t != json.Delim('{') {
		return nil, fmt.Errorf("want an object, not %.20q", raw)
	}
	var o object
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, place(raw, err)
		}
		m := member{key: key.(string)} // the decoder accepts no other key
		if err := d.Decode(&m.raw); err != nil {
			return nil, place(raw, err)
		}
		o = append(o, m)
	}
	if _, err := d.Token(); err != nil {
		return nil, place(raw, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more text after the object")
	}
	return o, nil
}

func (o object) has(keys ...string) bool {
	return slices.ContainsFunc(o, func(m member) bool { return slices.Contains(keys, m.key) })
}

// find is the first member with one of the names, or nil; it counts as read.
func (o object) find(names ...string) *member {
	for i := range o {
		if slices.Contains(names, o[i].key) {
			o[i].used = true
			return &o[i]
		}
	}
	return nil
}

// decode reads a value into to, if the object has it.
func (c *converter) decode(o object, path string, to any, names ...string) bool {
	m := o.find(names...)
	if m == nil || string(m.raw) == "null" {
		return false
	}
	d := json.NewDecoder(bytes.NewReader(m.raw))
	d.UseNumber()
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		c.fault(join(path, m.key), "%v", err)
		return false
	}
	return true
}

func (c *converter) text(o object, path string, names ...string) string {
	var s string
	c.decode(o, path, &s, names...)
	return s
}

// outputFields reads the names of the results, and notes where they stand.
func (c *converter) outputFields(o object, path string, names ...string) bool {
	if m := o.find(names...); m != nil {
		c.outputs = join(path, m.key)
	}
	return c.decode(o, path, &c.Seed.OutputFields, names...)
}

// object reads an object within another.
func (c *converter) object(o object, path string, names ...string) (object, string) {
	m := o.find(names...)
	if m == nil || string(m.raw) == "null" {
		return nil, ""
	}
	at := join(path, m.key)
	inner, err := readObject(m.raw)
	if err != nil {
		c.fault(at, "%v", err)
	}
	return inner, at
}

// each visits the objects of a list, then names what was not read of them.
func (c *converter) each(o object, path string, do func(e object, at string), names ...string) {
	m := o.find(names...)
	var raws []json.RawMessage
	if m == nil || !c.decode(o, path, &raws, m.key) {
		return
	}
	for i, raw := range raws {
		at := index(join(path, m.key), i)
		e, err := readObject(raw)
		if err != nil {
			c.fault(at, "%v", err)
			continue
		}
		do(e, at)
		c.rest(e, at)
	}
}

// members visits the objects within an object.
func (c *converter) members(o object, path string, do func(o object, at, name string)) {
	for _, m := range o {
		at := join(path, m.key)
		inner, err := readObject(m.raw)
		if err != nil {
			c.fault(at, "%v", err)
			continue
		}
		do(inner, at, m.key)
	}
}

// formulas visits the formulas within an object.
func (c *converter) formulas(o object, path string, do func(at, name, formula string)) {
	for _, m := range o {
		var formula string
		if err := json.Unmarshal(m.raw, &formula); err != nil {
			c.fault(join(path, m.key), "want a formula in a text")
		}
		do(join(path, m.key), m.key, formula)
	}
}

// rest names the keys that nothing has read.
func (c *converter) rest(o object, path string) {
	for _, m := range o {
		if !m.used {
			c.fault(join(path, m.key), "the key is not known in any form of a Formula Seed: remove it, or write a step for what it does")
		}
	}
}

// unused are keys without an effect on the result.
func (c *converter) unused(o object, path, why string, names ...string) {
	for _, name := range names {
		if m := o.find(name); m != nil && !slices.Contains([]string{"null", `""`, "[]", "{}", "false"}, string(m.raw)) {
			c.note(listIndex.ReplaceAllString(join(path, name), "[*]"), "left out: %s", why) // once for a list
		}
	}
}

var listIndex = regexp.MustCompile(`\[\d+\]`)

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
