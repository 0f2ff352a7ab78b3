package generalanot

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// fieldType is our name of a type of the other forms.
func fieldType(name string) string {
	switch strings.ToLower(name) {
	case "enum", "categorical", "category", "choice":
		return enumType
	case "boolean", "bool":
		return booleanType
	case "integer", "int":
		return integerType
	case "number", "float":
		return numberType
	case "string", "str", "text":
		return stringType
	}
	return name
}

// field converts one extraction field; its descriptions go into the prompt.
func (c *converter) field(o object, at, name string) {
	f := ExtractionField{Name: name, Type: fieldType(c.text(o, at, "field_type", "type"))}
	about := []string{c.text(o, at, "description"), c.text(o, at, "extraction_hint", "hint", "notes")}
	if m := o.find("values", "enum", "options"); m != nil && json.Unmarshal(m.raw, &f.Values) != nil {
		labels, err := readObject(m.raw)
		if err != nil {
			c.fault(join(at, m.key), "want a list of labels, or an object of labels and what they mean")
		}
		for _, l := range labels {
			f.Values = append(f.Values, l.key)
			var means string
			if err := json.Unmarshal(l.raw, &means); err != nil {
				c.fault(join(join(at, m.key), l.key), "want a text that says what the label means")
			}
			about = append(about, l.key+": "+means)
		}
	}
	f.typed()
	if f.Type != enumType && len(f.Values) == 0 {
		f.Values = nil
	}
	if c.full("extraction_fields", len(c.Seed.ExtractionFields)) {
		return
	}
	c.Seed.ExtractionFields = append(c.Seed.ExtractionFields, f)
	for _, text := range about {
		if text != "" && !strings.Contains(c.Seed.ExtractionPrompt, text) {
			c.Seed.ExtractionPrompt += fmt.Sprintf("\n%s: %s", name, text)
		}
	}
}

// placeholderOf is our placeholder for one of the other forms; empty if there is none.
func placeholderOf(name string) string {
	switch strings.ToLower(name) {
	case "review_text", "text", "review", "review_content", "content":
		return textPlaceholder
	case "review_date", "date":
		return datePlaceholder
	case "review_stars", "stars", "rating", "review_rating":
		return starsPlaceholder
	case "review_useful", "useful", "useful_votes":
		return usefulPlaceholder
	}
	return ""
}

var (
	foreignPlaceholder = regexp.MustCompile(`\{\{ *([A-Za-z_][A-Za-z0-9_]*) *\}\}|\{([A-Za-z_][A-Za-z0-9_]*)\}`)
	barePlaceholder    = regexp.MustCompile(`\bREVIEW_(TEXT|DATE|STARS|USEFUL)\b`)
)

// prompt maps the placeholders; it shows the review if nothing else does.
func (c *converter) prompt() {
	s := c.Seed
	s.ExtractionPrompt = foreignPlaceholder.ReplaceAllStringFunc(s.ExtractionPrompt, func(p string) string {
		name := strings.Trim(p, "{} ")
		if ours := placeholderOf(name); ours != "" {
			return ours
		}
		return p // validation names it
	})
	if !strings.Contains(s.ExtractionPrompt, textPlaceholder) {
		s.ExtractionPrompt = barePlaceholder.ReplaceAllStringFunc(s.ExtractionPrompt, placeholderOf)
	}
	if len(s.ExtractionFields) > 0 && !strings.Contains(s.ExtractionPrompt, textPlaceholder) {
		c.note("extraction_prompt", "it does not show the review: %s is added at its end", textPlaceholder)
		s.ExtractionPrompt = strings.TrimSpace(s.ExtractionPrompt + "\n\n" + textPlaceholder)
	}
}

// lookup converts a table. The original looks for a key anywhere in the
// field, so that keys become *key*.
func (c *converter) lookup(name, at, field string, table object, other any) {
	if c.full("lookups", len(c.Seed.Lookups)) {
		return
	}
	l := Lookup{Name: name, Field: lookupField(field), Default: other}
	if field == "" {
		c.note(at, "it names no field: %q is read", l.Field)
	} else if l.Field != field {
		c.note(at, "the field %q is read as %q, where the task policy has it: edit field if yours have it elsewhere", field, l.Field)
	}
	for _, e := range table {
		var v any
		if err := json.Unmarshal(e.raw, &v); err != nil || !isScalar(v) {
			c.fault(join(at, e.key), "want a text, a number or a boolean")
			continue
		}
		l.Table = append(l.Table, LookupEntry{"*" + e.key + "*", json.Number(e.raw)})
		if _, isNumber := v.(float64); !isNumber {
			l.Table[len(l.Table)-1].Value = v
		}
	}
	c.Seed.Lookups = append(c.Seed.Lookups, l)
}

func lookupField(field string) string {
	field = strings.TrimPrefix(field, "context.")
	if slices.Contains([]string{"", "restaurant_category", "restaurant_categories", "categories"}, field) {
		return "restaurant.categories"
	}
	if name, ok := strings.CutPrefix(field, "business."); ok { // as the task policy shows the original's data
		return "restaurant." + name
	}
	return field
}

// keywords reads words that a review must have one of.
func (c *converter) keywords(words []string) {
	for _, w := range words {
		w = strings.TrimSpace(strings.Trim(w, "*"))
		if !c.words[w] {
			c.words[w] = true
			c.Seed.FilterKeywords = append(c.Seed.FilterKeywords, w)
		}
	}
	if len(words) > 0 {
		c.note("filter_keywords", "the original finds keywords within words too: run with the option filter=substring to do the same")
	}
}
