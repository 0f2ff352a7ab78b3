package sim

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"noema/kernel/task/booking"
	"noema/methods"
)

// simLedger is what the model makes of the results that it sees.
type simLedger struct {
	have      []booking.Reservation // that are not cancelled, as they were made
	state     map[string]string
	cancelled map[string]bool
}

func (e errand) ledger() simLedger {
	l := simLedger{state: map[string]string{}, cancelled: map[string]bool{}}
	var made []booking.Reservation
	for _, d := range e.done {
		var r struct {
			booking.Reservation
			Paid      []string
			Cancelled string
		}
		if d.failed || json.Unmarshal([]byte(d.result), &r) != nil {
			continue
		}
		switch d.tool {
		case "hold":
			made = append(made, r.Reservation)
			l.state[r.ID] = "held"
		case "book":
			l.state[r.ID] = "booked"
		case "pay":
			for _, id := range r.Paid {
				l.state[id] = "paid"
			}
		case "cancel":
			l.cancelled[r.Cancelled] = true
		}
	}
	for _, r := range made {
		if !l.cancelled[r.ID] {
			l.have = append(l.have, r)
		}
	}
	return l
}

// in finds the reservation in one of the offers, if they are known.
func (l simLedger) in(offers any) (booking.Reservation, bool) {
	ids, _ := offers.([]string)
	i := slices.IndexFunc(l.have, func(r booking.Reservation) bool { return slices.Contains(ids, r.Offer) })
	if i < 0 {
		return booking.Reservation{}, false
	}
	return l.have[i], true
}

// offersOf lists the ids in a result of search.
func offersOf(result string) []string {
	var found struct{ Offers []booking.Offer }
	_ = json.Unmarshal([]byte(result), &found) // what is not a result has no offers
	ids := []string{}
	for _, o := range found.Offers {
		ids = append(ids, o.ID)
	}
	return ids
}

// namedOffers are the offers of an argument: ids, or a result of search.
func namedOffers(raw json.RawMessage) []string {
	var ids []string
	if json.Unmarshal(raw, &ids) == nil {
		return ids
	}
	return offersOf(string(raw))
}

// bookInTurns is the next turn of a conversation: the first call that remains.
func bookInTurns(p prompt, n noise) (work, bool) {
	e, ok := readErrand(p, n)
	if !ok {
		return work{}, false
	}
	e.done = turnsSoFar(p.after)
	calls, total := e.remaining(n, func(int) any { return nil })
	if len(calls) == 0 || demanded(p.after) {
		return work{after: "That is all.", solution: solution{value: fmt.Sprint(total)}}, true
	}
	return work{next: &calls[0]}, true
}

// turnsSoFar are the calls of a conversation in turns with what was observed.
func turnsSoFar(after []methods.Message) (done []deed) {
	for i, m := range after {
		var turn struct {
			Action struct {
				Tool string
				Args map[string]json.RawMessage
			}
		}
		if m.Role != methods.Assistant || i+1 == len(after) || json.Unmarshal([]byte(m.Content), &turn) != nil || turn.Action.Tool == "" {
			continue
		}
		said := turn.Action
		seen, _ := strings.CutPrefix(after[i+1].Content, "Observation: ")
		text, failed := strings.CutPrefix(seen, "error: ")
		done = append(done, deed{said.Tool, said.Args, text, failed})
	}
	return done
}

var resultLine = regexp.MustCompile(`^\$\d+ = (\w+)\((.*?)\): (.*)$`)

// callsSoFar are the calls of earlier plans, as the lines of results have them.
// References are filled in from the results that they name.
func callsSoFar(results string) (done []deed) {
	known := map[string]string{}
	for line := range strings.Lines(results) {
		m := resultLine.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			continue
		}
		args := map[string]json.RawMessage{}
		if json.Unmarshal([]byte(m[2]), &args) != nil {
			continue
		}
		for key, raw := range args {
			if result, ok := known[strings.Trim(string(raw), `"`)]; ok && json.Valid([]byte(result)) {
				args[key] = json.RawMessage(result)
			}
		}
		text, failed := strings.CutPrefix(m[3], "error: ")
		failed = failed || strings.HasPrefix(text, "not run:")
		known[line[:strings.Index(line, " ")]] = text
		done = append(done, deed{m[1], args, text, failed})
	}
	return done
}

// plannedErrand plans what remains as calls that refer to each other.
func plannedErrand(p prompt, n noise) ([]toolUse, bool) {
	e, ok := readErrand(p, n)
	if !ok {
		return nil, false
	}
	results, _, _ := section(p.text, "results")
	e.done = callsSoFar(results)
	calls, _ := e.remaining(n, callRef)
	return calls, true
}

// joinErrand answers from the results, or asks for a plan of what remains.
func joinErrand(p prompt, n noise) (string, bool) {
	e, ok := misreadErrand(p, n)
	results, rest, _ := section(p.text, "results")
	e.done = callsSoFar(results)
	if !ok || !slices.ContainsFunc(e.done, func(d deed) bool { return d.tool == "hold" }) {
		return "", false
	}
	calls, total := e.remaining(n, callRef)
	if len(calls) > 0 && strings.Contains(rest, `{"replan"`) {
		return `{"replan": ` + plainJSON("still to do: "+calls[0].tool) + `}`, true
	}
	return fmt.Sprintf(`{"answer": %d}`, total), true
}
