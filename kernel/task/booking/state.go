package booking

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The states of a reservation, in their order.
const (
	held   = "held"
	booked = "booked"
	paid   = "paid"
)

// Reservation is seats in an offer that a traveller has, or had.
type Reservation struct {
	ID    string `json:"id"`
	Offer string `json:"offer"`
	Seats int    `json:"seats"`
	Price int    `json:"price"` // of all seats
	State string `json:"state,omitempty"`
}

// state is what one trial has done so far. Its methods are called one at a time;
// those that return an error have changed nothing.
type state struct {
	*world
	money     int
	taken     map[string]int         // seats by offer
	have      map[string]Reservation // by id
	cancelled map[string]bool
}

func newState(w *world, a Account) *state {
	s := &state{world: w, money: a.Money, taken: map[string]int{}, have: map[string]Reservation{}, cancelled: map[string]bool{}}
	for _, r := range a.Mine {
		r.State = paid
		s.have[r.ID] = r
	}
	return s
}

// hold takes seats in the first of the offers that has as many.
func (s *state) hold(id string, offers []string, seats int) (Reservation, error) {
	for _, offer := range offers {
		if s.byID[offer] == nil {
			return Reservation{}, fmt.Errorf("unknown offer %.40q: search names them", offer)
		}
	}
	for _, offer := range offers {
		if o := s.byID[offer]; o.seats-s.taken[offer] >= seats {
			r := Reservation{ID: id, Offer: offer, Seats: seats, Price: o.Price * seats, State: held}
			s.add(r)
			return r, nil
		}
	}
	return Reservation{}, fmt.Errorf("full: no %s has %d seats left", strings.Join(offers, " or "), seats)
}

// add is the effect of hold.
func (s *state) add(r Reservation) {
	if _, known := s.have[r.ID]; !known && !s.cancelled[r.ID] {
		s.taken[r.Offer] += r.Seats
		s.have[r.ID] = r
	}
}

// mine finds a reservation.
func (s *state) mine(id string) (Reservation, error) {
	r, ok := s.have[id]
	switch {
	case s.cancelled[id]:
		return r, fmt.Errorf("the reservation %q was cancelled", id)
	case !ok:
		return r, fmt.Errorf("you have no reservation %.40q: account lists yours", id)
	}
	return r, nil
}

// book makes a hold a booking.
func (s *state) book(id string) (Reservation, error) {
	r, err := s.mine(id)
	if err == nil && r.State != held {
		err = fmt.Errorf("the reservation %q is %s already", id, r.State)
	}
	if err != nil {
		return Reservation{}, err
	}
	r.State = booked
	s.have[id] = r
	return r, nil
}

// pay takes the price of bookings, of all of them or of none.
func (s *state) pay(ids []string) (total int, err error) {
	for i, id := range ids {
		r, err := s.mine(id)
		switch {
		case err != nil:
			return 0, err
		case slices.Contains(ids[:i], id):
			return 0, fmt.Errorf("the reservation %q is named twice", id)
		case r.State == held:
			return 0, fmt.Errorf("the reservation %q is held and not booked: book it first", id)
		case r.State == paid:
			return 0, fmt.Errorf("the reservation %q is paid already", id)
		}
		total += r.Price
	}
	if len(ids) == 0 {
		return 0, errors.New("nothing to pay: name a booking")
	}
	if total > s.money {
		return 0, fmt.Errorf("not enough money: it costs %d, the account has %d", total, s.money)
	}
	s.settle(ids, total)
	return total, nil
}

// settle is the effect of pay.
func (s *state) settle(ids []string, total int) {
	s.money -= total
	for _, id := range ids {
		r := s.have[id]
		r.State = paid
		s.have[id] = r
	}
}

// cancel releases the seats of a reservation and gives its price back if it was
// paid.
func (s *state) cancel(id string) (refund int, err error) {
	r, err := s.mine(id)
	if err != nil {
		return 0, err
	}
	if r.State == paid {
		refund = r.Price
	}
	s.release(r, refund)
	return refund, nil
}

// release is the effect of cancel.
func (s *state) release(r Reservation, refund int) {
	s.money += refund
	s.taken[r.Offer] -= r.Seats
	delete(s.have, r.ID)
	s.cancelled[r.ID] = true
}

// restore does what a result says was done. Each effect happens once, however
// often it is restored and in whatever order the results come.
func (s *state) restore(done result) {
	if done.State != "" { // of hold or book
		s.add(done.Reservation)
		if r, ok := s.have[done.ID]; ok && r.State == held {
			r.State = done.State
			s.have[done.ID] = r
		}
	}
	if len(done.Paid) > 0 && s.have[done.Paid[0]].State == booked {
		s.settle(done.Paid, done.Total)
	}
	if r, ok := s.have[done.Cancelled]; ok {
		s.release(r, done.Refund)
	}
}

// list is what the traveller has, by id.
func (s *state) list() []Reservation {
	list := []Reservation{}
	for _, id := range slices.Sorted(maps.Keys(s.have)) {
		list = append(list, s.have[id])
	}
	return list
}
