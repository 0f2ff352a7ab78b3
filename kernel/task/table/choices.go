package table

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"noema/methods/reply"
)

// maxChoices is how many options one or two letters can name.
const maxChoices = 26 + 26*26

// letters name the option at a place from 0: A to Z, then AA, AB and so on.
func letters(i int) string {
	if i < 26 {
		return string(rune('A' + i))
	}
	return letters(i/26-1) + letters(i%26)
}

// options are what a row lets a method choose from.
type options struct{ labels, texts []string }

// options reads the options of a row: those of one column, which is a list, an object
// of label and text, or ARC's {"text": […], "label": […]}; or a column for each.
// Without labels of their own they get letters.
func (r *reader) options(row Row) (o options, err error) {
	if len(r.m.Labels) > 0 {
		return options{r.m.Labels, r.m.Labels}, nil
	}
	columns := strings.Split(r.roles.choices, ",")
	if len(columns) == 1 {
		raw, err := row.Cell(columns[0])
		if err != nil || raw == nil {
			return o, err
		}
		if o, err = readOptions(raw); err != nil {
			return o, row.Fault(columns[0], err)
		}
	} else if o.texts, err = optionCells(row, columns); err != nil {
		return o, err
	}
	if err := o.complete(); err != nil {
		return o, row.Fault(columns[0], err)
	}
	return o, nil
}

// optionCells are the options of a row with a column for each. The last ones may be
// absent.
func optionCells(row Row, columns []string) (list []string, err error) {
	for _, column := range columns {
		raw, err := row.Cell(column)
		if err != nil {
			return nil, err
		}
		if raw == nil {
			continue
		}
		text, err := scalar(raw)
		if err != nil {
			return nil, row.Fault(column, err)
		}
		if i := slices.Index(columns, column); i != len(list) {
			return nil, row.Fault(columns[len(list)], errors.New("this option is empty and a later one is not"))
		}
		list = append(list, text)
	}
	return list, nil
}

func readOptions(raw json.RawMessage) (o options, err error) {
	if raw, err = opened(raw); err != nil {
		return o, err
	}
	if len(raw) == 0 || raw[0] != '{' {
		var named []struct {
			Label json.RawMessage
			Text  *string
		}
		if json.Unmarshal(raw, &named) != nil || len(named) == 0 || named[0].Text == nil {
			o.texts, err = texts(raw)
			return o, err
		}
		for i, option := range named {
			label, err := scalar(option.Label)
			if err != nil || option.Text == nil {
				return o, fmt.Errorf("option %d: want a label and a text", i+1)
			}
			o.labels, o.texts = append(o.labels, label), append(o.texts, *option.Text)
		}
		return o, nil
	}
	var both struct{ Text, Label []string }
	if json.Unmarshal(raw, &both) == nil && len(both.Text) > 0 {
		if len(both.Label) != len(both.Text) {
			return o, fmt.Errorf("%d texts and %d labels", len(both.Text), len(both.Label))
		}
		return options{both.Label, both.Text}, nil
	}
	var named map[string]json.RawMessage
	if err := json.Unmarshal(raw, &named); err != nil {
		return o, err
	}
	for label := range named {
		o.labels = append(o.labels, label)
	}
	slices.Sort(o.labels)
	for _, label := range o.labels {
		if value(named[label]) == nil { // Parquet has every label for every row
			continue
		}
		text, err := scalar(named[label])
		if err != nil {
			return o, fmt.Errorf("option %q: %w", label, err)
		}
		o.texts = append(o.texts, text)
	}
	o.labels = slices.DeleteFunc(o.labels, func(label string) bool { return value(named[label]) == nil })
	return o, nil
}

// complete gives letters to options without labels, and checks them.
func (o *options) complete() error {
	if len(o.texts) < 2 {
		return fmt.Errorf("want at least two options to choose from, not %d", len(o.texts))
	}
	if len(o.texts) > maxChoices {
		return fmt.Errorf("%d options: at most %d are read", len(o.texts), maxChoices)
	}
	if o.labels == nil {
		for i := range o.texts {
			o.labels = append(o.labels, letters(i))
		}
	}
	for i, label := range o.labels {
		if strings.TrimSpace(label) == "" || slices.Contains(o.labels[:i], label) {
			return fmt.Errorf("the labels %q are not distinct texts", o.labels)
		}
	}
	return nil
}

// lines shows the options below the question, one a line.
func (o options) lines(query string) string {
	var b strings.Builder
	b.WriteString(query + "\n")
	for i, label := range o.labels {
		fmt.Fprintf(&b, "\n%s) %s", label, o.texts[i])
	}
	return b.String()
}

// shuffled are the options with their texts in an order drawn from the sample's id, and
// the label or the list of labels that target then is.
func (o options) shuffled(id string, target json.RawMessage) (options, json.RawMessage) {
	seed := sha256.Sum256([]byte("options of " + id))
	order := rand.New(rand.NewPCG(binary.BigEndian.Uint64(seed[:]), binary.BigEndian.Uint64(seed[8:]))).Perm(len(o.texts))
	texts, now := make([]string, len(order)), map[string]string{}
	for to, from := range order {
		texts[to], now[o.labels[from]] = o.texts[from], o.labels[to]
	}
	o.texts = texts
	var label string
	var several []string
	switch {
	case json.Unmarshal(target, &label) == nil:
		target = quoted(now[label])
	case json.Unmarshal(target, &several) == nil:
		for i := range several {
			several[i] = now[several[i]]
		}
		target, _ = json.Marshal(several) // texts always encode
	}
	return o, target
}

// ownLabel matches a letter or a number that a text begins with to name itself: "A ) 6",
// "(A)6", "A. 6", "1) 6". "1.5" and "1:30" have none.
var ownLabel = regexp.MustCompile(`^\s*(?:[(\[（]\s*(\w{1,2})\s*[)\]）]|(\w{1,2})\s*[)）、．]|([A-Za-z])\s*[.:：]|(\d{1,2})\s*[.:：]\s)\s*`)

// bare are the texts without labels of their own, where they carry those of their places. It
// counts the texts that do, and those that carry the label of another place.
func (o options) bare() (bare []string, carried, strayed int) {
	for i, text := range o.texts {
		m := ownLabel.FindStringSubmatch(text)
		bare = append(bare, text)
		if m == nil || len(m[0]) == len(text) {
			continue
		}
		own := m[1] + m[2] + m[3] + m[4]
		same := func(label string) bool { return strings.EqualFold(own, label) }
		switch {
		case same(o.labels[i]) || same(letters(i)) || own == strconv.Itoa(i+1):
			bare[i] = text[len(m[0]):]
			carried++
		case slices.ContainsFunc(o.labels, same):
			strayed++
		}
	}
	if carried < len(o.texts) {
		bare = o.texts
	}
	return bare, carried, strayed
}

// unlabelled are the options as shuffling needs them: without labels of their own, which would
// stand in another's place.
func (o options) unlabelled() (options, error) {
	bare, carried, strayed := o.bare()
	if n := len(bare); carried < n && (carried > 1 || 2*carried >= n || carried+strayed == n) {
		return o, fmt.Errorf("options carry letters of their own, such as %.40q: shuffled, these would name others: take them out, or leave shuffle out", o.texts[0])
	}
	o.texts = bare
	return o, nil
}

// spoken are the texts that a reply may say in place of a label; nil where these are the same.
func (o options) spoken() []string {
	bare, _, _ := o.bare()
	if slices.Equal(o.labels, bare) {
		return nil
	}
	return bare
}

var errCount = errors.New("write index: before the column if it counts the options from 0, position: if from 1")

// label is the label that a target means.
func (o options) label(raw json.RawMessage, kind string) (string, error) {
	text, err := scalar(raw)
	if err != nil {
		return "", err
	}
	byLabel, byText := slices.Index(o.labels, text), slices.Index(o.texts, text)
	same, sameLabel := meant(raw, o.labels)
	n, whole := strconv.Atoi(text)
	counted := kind == "index" || kind == "position" || kind == "" && strings.IndexByte("-0123456789", raw[0]) >= 0
	if kind == "position" {
		n--
	}
	switch {
	case counted && whole == nil && kind == "" && byLabel >= 0 && byLabel != n:
		return "", fmt.Errorf("%s is a label, and may be the number of an option: write letter:, index: or position: before the column", text)
	case counted && (whole != nil || n < 0 || n >= len(o.labels)):
		return "", fmt.Errorf("%.60s is not the number of one of %d options: %w", text, len(o.labels), errCount)
	case counted:
		return o.labels[n], nil
	case kind == "text":
		byLabel = -1
	case kind == "letter":
		byText = -1
	}
	switch {
	case byLabel >= 0 && byText >= 0 && byLabel != byText:
		return "", fmt.Errorf("%.60q is the label of one option and the text of another: write letter: or text: before the column", text)
	case byLabel >= 0:
		return text, nil
	case byText >= 0 && slices.Index(o.texts[byText+1:], text) >= 0:
		return "", fmt.Errorf("%.60q is the text of two options", text)
	case byText >= 0:
		return o.labels[byText], nil
	case kind == "" && sameLabel:
		return same, nil
	case whole == nil:
		return "", fmt.Errorf("%q is neither a label nor the text of an option: %w", text, errCount)
	}
	return "", fmt.Errorf("%.60q is neither a label nor the text of an option: they are %s", text, quotedList(o.labels))
}

// opened is a cell that holds a list or an object: as it is, or in a text as JSON or
// as a Python literal, which is how CSV files have them.
func opened(raw json.RawMessage) (json.RawMessage, error) {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return raw, nil
	}
	text = strings.TrimSpace(text)
	if strings.IndexAny(text, "[{(") != 0 {
		return raw, nil
	}
	if json.Valid([]byte(text)) {
		return json.RawMessage(text), nil
	}
	v, err := reply.PythonLiteral(text)
	if err != nil {
		return nil, fmt.Errorf("%.60q is a list neither in JSON nor in Python: write it as JSON", text)
	}
	out, err := json.Marshal(v)
	return out, err
}

// texts is a cell as a list of texts; numbers in it are their text.
func texts(raw json.RawMessage) ([]string, error) {
	raw, err := opened(raw)
	if err != nil {
		return nil, err
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return nil, fmt.Errorf("want a list, not %.60s", compact(raw))
	}
	out := make([]string, len(list))
	for i, member := range list {
		if out[i], err = scalar(member); err != nil {
			return nil, fmt.Errorf("member %d of the list: %w", i+1, err)
		}
	}
	return out, nil
}

// scalar is a text, a number or a truth value as a text.
func scalar(raw json.RawMessage) (string, error) {
	switch raw = value(raw); {
	case raw == nil:
		return "", errors.New("it is null")
	case raw[0] == '[' || raw[0] == '{':
		return "", fmt.Errorf("want a text or a number, not %.60s", compact(raw))
	}
	return plain(raw), nil
}
