package cafes

import (
	"encoding/json"
	"testing"
)

func TestHolds(t *testing.T) {
	var item map[string]any
	if err := json.Unmarshal([]byte(`{
		"attributes": {"HasTV": false, "GoodForKids": true, "WiFi": "free", "RestaurantsPriceRange2": 2, "Ambience": {"hipster": true}},
		"hours": {"Monday": "7:00-19:00", "Friday": "18:00-2:00", "Saturday": "8:30-0:00"},
		"reviews": [{"author": "Ann", "text": "Latte ART here. Jazzy."}, {"author": "Cem", "text": "the quiche"}, {"author": "Kim", "text": "chai"}]
	}`), &item); err != nil {
		t.Fatal(err)
	}
	friends := map[string][]string{"Kim": {"Ann"}, "Ann": {"Kim", "Cem"}, "Cem": {"Ann"}}
	attr := func(path string, want any) Condition {
		return Condition{Kind: Attr, Path: "attributes." + path, Want: want}
	}
	hours := func(day string, from, to int) Condition {
		return Condition{Kind: Hours, Day: day, From: from, To: to}
	}
	social := func(hops int, pattern string) Condition {
		return Condition{Kind: Social, Friend: "Kim", Hops: hops, Pattern: pattern}
	}
	for _, test := range []struct {
		c    Condition
		want bool
	}{
		{attr("HasTV", false), true},
		{attr("HasTV", true), false},
		{attr("DriveThru", false), true}, // missing counts as false
		{attr("Ambience.hipster", true), true},
		{attr("Ambience.romantic", false), true},
		{attr("WiFi.free", true), false},
		{attr("WiFi", "free"), true},
		{attr("WiFi", "no"), false},
		{attr("RestaurantsPriceRange2", 2), true},
		{attr("RestaurantsPriceRange2", "2"), false},
		{hours("Monday", 7*60, 19*60), true},
		{hours("Monday", 7*60-1, 19*60), false},
		{hours("Monday", 7*60, 19*60+1), false},
		{hours("Sunday", 600, 660), false},
		{hours("Friday", 22*60, 24*60), true},
		{hours("Friday", 17*60, 24*60), false},
		{hours("Saturday", 23*60, 24*60), true},
		{Condition{Kind: Review, Pattern: "latte art"}, true},
		{Condition{Kind: Review, Pattern: "jazz"}, false}, // part of a word
		{Condition{Kind: Review, Pattern: "quiche"}, true},
		{Condition{Kind: Review, Pattern: ""}, false},
		{social(1, "latte art"), true},
		{social(1, "quiche"), false},
		{social(2, "quiche"), true},
		{social(2, "chai"), false}, // Kim is not near Kim
	} {
		if got := tester(test.c, friends)(item); got != test.want {
			t.Errorf("%v: %v; want %v", test.c, got, test.want)
		}
	}
	item["hours"].(map[string]any)["Monday"] = "always"
	if tester(hours("Monday", 60, 120), friends)(item) {
		t.Error("hours that are not a span of time are open")
	}
}

// holds decides whether item satisfies a tree.
func (n Node) holds(item map[string]any, friends map[string][]string) bool {
	switch n.Op {
	case "":
		return tester(n.Leaf, friends)(item)
	case Not:
		return !n.Args[0].holds(item, friends)
	}
	for _, a := range n.Args {
		if a.holds(item, friends) == (n.Op == Or) {
			return n.Op == Or
		}
	}
	return n.Op == And
}
