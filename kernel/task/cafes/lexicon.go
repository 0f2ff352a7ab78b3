package cafes

import (
	"slices"
	"strings"
)

// form is the grammatical role of a phrase.
type form uint8

// The forms, with what turns each into "a cafe that …".
const (
	adjective form = iota // "quiet": also stands before the noun
	predicate             // "good for kids": that is …
	noun                  // "a drive-thru": that has …, with …
	verb                  // "allows dogs": that …
	clause                // "dogs are allowed": where …
)

// entry lists how one attribute value, or one kind of condition with slots
// for its details, is said. The phrases of against say that it does not hold.
type entry struct {
	like    Condition
	say     phrases
	against phrases
}

// phrases are texts by form.
type phrases map[form][]string

func attr(path string, want any, say phrases) entry {
	return entry{like: Condition{Kind: Attr, Path: path, Want: want}, say: say}
}

// flags are the boolean attributes, both ways. What can be said by denying
// the opposite ("without TVs") needs no phrase of its own.
func flags() []entry { return slices.Concat(guests(), fittings(), services()) }

func fittings() []entry {
	return []entry{
		attr("attributes.HasTV", true, phrases{
			noun:   {"TVs", "a TV", "TVs on the walls", "television screens"},
			clause: {"I can watch TV"},
		}),
		attr("attributes.HasTV", false, phrases{
			adjective: {"TV-free", "screen-free"},
		}),
		attr("attributes.OutdoorSeating", true, phrases{
			noun:   {"outdoor seating", "tables outside", "a terrace"},
			clause: {"I can sit outside", "we can sit outdoors"},
		}),
		attr("attributes.OutdoorSeating", false, phrases{
			adjective: {"indoor-only"},
			verb:      {"seats people inside only"},
		}),
		attr("attributes.DriveThru", true, phrases{
			noun:   {"a drive-thru", "a drive-through window"},
			clause: {"I can order from my car"},
		}),
		attr("attributes.BikeParking", true, phrases{
			adjective: {"bike-friendly"},
			noun:      {"bike parking", "a bike rack", "somewhere to park a bicycle"},
			clause:    {"I can lock up my bike"},
		}),
	}
}

func guests() []entry {
	return []entry{
		attr("attributes.GoodForKids", true, phrases{
			adjective: {"kid-friendly", "family-friendly", "child-friendly"},
			predicate: {"good for kids", "suitable for children"},
			verb:      {"welcomes children"},
			clause:    {"children are welcome", "kids are welcome"},
		}),
		attr("attributes.GoodForKids", false, phrases{
			adjective: {"adults-only", "grown-ups-only"},
		}),
		attr("attributes.DogsAllowed", true, phrases{
			adjective: {"dog-friendly"},
			predicate: {"open to dogs"},
			verb:      {"allows dogs", "lets dogs in"},
			clause:    {"dogs are allowed", "I can bring my dog"},
		}),
		attr("attributes.DogsAllowed", false, phrases{
			adjective: {"dog-free"},
			verb:      {"keeps dogs out"},
		}),
		attr("attributes.WheelchairAccessible", true, phrases{
			adjective: {"wheelchair-accessible", "step-free"},
			predicate: {"accessible by wheelchair"},
			clause:    {"a wheelchair gets in"},
		}),
	}
}

func services() []entry {
	return []entry{
		attr("attributes.RestaurantsDelivery", true, phrases{
			noun: {"a delivery service", "home delivery"},
			verb: {"delivers", "brings orders to the door"},
		}),
		attr("attributes.RestaurantsDelivery", false, phrases{
			verb: {"leaves delivery to others"},
		}),
		attr("attributes.RestaurantsReservations", true, phrases{
			noun:   {"table reservations"},
			verb:   {"takes reservations", "lets guests book ahead"},
			clause: {"I can reserve a table"},
		}),
		attr("attributes.RestaurantsReservations", false, phrases{
			adjective: {"walk-in-only"},
		}),
	}
}

// choices are the attributes with a few values.
func choices() []entry { return slices.Concat(comfort(), spending()) }

func comfort() []entry {
	return []entry{
		attr("attributes.WiFi", "free", phrases{
			noun:   {"free WiFi", "complimentary WiFi"},
			clause: {"the WiFi is free"},
		}),
		attr("attributes.WiFi", "paid", phrases{
			noun:   {"paid WiFi", "metered WiFi"},
			clause: {"the WiFi costs extra"},
		}),
		attr("attributes.WiFi", "no", phrases{
			adjective: {"WiFi-free", "offline"},
			noun:      {"no WiFi at all", "no WiFi"},
		}),
		attr("attributes.NoiseLevel", "quiet", phrases{
			adjective: {"quiet", "calm"},
			predicate: {"on the quiet side"},
			clause:    {"it is easy to hear each other"},
		}),
		attr("attributes.NoiseLevel", "average", phrases{
			adjective: {"moderately noisy"},
			predicate: {"of average loudness"},
			noun:      {"an average noise level"},
		}),
		attr("attributes.NoiseLevel", "loud", phrases{
			adjective: {"loud", "noisy"},
			noun:      {"a high noise level"},
		}),
		attr("attributes.NoiseLevel", "very_loud", phrases{
			adjective: {"very loud", "deafening"},
			noun:      {"an extreme noise level"},
		}),
	}
}

func spending() []entry {
	return []entry{
		attr("attributes.Alcohol", "none", phrases{
			adjective: {"alcohol-free", "dry"},
			noun:      {"no alcohol"},
			clause:    {"no alcohol is served"},
		}),
		attr("attributes.Alcohol", "beer_and_wine", phrases{
			noun: {"beer and wine but no spirits", "only beer and wine for drinkers"},
			verb: {"serves beer and wine", "pours wine and beer"},
		}),
		attr("attributes.Alcohol", "full_bar", phrases{
			noun: {"a full bar", "a complete bar"},
			verb: {"mixes cocktails at a full bar"},
		}),
		attr("attributes.RestaurantsPriceRange2", 1, phrases{
			adjective: {"cheap", "inexpensive", "budget-friendly"},
			predicate: {"easy on the wallet", "in the lowest price range"},
		}),
		attr("attributes.RestaurantsPriceRange2", 2, phrases{
			adjective: {"mid-priced", "moderately priced"},
			noun:      {"middling prices"},
		}),
		attr("attributes.RestaurantsPriceRange2", 3, phrases{
			adjective: {"pricey", "expensive"},
			predicate: {"on the expensive side"},
		}),
		attr("attributes.RestaurantsPriceRange2", 4, phrases{
			adjective: {"top-priced"},
			predicate: {"in the highest price range"},
			noun:      {"luxury prices"},
		}),
	}
}

// nested are the attributes that live in dicts.
func nested() []entry {
	mood := func(key string, adjectives ...string) entry {
		article := "a "
		if strings.ContainsAny(key[:1], "aeiou") {
			article = "an "
		}
		return attr("attributes.Ambience."+key, true, phrases{
			adjective: adjectives,
			noun:      {article + key + " ambience", article + key + " feel"},
		})
	}
	meal := func(key, spoken string, more ...string) entry {
		return attr("attributes.GoodForMeal."+key, true, phrases{
			predicate: append([]string{"good for " + spoken, "a fine choice for " + spoken}, more...),
		})
	}
	parking := func(key string, nouns ...string) entry {
		return attr("attributes.BusinessParking."+key, true, phrases{noun: nouns})
	}
	return []entry{
		mood("casual", "casual", "laid-back"),
		mood("hipster", "hipster", "hip"),
		mood("romantic", "romantic"),
		mood("trendy", "trendy", "fashionable"),
		mood("classy", "classy", "elegant"),
		mood("touristy", "touristy"),
		mood("intimate", "intimate"),
		mood("upscale", "upscale"),
		meal("breakfast", "breakfast"),
		meal("brunch", "brunch"),
		meal("lunch", "lunch"),
		meal("dinner", "dinner"),
		meal("dessert", "dessert", "right for something sweet"),
		meal("latenight", "a late-night bite", "right for eating late at night"),
		parking("street", "street parking"),
		parking("lot", "a parking lot", "its own car park"),
		parking("garage", "a parking garage", "garage parking"),
		parking("valet", "valet parking", "a valet"),
	}
}

// details are the conditions with slots.
func details() []entry { return append(socialPhrases(), hoursPhrases(), reviewPhrases()) }

func hoursPhrases() entry {
	return entry{like: Condition{Kind: Hours}, say: phrases{
		predicate: {
			"open on {days} from {from} to {to}",
			"open on {days} from {from} until {to}",
			"open from {from} to {to} on {days}",
			"open on {day} between {from} and {to}",
			"open on a {day} from {from} till {to}",
		},
		verb: {
			"keeps its doors open on {days} from {from} to {to}",
			"stays open between {from} and {to} on {days}",
		},
	}}
}

func reviewPhrases() entry {
	return entry{like: Condition{Kind: Review}, say: phrases{
		verb: {"has reviews that mention {topic}", "has a review that mentions {topic}", "has been reviewed with a mention of {topic}"},
		clause: {
			"reviewers mention {topic}", "reviews mention {topic}", "the reviews bring up {topic}",
			"somebody writes about {topic} in a review", "{topic} comes up in the reviews",
		},
	}, against: phrases{
		verb:   {"has no review that mentions {topic}"},
		clause: {"no reviewer mentions {topic}", "nobody writes about {topic} in a review", "{topic} never comes up in the reviews"},
	}}
}

func socialPhrases() []entry {
	return []entry{
		{like: Condition{Kind: Social, Hops: 1}, say: phrases{
			verb: {"has a review by a friend of {name} that mentions {topic}", "has a review by one of {name}'s friends that mentions {topic}"},
			clause: {
				"a friend of {name} mentions {topic}", "one of {name}'s friends mentions {topic}",
				"someone who is friends with {name} writes about {topic}", "a friend of {name}'s brings up {topic} in a review",
			},
		}, against: phrases{
			verb:   {"has no review by a friend of {name} that mentions {topic}"},
			clause: {"no friend of {name} mentions {topic}", "none of {name}'s friends writes about {topic}"},
		}},
		{like: Condition{Kind: Social, Hops: 2}, say: phrases{
			verb: {
				"has a review by someone within two hops of {name} that mentions {topic}",
				"has a review by a friend of {name} or by a friend of such a friend that mentions {topic}",
			},
			clause: {
				"a friend of {name} or a friend of such a friend mentions {topic}",
				"one of {name}'s friends or one of their friends mentions {topic}",
				"someone in {name}'s circle, friends of friends included, writes about {topic}",
				"someone within two hops of {name} brings up {topic}",
			},
		}, against: phrases{
			verb:   {"has no review by anyone within two hops of {name} that mentions {topic}"},
			clause: {"nobody within two hops of {name} mentions {topic}"},
		}},
	}
}

// Topics lists what reviews of cafes may mention and requests may ask for. No
// topic contains another. Requests may quote any other pattern.
func Topics() []string {
	return []string{
		"latte art", "live music", "avocado toast", "cold brew", "board games", "matcha",
		"cinnamon rolls", "sourdough", "oat milk", "vinyl records", "poetry night", "chess",
		"croissants", "flat white", "bagels", "house plants", "fireplace", "window seats",
		"power outlets", "book swap", "open mic", "tiramisu", "banana bread", "lemon tart",
		"chai", "hot chocolate", "quiche", "carrot cake", "jazz", "knitting circle",
		"crossword", "aquarium", "pinball", "pistachio", "mac and cheese", "pour over",
	}
}

// Conditions lists every attribute value that the lexicon can say.
func Conditions() []Condition {
	var all []Condition
	for _, list := range [][]entry{flags(), choices(), nested()} {
		for _, e := range list {
			all = append(all, e.like)
		}
	}
	return all
}

// openers begin a request; each goes on with the noun phrase.
func openers() []string {
	return []string{
		"I'm after", "I'm looking for", "Looking for", "Please find me", "I need", "We want",
		"Can you suggest", "My sister and I would like", "Help me find", "I'd love",
	}
}

// places are the nouns that openers and later sentences speak of.
func places() []string { return []string{"cafe", "place", "coffee shop", "spot"} }
