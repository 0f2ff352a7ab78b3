package booking

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Wish is a request: all of its items, or nothing.
type Wish struct {
	Items []Item
	Swap  string // reservation to give up once the items are paid; empty for none
}

// Item is seats in the cheapest offer that fits and has them.
type Item struct {
	Kind, City, Day string
	Part            string // of the day; empty for any
	Under           int    // limit of the price of a seat, exclusive; 0 for none
	Seats           int
	Only            bool   // the cheapest that fits or none, also if it is full
	Or              string // kind to take there that day, cheapest first, if there is none; empty for none
}

// Search is the arguments with which the tool search finds the offers for it.
func (i Item) Search() map[string]any {
	args := map[string]any{"kind": i.Kind, "city": i.City, "day": i.Day}
	if i.Part != "" {
		args["part"] = i.Part
	}
	if i.Under > 0 {
		args["under"] = i.Under
	}
	if i.Only {
		args["limit"] = 1
	}
	return args
}

var counts = [...]string{"one", "two", "three", "four"}

// nouns are what people call the kinds, and their seats.
var nouns = map[string]struct{ place, name string }{
	"train": {"seat%s on", "train to"}, "hotel": {"bed%s in", "hotel in"},
	"museum": {"ticket%s for", "museum visit in"}, "concert": {"ticket%s for", "concert in"},
}

// say puts a wish into words.
func say(w Wish, rng *rand.Rand) string {
	texts := make([]string, len(w.Items))
	for i, item := range w.Items {
		texts[i] = item.say(rng)
	}
	list := strings.Join(texts, pick(rng, []string{"; and ", "; as well as ", "; also "}))
	const answer = " Answer with the price of all that was newly booked, 0 if nothing was."
	if w.Swap != "" {
		return fmt.Sprintf(pick(rng, []string{
			"I have the reservation %s. I would rather have %s. Cancel the old one once the new one is paid; if the new one cannot be had, keep what I have.",
			"Please swap my reservation %s for %s. If that does not work, leave everything as it is.",
		}), w.Swap, list) + answer
	}
	return fmt.Sprintf(pick(rng, []string{
		"Book %s. If any of it cannot be had, take nothing.",
		"Please book and pay %s. All of it or nothing: leave no hold and no booking behind otherwise.",
		"We need %s. Should something be full, or our money not do, we want none of it.",
	}), list) + answer
}

func (i Item) say(rng *rand.Rand) string {
	var b strings.Builder
	n, part, plural := nouns[i.Kind], "", "s"
	if i.Part != "" {
		part = i.Part + " "
	}
	if i.Seats == 1 {
		plural = ""
	}
	fmt.Fprintf(&b, "%s %s the cheapest %s%s %s on %s", counts[i.Seats-1], fmt.Sprintf(n.place, plural), part, n.name, i.City, i.Day)
	if i.Under > 0 {
		fmt.Fprintf(&b, pick(rng, []string{" under %d", " for less than %d"}), i.Under)
	}
	if i.Only {
		b.WriteString(" (that very one)")
	} else {
		b.WriteString(pick(rng, []string{" with room for us", " that has room"}))
	}
	if i.Or != "" {
		fmt.Fprintf(&b, ", or, if there is none, the cheapest %s there that day that has room", strings.Fields(nouns[i.Or].name)[0])
	}
	return b.String()
}

var (
	itemPattern = regexp.MustCompile(`(one|two|three|four) (?:seats? on|beds? in|tickets? for) the cheapest (?:(morning|evening) )?(train|hotel|museum|concert)(?: visit)? (?:to|in) (\w+) on (\w+)(?: (?:under|for less than) (\d{1,6}))?( \(that very one\))?(?: that has room| with room for us)?(?:, or, if there is none, the cheapest (train|hotel|museum|concert) )?`)
	swapPattern = regexp.MustCompile(`reservation (R-[0-9a-f]{16})`)
)

// ReadWish reads a request in the words of this task, and no others.
func ReadWish(text string) (Wish, error) {
	var w Wish
	if !strings.Contains(text, " the cheapest ") { // the pattern is slow on a long text
		return w, fmt.Errorf("read request: nothing to book in %.80q", text)
	}
	for _, m := range itemPattern.FindAllStringSubmatch(text, -1) {
		item := Item{Kind: m[3], City: m[4], Day: m[5], Part: m[2], Seats: slices.Index(counts[:], m[1]) + 1, Only: m[7] != "", Or: m[8]}
		item.Under, _ = strconv.Atoi(m[6]) // digits or nothing
		w.Items = append(w.Items, item)
	}
	if len(w.Items) == 0 {
		return w, fmt.Errorf("read request: nothing to book in %.80q", text)
	}
	if m := swapPattern.FindStringSubmatch(text); m != nil {
		w.Swap = m[1]
	}
	return w, nil
}
