package cafes

import (
	"fmt"
	"slices"
)

const dayLength = 24 * 60

func (s *shelf) openItems(args struct{ Day, From, To string }) (any, error) {
	from, err := timeOfDay("from", args.From)
	if err != nil {
		return nil, err
	}
	to := from
	if args.To != "" {
		if to, err = timeOfDay("to", args.To); err != nil {
			return nil, err
		}
		if to <= from {
			to += dayLength
		}
	}
	before := days()[(slices.Index(days(), args.Day)+6)%7]
	items := []int{}
	for i, values := range s.values {
		if openDuring(values["hours."+args.Day], from, to) || openDuring(values["hours."+before], from+dayLength, to+dayLength) {
			items = append(items, i+1)
		}
	}
	return items, nil
}

// openDuring reports whether a day's hours, such as "18:00-2:00", hold all of a
// time, in minutes after the midnight that the day begins with. What is not a span
// of time is not open.
func openDuring(hours any, from, to int) bool {
	text, _ := hours.(string)
	open, shut, err := Span(text)
	return err == nil && open <= from && to <= shut && (from < to || from < shut)
}

func timeOfDay(name, text string) (int, error) {
	minutes, n := 0, 0
	if tokens := tokenize(text); len(tokens) > 0 {
		if minutes, n = readTime(tokens); n < len(tokens) {
			n = 0
		}
	}
	if n == 0 {
		return 0, fmt.Errorf("%s %.40q is not a time of day: write it as in \"7:30\" or \"19:00\"", name, text)
	}
	return minutes, nil
}
