package booking

import "fmt"

// End is the one right end of a request.
type End struct {
	Bought []Place // what is new; none if nothing should be taken
	Left   []Place // all that the traveller has then
	Total  int     // price of what is new
	Short  bool    // nothing is taken because the money does not do
}

// Solve finds the right end by looking at every offer for every item, and fails
// if two ends are right, or if an item fits no offer at all.
func Solve(offers []Offer, w Wish, a Account) (End, error) {
	var end End
	found := true
	for _, item := range w.Items {
		var there, right []Offer
		fits := false
		for _, o := range offers {
			if o.City == item.City && o.Day == item.Day {
				there, fits = append(there, o), fits || item.fits(o)
			}
		}
		for _, o := range there {
			if item.isRight(o, there) {
				right = append(right, o)
			}
		}
		if !fits {
			return End{}, fmt.Errorf("solve: no offer fits %+v", item)
		}
		if len(right) > 1 {
			return End{}, fmt.Errorf("solve: %s and %s are equally right for %+v", right[0].ID, right[1].ID, item)
		}
		if found = found && len(right) == 1; found {
			end.Bought = append(end.Bought, Place{right[0].ID, item.Seats})
			end.Total += right[0].Price * item.Seats
		}
	}
	kept := []Place{}
	for _, r := range a.Mine {
		kept = append(kept, Place{r.Offer, r.Seats})
	}
	end.Short = found && end.Total > a.Money
	if !found || end.Short {
		return End{Left: kept, Short: end.Short}, nil
	}
	end.Left = end.Bought
	if w.Swap == "" {
		end.Left = append(kept, end.Bought...)
	}
	return end, nil
}

// isRight reports whether an offer is what an item asks for: it fits and has the
// seats, and no offer that comes before it could be had.
func (i Item) isRight(o Offer, offers []Offer) bool {
	if i.Or != "" && o.Kind == i.Or {
		for _, first := range offers {
			if i.without().isRight(first, offers) {
				return false
			}
		}
		return i.Instead().isRight(o, offers)
	}
	if !i.fits(o) || o.seats < i.Seats {
		return false
	}
	for _, other := range offers {
		if i.fits(other) && other.Price < o.Price && (i.Only || other.seats >= i.Seats) {
			return false
		}
	}
	return true
}

// without is the item with nothing instead of it.
func (i Item) without() Item { i.Or = ""; return i }

// Instead is the item that stands for one that is not to be had.
func (i Item) Instead() Item { return Item{Kind: i.Or, City: i.City, Day: i.Day, Seats: i.Seats} }
