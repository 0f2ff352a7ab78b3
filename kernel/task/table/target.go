package table

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"noema/kernel/task"
	"noema/methods"
)

// answer gives the sample its problem and its target.
func (r *reader) answer(row Row, in input, s *task.Sample) error {
	kind, raw, column, err := r.gold(row)
	if err != nil {
		return err
	}
	r.task.Right = r.column()
	if raw == nil {
		column = r.roles.input
	}
	fault := func(err error) error {
		return row.Fault(column, fmt.Errorf("sample %q: %w", s.ID, err))
	}
	o, err := r.options(row)
	if err != nil {
		return err
	}
	if o.labels != nil {
		if in.Labels != nil || in.Items != nil || in.Answer != "" {
			return fault(errors.New("there are options, and the input has labels, items or an answer of its own: keep one"))
		}
		if raw != nil {
			if raw, err = r.choose(o, raw, kind); err != nil {
				return fault(err)
			}
		}
		if r.m.Shuffle {
			if o, err = o.unlabelled(); err != nil {
				return fault(err)
			}
			o, raw = o.shuffled(s.ID, raw)
		}
		in.Labels = o.labels
		if len(r.m.Labels) == 0 {
			in.Query = o.lines(in.Query)
		}
	} else if raw, err = r.convert(raw, kind); err != nil {
		return fault(err)
	}
	if kind == "aliases" && o.labels == nil {
		if s.Problem, _, err = in.problem(nil); err == nil && s.Problem.Answer.Kind != methods.Text {
			err = fmt.Errorf("aliases: are of texts, and a %s is asked for", s.Problem.Answer.Kind)
		}
		s.Target = raw
	} else {
		s.Problem, s.Target, err = in.problem(raw)
	}
	if err != nil {
		return fault(err)
	}
	if o.labels != nil {
		s.Problem.Answer.Texts = o.spoken()
	}
	r.read(&s.Problem.Answer)
	return nil
}

// gold is the row's target as the mapping says: its kind, its value and the column;
// nil if the row has none.
func (r *reader) gold(row Row) (kind string, raw json.RawMessage, column string, err error) {
	kind, columns := r.m.target()
	if r.m.Target == "" {
		columns = []string{r.roles.target}
	}
	column = columns[0]
	switch {
	case column == "":
		return "", nil, "", nil
	case kind == "literal":
		return "", quoted(column), r.roles.input, nil
	case kind == "aliases":
		raw, err := aliases(row, columns)
		return kind, raw, column, err
	}
	raw, err = row.Cell(column)
	if raw == nil || err != nil {
		return kind, nil, column, err
	}
	if raw[0] == '{' && kind == "" && !r.own {
		if accepted := answerAliases(raw); accepted != nil {
			r.counts.accepted++
			return "aliases", accepted, column, nil
		}
		return kind, raw, column, row.Fault(column, fmt.Errorf(
			"the target is an object: write target=fields:%s if all of its fields are asked for, or name one of them, as in target=%[1]s.%s", column, someField(raw)))
	}
	if raw[0] == '[' && kind == "" && !r.own {
		return kind, raw, column, row.Fault(column, fmt.Errorf(
			"the target is a list: write target=aliases:%s if any one of it is right, target=set:%[1]s if all of it in any order, target=list:%[1]s if in this order", column))
	}
	return kind, raw, column, nil
}

// answerAliases are the accepted texts of an object as TriviaQA has it: its value and its
// aliases; nil if it is another object.
func answerAliases(raw json.RawMessage) json.RawMessage {
	var object struct {
		Value   *string
		Aliases []string
	}
	if json.Unmarshal(raw, &object) != nil || len(object.Aliases) == 0 {
		return nil
	}
	var accepted []string
	if object.Value != nil {
		accepted = []string{*object.Value}
	}
	for _, alias := range object.Aliases {
		if strings.TrimSpace(alias) != "" && !slices.Contains(accepted, alias) {
			accepted = append(accepted, alias)
		}
	}
	list, _ := json.Marshal(accepted) // texts always encode
	return list
}

// someField is the name of a field of an object that is a text or a number, if there is one.
func someField(raw json.RawMessage) string {
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(raw, &fields) // it is a part of a row that was decoded
	names := slices.Sorted(maps.Keys(fields))
	for _, name := range names {
		if _, err := scalar(fields[name]); err == nil {
			return name
		}
	}
	return "FIELD"
}

// aliases are the accepted texts of some columns, without repetitions.
func aliases(row Row, columns []string) (json.RawMessage, error) {
	var accepted []string
	for _, column := range columns {
		raw, err := row.Cell(column)
		if err != nil {
			return nil, err
		}
		if raw == nil {
			continue
		}
		if raw, err = opened(raw); err != nil {
			return nil, row.Fault(column, err)
		}
		list := []string{plain(raw)}
		if raw[0] == '[' {
			if list, err = texts(raw); err != nil {
				return nil, row.Fault(column, err)
			}
		} else if raw[0] == '{' {
			return nil, row.Fault(column, fmt.Errorf("want a text or a list, not an object: name a field of it, as in aliases:%s.text", column))
		}
		for _, text := range list {
			if !slices.Contains(accepted, text) {
				accepted = append(accepted, text)
			}
		}
	}
	if accepted == nil {
		return nil, nil
	}
	return json.Marshal(accepted)
}

// convert brings a target into the form of its kind.
func (r *reader) convert(raw json.RawMessage, kind string) (json.RawMessage, error) {
	if raw == nil {
		return nil, nil
	}
	switch kind {
	case "number":
		return r.number(raw)
	case "text":
		text, err := scalar(raw)
		return quoted(text), err
	case "set":
		list, err := r.members(raw)
		if err != nil {
			return nil, err
		}
		return json.Marshal(list)
	case "list": // of a text: the order of its words counts
		list, err := r.members(raw)
		return quoted(strings.Join(list, ", ")), err
	case "fields":
		raw, err := opened(raw)
		if err == nil && raw[0] != '{' {
			err = fmt.Errorf("want an object, not %.60s", compact(raw))
		}
		return raw, err
	case "letter", "index", "position":
		return nil, fmt.Errorf("%s: needs options: write choices=COLUMN or labels=A,B,C", kind)
	}
	return raw, nil
}

// members are the members of a set. A single text is a set of one, but not in a CSV,
// where it may be a list in some writing of its own.
func (r *reader) members(raw json.RawMessage) ([]string, error) {
	if one, err := scalar(raw); err == nil && r.t.format != csvFormat {
		return []string{one}, nil
	}
	list, err := texts(raw)
	if err != nil {
		err = fmt.Errorf("target: %w, such as [\"a\",\"b\"]", err)
	}
	return list, err
}

// choose is the label, or the list of labels, that a target means.
func (r *reader) choose(o options, raw json.RawMessage, kind string) (json.RawMessage, error) {
	if kind == "literal" {
		kind = "letter"
	}
	if !slices.Contains([]string{"", "text", "set", "letter", "index", "position"}, kind) {
		return nil, fmt.Errorf("%s: does not go with options", kind)
	}
	if kind == "set" {
		list, err := r.members(raw)
		if err != nil {
			return nil, err
		}
		labels := make([]string, len(list))
		for i, text := range list {
			if labels[i], err = o.label(quoted(text), ""); err != nil {
				return nil, err
			}
		}
		return json.Marshal(labels)
	}
	label, err := o.label(raw, kind)
	if err != nil {
		return nil, err
	}
	if kind == "" && raw[0] != '"' {
		r.counts.counted++
		if label == o.labels[0] {
			r.counts.zeros++
		}
	}
	return quoted(label), nil
}
