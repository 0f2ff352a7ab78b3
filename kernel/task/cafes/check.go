package cafes

import (
	"fmt"
	"strconv"
	"strings"

	"noema/kernel/task/internal/tools"
)

// tester decides whether an item, a cafe as decoded from a problem's JSON, satisfies c. It is
// the authority on what requests mean: it reads the condition and the shown data, and shares
// no code with what writes or reads requests.
func tester(c Condition, friends map[string][]string) func(item map[string]any) bool {
	near := Nearby(friends, c.Friend, c.Hops)
	return func(item map[string]any) bool {
		switch c.Kind {
		case Attr:
			return equals(lookup(item, c.Path), c.Want)
		case Hours:
			return covers(item, c)
		case Review:
			return anyReview(item, func(_, text string) bool { return Mentions(text, c.Pattern) })
		}
		return anyReview(item, func(author, text string) bool { return near[author] && Mentions(text, c.Pattern) })
	}
}

// lookup follows a dotted path; nil if it leads nowhere.
func lookup(item map[string]any, path string) any {
	var at any = item
	for key := range strings.SplitSeq(path, ".") {
		dict, ok := at.(map[string]any)
		if !ok {
			return nil
		}
		at = dict[key]
	}
	return at
}

// equals compares a JSON value with a wanted one. A missing value is false.
func equals(have, want any) bool {
	switch want := want.(type) {
	case bool:
		have, _ := have.(bool)
		return have == want
	case int:
		have, ok := have.(float64)
		return ok && have == float64(want)
	case string:
		have, ok := have.(string)
		return ok && have == want
	}
	return false
}

// covers reports whether the cafe is open during all of the wanted time.
func covers(item map[string]any, c Condition) bool {
	text, _ := lookup(item, "hours."+c.Day).(string) // none is closed
	open, shut, err := Span(text)
	return err == nil && open <= c.From && c.To <= shut
}

// Span reads opening hours such as "7:00-19:00" as minutes after midnight. A closing time at or
// before the opening time is on the next day, and comes as over 24 hours.
func Span(text string) (open, shut int, err error) {
	from, to, _ := strings.Cut(text, "-")
	for _, end := range []struct {
		text string
		into *int
	}{{from, &open}, {to, &shut}} {
		h, m, _ := strings.Cut(end.text, ":")
		hour, err1 := strconv.Atoi(h)
		minute, err2 := strconv.Atoi(m)
		if err1 != nil || err2 != nil {
			return 0, 0, fmt.Errorf("%q is not a time span such as \"7:00-19:00\"", text)
		}
		*end.into = 60*hour + minute
	}
	if shut <= open {
		shut += 24 * 60
	}
	return open, shut, nil
}

func anyReview(item map[string]any, ok func(author, text string) bool) bool {
	reviews, _ := item["reviews"].([]any)
	for _, r := range reviews {
		fields, _ := r.(map[string]any)
		author, _ := fields["author"].(string)
		text, _ := fields["text"].(string)
		if ok(author, text) {
			return true
		}
	}
	return false
}

// Mentions reports whether pattern occurs in text as whole words, in any case.
func Mentions(text, pattern string) bool { return tools.Mentions(text, pattern) >= 0 }

// Nearby is the set of people within the given number of hops of name, name
// not among them.
func Nearby(friends map[string][]string, name string, hops int) map[string]bool {
	near := map[string]bool{}
	edge := []string{name}
	for range hops {
		var next []string
		for _, from := range edge {
			for _, f := range friends[from] {
				if f != name && !near[f] {
					near[f] = true
					next = append(next, f)
				}
			}
		}
		edge = next
	}
	return near
}
