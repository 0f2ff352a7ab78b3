package sim

import (
	"encoding/json"
	"slices"
	"strings"

	"noema/kernel/task/booking"
)

// errand is a request for bookings and what was done for it so far.
type errand struct {
	wish booking.Wish
	done []deed
}

// deed is a call of a tool with what came of it.
type deed struct {
	tool   string
	args   map[string]json.RawMessage
	result string
	failed bool
}

// readErrand reads the request of a prompt that offers tools for booking.
func readErrand(p prompt, n noise) (errand, bool) {
	if !hasTools(p, "hold", "book", "pay", "cancel") {
		return errand{}, false
	}
	return misreadErrand(p, n)
}

// misreadErrand reads a request. Each item may be misread: another number of seats,
// another day, or its conditions lost.
func misreadErrand(p prompt, n noise) (errand, bool) {
	query, _ := p.question()
	wish, err := booking.ReadWish(query)
	if err != nil {
		return errand{}, false
	}
	for i := range wish.Items {
		if item := &wish.Items[i]; n.errs(request, query, i) {
			switch n.below(3, request, 0, query, i) {
			case 0:
				item.Seats = item.Seats%4 + 1
			case 1:
				item.Day = otherDay(item.Day)
			default:
				item.Under, item.Part, item.Or = 0, "", ""
			}
		}
	}
	return errand{wish: wish}, true
}

func otherDay(day string) string {
	if day == "Saturday" {
		return "Sunday"
	}
	return "Saturday"
}

// planErrand plans for AoT: all holds before the first booking, so that nothing is
// booked before everything is known to be there, the payments one after the other,
// and an old reservation given up last. Cancelling a hold undoes all that is made
// of it. The slip that plans have beside misread items is a hold that does not say
// how it is undone.
func planErrand(p prompt, n noise) (string, bool) {
	e, ok := readErrand(p, n)
	if !ok {
		return "", false
	}
	d := newDraft()
	var holds, prices, last []ref
	for i, item := range e.wish.Items {
		var offers any = d.effect("search", item.Search(), nil)
		if item.Or != "" {
			other := d.effect("search", item.Instead().Search(), nil)
			offers = d.decide("union", map[string]any{"lists": []ref{d.ids(offers), d.ids(other)}})
		}
		hold := d.effect("hold", map[string]any{"offers": offers, "seats": item.Seats}, nil)
		d.at(hold).Compensate = nil
		if !n.errs(write, i) {
			d.at(hold).Compensate = map[string]any{"name": "cancel", "input": map[string]any{"reservation": hold}}
		}
		holds = append(holds, hold)
	}
	for _, hold := range holds {
		prices = append(prices, d.decide("field", map[string]any{"of": hold, "path": "price"}))
	}
	var books []ref
	for _, hold := range holds {
		books = append(books, d.effect("book", map[string]any{"reservation": hold}, holds))
	}
	for _, b := range books {
		last = []ref{d.effect("pay", map[string]any{"reservations": []ref{b}}, append(slices.Clone(books), last...))}
	}
	if e.wish.Swap != "" {
		last = []ref{d.effect("cancel", map[string]any{"reservation": e.wish.Swap}, last)}
	}
	return d.plan(d.decide("sum", map[string]any{"values": prices}), last...), true
}

// effect adds a tool atom that leaves nothing to undo, after others.
func (d *draft) effect(name string, input map[string]any, after []ref) ref {
	r := d.tool(name, input)
	d.at(r).Compensate = map[string]any{"name": "none"}
	for _, before := range after {
		d.at(r).after(string(before))
	}
	return r
}

// ids are the offers' ids of a search.
func (d *draft) ids(search any) ref {
	offers := d.decide("field", map[string]any{"of": search, "path": "offers"})
	return d.decide("field", map[string]any{"of": offers, "path": "offer"})
}

// todo lists calls that remain. In a plan they refer to each other's results: ref
// writes that of the call with an id, from 1.
type todo struct {
	calls []toolUse
	ref   func(id int) any
}

func (t *todo) add(thought, tool string, args map[string]any) any {
	t.calls = append(t.calls, toolUse{thought, tool, args})
	return t.ref(len(t.calls))
}

// remaining are the calls that are still needed, as far as they can be planned
// before their results are known. Without any, the errand is done, and total is
// what to answer.
//
// Once something is impossible, what was taken is given back. Each reservation
// that stands open may be overlooked then.
func (e errand) remaining(n noise, ref func(id int) any) (calls []toolUse, total int) {
	l, t := e.ledger(), &todo{ref: ref}
	if e.impossible() {
		for _, r := range l.have {
			if !n.errs(judge, r.ID) {
				t.add("It cannot be had as a whole: give this back.", "cancel", map[string]any{"reservation": r.ID})
			}
		}
		return t.calls, 0
	}
	var due []any
	for _, id := range e.holds(l, t) {
		if text, known := id.(string); !known || l.state[text] != "booked" && l.state[text] != "paid" {
			id = t.add("Book it.", "book", map[string]any{"reservation": id})
		}
		if text, known := id.(string); !known || l.state[text] != "paid" {
			due = append(due, id)
		}
	}
	if len(due) > 0 {
		t.add("Pay.", "pay", map[string]any{"reservations": due})
	}
	if len(t.calls) == 0 && e.wish.Swap != "" && !l.cancelled[e.wish.Swap] {
		t.add("Give the old one up.", "cancel", map[string]any{"reservation": e.wish.Swap})
	}
	for _, r := range l.have {
		if total += r.Price; n.errs(compute, total) {
			total++
		}
	}
	return t.calls, total
}

// holds are the reservations of the items: those in sight, or calls that make
// them.
func (e errand) holds(l simLedger, t *todo) []any {
	offers := make([]any, len(e.wish.Items))
	for i, item := range e.wish.Items {
		item = e.current(item)
		if result, ok := e.succeeded("search", item.Search()); ok {
			offers[i] = offersOf(result)
		} else {
			offers[i] = t.add("See what there is.", "search", item.Search())
		}
	}
	holds := make([]any, len(e.wish.Items))
	for i, item := range e.wish.Items {
		if r, ok := l.in(offers[i]); ok {
			holds[i] = r.ID
			continue
		}
		holds[i] = t.add("Hold it.", "hold", map[string]any{"offers": offers[i], "seats": item.Seats})
	}
	return holds
}

// current is the item, or what stands instead of it once that was found full.
func (e errand) current(item booking.Item) booking.Item {
	if item.Or == "" {
		return item
	}
	result, ok := e.succeeded("search", item.Search())
	if ok && e.full(offersOf(result)) {
		return item.Instead()
	}
	return item
}

// impossible reports whether the money does not do, or an item is full and nothing
// stands instead of it.
func (e errand) impossible() bool {
	for _, d := range e.done {
		if d.failed && (strings.Contains(d.result, "not enough money") || d.tool == "search" && strings.Contains(d.result, " fits")) {
			return true
		}
	}
	for _, item := range e.wish.Items {
		if result, ok := e.succeeded("search", e.current(item).Search()); ok && e.full(offersOf(result)) {
			return true
		}
	}
	return false
}

// full reports whether holding seats in these offers has failed for want of seats.
func (e errand) full(offers []string) bool {
	return slices.ContainsFunc(e.done, func(d deed) bool {
		return d.tool == "hold" && d.failed && strings.Contains(d.result, "full:") && slices.Equal(namedOffers(d.args["offers"]), offers)
	})
}

// succeeded is the result of a call with these arguments.
func (e errand) succeeded(tool string, args map[string]any) (string, bool) {
	want := plainJSON(args)
	for _, d := range e.done {
		if d.tool == tool && !d.failed && plainJSON(d.args) == want {
			return d.result, true
		}
	}
	return "", false
}
