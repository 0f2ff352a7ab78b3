package booking

import (
	"encoding/json"
	"errors"
	"fmt"

	"noema/kernel/task/internal/tools"
)

// result is what the tools return. Those that changed something say what.
type result struct {
	Reservation          // of hold and book
	Paid        []string `json:"paid"` // of pay
	Total       int      `json:"total"`
	Cancelled   string   `json:"cancelled"` // of cancel
	Refund      int      `json:"refund"`
}

// The schemas of parameters and results. Where an argument names reservations or
// offers, the whole result of the tool that made them does, too.
const (
	searchIn = `{"type":"object","properties":{"kind":{"enum":["train","hotel","museum","concert"]},"city":{"type":"string"},"day":{"type":"string"},"part":{"enum":["morning","evening"]},"under":{"type":"integer","minimum":1},"limit":{"type":"integer","minimum":1}},"required":["kind","city","day"],"additionalProperties":false}`
	holdIn   = `{"type":"object","properties":{"offers":{"type":["array","object"],"items":{"type":"string"},"minItems":1,"maxItems":50},"seats":{"type":"integer","minimum":1,"maximum":20}},"required":["offers","seats"],"additionalProperties":false}`
	oneIn    = `{"type":"object","properties":{"reservation":{"type":["string","object"]}},"required":["reservation"],"additionalProperties":false}`
	payIn    = `{"type":"object","properties":{"reservations":{"type":"array","items":{"type":["string","object"]},"minItems":1,"maxItems":20}},"required":["reservations"],"additionalProperties":false}`
	noneIn   = `{"type":"object","properties":{},"additionalProperties":false}`

	searchOut  = `{"type":"object","properties":{"offers":{"type":"array","items":{"type":"object"}}},"required":["offers"]}`
	oneOut     = `{"type":"object","properties":{"id":{"type":"string"},"offer":{"type":"string"},"seats":{"type":"integer"},"price":{"type":"integer"},"state":{"type":"string"}},"required":["id","price"]}`
	payOut     = `{"type":"object","properties":{"paid":{"type":"array","items":{"type":"string"}},"total":{"type":"integer"}},"required":["total"]}`
	cancelOut  = `{"type":"object","properties":{"cancelled":{"type":"string"},"refund":{"type":"integer"}}}`
	accountOut = `{"type":"object","properties":{"money":{"type":"integer"},"reservations":{"type":"array","items":{"type":"object"}}}}`
)

// toolList are the tools. All are impure: what they do or say depends on what was
// done before.
func toolList() []tools.Tool[*step] {
	of := func(name, doc, in, out string, run func(*step, json.RawMessage) (any, error)) tools.Tool[*step] {
		return tools.Tool[*step]{Name: name, Description: doc, Parameters: in, Result: out, Run: run, Impure: true}
	}
	return []tools.Tool[*step]{
		of("search", "offers of a kind in a city on a day, the cheapest first, each with the price of a seat; price below under, and at most limit of them. Changes nothing.", searchIn, searchOut, tools.Of(runSearch)),
		of("hold", "holds seats in the first of the offers that has as many left: ids, or the result of search. Only holding tells whether there are seats. Undone by cancel.", holdIn, oneOut, tools.Of(runHold)),
		of("book", "makes a held reservation a booking: its id, or the result of hold. Undone by cancel of the reservation.", oneIn, oneOut, tools.Of(runBook)),
		of("pay", "pays bookings from the account, all or none of them: ids, or results of book. Undone by cancel of the reservations.", payIn, payOut, tools.Of(runPay)),
		of("cancel", "gives up a reservation in any state, with its price refunded if it was paid: its id, or the result of hold or book. Cannot be undone.", oneIn, cancelOut, tools.Of(runCancel)),
		of("account", "the money and the reservations of the traveller. Changes nothing.", noneIn, accountOut, tools.Of(runAccount)),
	}
}

func runSearch(s *step, a struct {
	Kind, City, Day, Part string
	Under, Limit          int
}) (any, error) {
	found := s.search(Item{Kind: a.Kind, City: a.City, Day: a.Day, Part: a.Part, Under: a.Under})
	if len(found) == 0 {
		return nil, fmt.Errorf("no %s in %.40q on %.40q fits", a.Kind, a.City, a.Day)
	}
	if a.Limit > 0 && a.Limit < len(found) {
		found = found[:a.Limit]
	}
	return map[string]any{"offers": found}, nil
}

func runHold(s *step, a struct {
	Offers json.RawMessage
	Seats  int
}) (any, error) {
	var ids []string
	if json.Unmarshal(a.Offers, &ids) != nil {
		var found struct{ Offers []Offer }
		if err := json.Unmarshal(a.Offers, &found); err != nil || len(found.Offers) == 0 {
			return nil, errors.New(`want "offers" as a list of ids or as the result of search`)
		}
		for _, o := range found.Offers {
			ids = append(ids, o.ID)
		}
	}
	return s.hold(s.id, ids, a.Seats)
}

func runBook(s *step, a struct{ Reservation json.RawMessage }) (any, error) {
	id, err := named(a.Reservation)
	if err != nil {
		return nil, err
	}
	return s.book(id)
}

func runPay(s *step, a struct{ Reservations []json.RawMessage }) (any, error) {
	ids := make([]string, len(a.Reservations))
	for i, raw := range a.Reservations {
		var err error
		if ids[i], err = named(raw); err != nil {
			return nil, err
		}
	}
	total, err := s.pay(ids)
	return map[string]any{"paid": ids, "total": total}, err
}

func runCancel(s *step, a struct{ Reservation json.RawMessage }) (any, error) {
	id, err := named(a.Reservation)
	if err != nil {
		return nil, err
	}
	refund, err := s.cancel(id)
	return map[string]any{"cancelled": id, "refund": refund}, err
}

func runAccount(s *step, _ struct{}) (any, error) {
	return map[string]any{"money": s.money, "reservations": s.list()}, nil
}

// named is the id of a reservation, which may be a whole result.
func named(raw json.RawMessage) (id string, err error) {
	if json.Unmarshal(raw, &id) == nil {
		return id, nil
	}
	var r Reservation
	if err := json.Unmarshal(raw, &r); err != nil || r.ID == "" {
		return "", errors.New("want a reservation as its id or as the result of hold or book")
	}
	return r.ID, nil
}
