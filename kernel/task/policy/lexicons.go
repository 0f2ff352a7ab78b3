package policy

// lexiconOf is the lexicon of the policy called name.
func lexiconOf(name string) (lexicon, bool) {
	l, ok := map[string]func() lexicon{
		"allergy":       allergyLexicon,
		"hygiene":       hygieneLexicon,
		"service":       serviceLexicon,
		"value":         valueLexicon,
		"accessibility": accessibilityLexicon,
		"noise":         noiseLexicon,
	}[name]
	if !ok {
		return lexicon{}, false
	}
	return l(), true
}

func allergyLexicon() lexicon {
	return lexicon{
		verb: "had", participle: "had",
		events: [3][]string{
			{"itchy hives", "a tingling mouth", "a mild rash", "red and itchy eyes from the sauce", "an itchy throat for an hour",
				"a few small hives", "a prickling tongue"},
			{"swollen lips", "a bout of vomiting from hidden nuts", "a swollen face and a visit to the doctor",
				"cramps and vomiting from the sesame", "swelling that needed antihistamines", "hives from head to toe and a doctor's bill"},
			{"a full anaphylactic shock", "a throat so tight that an ambulance came", "a reaction that needed an adrenaline pen",
				"a night in the emergency room from the peanuts", "trouble breathing within minutes", "a collapse from the shellfish"},
		},
		sarcasm: []string{
			"Nothing says a lovely evening like {event}, which is what I got.",
			"How thoughtful of them to serve me {event} on top of dessert.",
		},
		replies: [][]string{
			{"{staff} wrote my allergy down and checked with the kitchen.", "The {dish} was made in a clean pan because of my allergy.",
				"{staff} brought the allergen list without being asked.", "I mentioned my allergy and {staff} took it seriously."},
			{"{staff} shrugged when I mentioned my allergy.", "I asked about allergens and {staff} said to pick things off myself.",
				"No one in the kitchen could tell which allergens were in the {dish}.", "{staff} sighed at my question about allergens."},
			{"{staff} swore that the {dish} was free of allergens, and it was not.", "I was promised an allergen-free {dish} and got the other kind.",
				"{staff} said my allergy was no problem, and the {dish} was full of what I must not eat.",
				"They guaranteed that my allergy was noted and served me what I had ruled out."},
		},
		asides: []string{
			"I am allergic to cats, so the terrace with the tabby was not for me.", "My hay fever was terrible that week, but that is the birches.",
			"The peanut sauce is the best in town.", "They sell nut brittle at the counter.", "The shellfish tower is a sight.",
		},
	}
}

func hygieneLexicon() lexicon {
	return lexicon{
		verb: "found", participle: "found",
		events: [3][]string{
			{"sticky tables", "a smudged glass", "crumbs on the chairs", "a greasy menu", "a spot of old sauce on the fork", "a stained tablecloth"},
			{"a long hair in the soup", "a washroom without soap", "mould on the bread", "a used plaster in the salad",
				"a filthy washroom floor", "meat that smelled off"},
			{"a cockroach by the kitchen door", "mouse droppings under the bench", "raw chicken inside the burger", "maggots in the rice",
				"a rat behind the counter", "food poisoning in the seafood and no bed but the bathroom floor"},
		},
		sarcasm: []string{
			"The house special must be {event}, because I found that without ordering it.",
			"Five points for decoration, since I was treated to {event} at no extra cost.",
		},
		replies: [][]string{
			{"{staff} wiped everything down as soon as I pointed it out.", "They cleaned up at once and brought a new {dish}.",
				"The mess was gone two minutes after I told {staff}.", "{staff} thanked me for saying so and had it cleaned."},
			{"{staff} looked at the dirt and walked on.", "I showed {staff}, and no cleaning was done.",
				"They put the same dirty plate back on the table.", "{staff} told me that every place has dirt, and left the mess."},
		},
		asides: []string{
			"Their logo is a cartoon mouse, which my kids adore.", "The old brick wall looks dusty on purpose.",
			"I came straight from the garden with dirt under my nails.", "{staff} dropped a napkin and laughed about it.",
			"The washroom has a picture of a whale.",
		},
	}
}

func serviceLexicon() lexicon {
	return lexicon{
		verb: "got", participle: "gotten",
		events: [3][]string{
			{"an hour of waiting for the menus", "a forty-minute wait for the starters", "a wait so long that the candles burned down",
				"half an evening of waiting for the bill", "a queue that never moved", "a wait of ninety minutes"},
			{"the wrong dish twice", "a bill with strangers' drinks on it", "a meal without the side that was ordered",
				"a plate meant for another table", "a vegetarian order with bacon in it", "somebody else's dinner"},
			{"a waiter who rolled his eyes", "a host who snapped at everyone", "a shouting manager", "a server who laughed at the question",
				"staff who swore at the table", "an insult with the dessert"},
		},
		sarcasm: []string{
			"Truly royal treatment, if kings get {event}, as I did.",
			"Full marks for theatre, because the ticket came with {event} and I had the front row.",
		},
		replies: [][]string{
			{"{staff} came over and said sorry without being asked.", "They apologised, and I believe they meant it.",
				"{staff} owned up to it and apologised twice.", "An apology from {staff} came right away."},
			{"They took the {dish} off the bill.", "{staff} brought a free {dish} to make up for it.",
				"We were given a voucher for the trouble.", "In the end the {dish} was on the house."},
			{"{staff} told me that it was my own fault.", "I complained and {staff} turned around and left.",
				"They would not hear a word of my complaint.", "{staff} said that no one else ever complains."},
		},
		asides: []string{
			"I was half an hour late myself because of the train.", "The slow-roasted lamb deserves its name.",
			"The rude cartoon on the wall made us laugh.", "Choosing red wine was my own mistake, as I do not like it.",
			"We waited for the rain to stop before we left.",
		},
	}
}

func valueLexicon() lexicon {
	return lexicon{
		verb: "got", participle: "gotten",
		events: [3][]string{
			{"a huge lunch for very little money", "two courses for the price of one", "a feast on a student's budget",
				"free refills and a tiny bill", "three tacos for the price of a coffee", "a dinner for less than my bus ticket"},
			{"about what the money was worth", "a normal plate at a normal price", "a fair portion for a fair price",
				"a decent meal at the usual price", "exactly what such a meal costs anywhere", "a price in line with the food"},
			{"a tiny salad at a steakhouse price", "three ravioli for a small fortune", "a bill far beyond what was on the plate",
				"tap water at the price of wine", "a lukewarm soup for the cost of a banquet", "the most expensive toast of my life"},
		},
		sarcasm: []string{
			"My bank manager sends his love, for I was honoured with {event}.",
			"Such generosity, letting me have {event} and keep my shoes.",
		},
		replies: [][]string{
			{"{staff} told us about the cover charge before we sat down.", "The service fee was explained to us before ordering.",
				"{staff} warned me that the {dish} costs extra.", "They said up front which extra the bread would cost."},
			{"A cover charge that no one had mentioned was on the bill.", "The bread turned out to cost extra, which was news to us.",
				"I found a fee for the {dish} that the menu does not show.", "At the end there was a service fee out of nowhere."},
		},
		asides: []string{
			"Parking in that street costs a fortune, which is the city's doing.", "I won the voucher for this dinner in a raffle.",
			"My new coat cost more than I care to say.", "The price tags on the paintings are a joke.", "The cheap plastic plants are gone.",
		},
	}
}

func accessibilityLexicon() lexicon {
	return lexicon{
		verb: "faced", participle: "faced",
		events: [3][]string{
			{"a narrow aisle", "dim signs that were hard to read", "a heavy front door", "a table with no room for the knees",
				"a menu in tiny print", "a bumpy threshold"},
			{"a step that took two people to lift the wheelchair", "a ramp too steep to use alone", "a washroom door too tight for a walker without help",
				"a doorbell out of reach from a chair", "bar stools and no seat with a back", "a detour through the kitchen for the wheelchair"},
			{"a flight of stairs and no lift", "a washroom that no wheelchair can enter", "a broken lift and no other way up",
				"an entrance blocked for anybody on wheels", "a locked accessible door that no key could open", "ten steps down with no rail"},
		},
		sarcasm: []string{
			"Great training for the Paralympics, since I was presented with {event} before the starters.",
			"Somebody must have won a prize for {event}, which I had the pleasure to test.",
		},
		replies: [][]string{
			{"{staff} moved two chairs aside for the wheelchair without a word.", "{staff} read the menu aloud for my blind mother.",
				"They served the {dish} downstairs so that we were spared the climb.", "{staff} walked ahead and held every door."},
			{"{staff} watched us struggle and went on polishing glasses.", "Not a finger was lifted while we struggled.",
				"{staff} saw the wheelchair and looked the other way.", "They stepped around the walker as if it were furniture."},
			{"{staff} said that wheelchairs block the room and sent us away.", "They would not let the guide dog in.",
				"I asked for help with the wheelchair and {staff} said that it is not their job.", "{staff} told my uncle to come back when he can walk."},
		},
		asides: []string{
			"I climbed the church tower next door before dinner.", "The stairs in the window display are made of chocolate.",
			"My bicycle did not fit the rack outside.", "The ramp across the street belongs to the skate park.", "The lift music in the hotel next door is awful.",
		},
	}
}

func noiseLexicon() lexicon {
	return lexicon{
		verb: "had", participle: "had",
		events: [3][]string{
			{"a room where a whisper carried", "a hushed dining room", "soft music and easy talk", "an evening as quiet as a library",
				"a corner so calm that one could read", "a peaceful meal without a raised voice"},
			{"a cheerful buzz all around", "a buzz that made one lean in to talk", "chatter from every side", "a busy room with some shouting",
				"music that made talk an effort", "a lively crowd at the next table"},
			{"music so loud that no one could talk", "a roar that hurt the ears", "a noise like a jet engine", "speakers that drowned every word",
				"a band so loud that we texted across the table", "ringing ears until the morning"},
		},
		sarcasm: []string{
			"Perfect for a first date with nothing to say, thanks to {event} all through my dinner.",
			"I asked for romance and was given {event}, so bring earplugs.",
		},
		replies: [][]string{
			{"{staff} found us a calmer table when I asked.", "I asked for another table and was led to one at once.",
				"They moved us to the back room within a minute.", "{staff} seated us again far from the speakers."},
			{"I asked for another table and {staff} said no.", "{staff} would not move us, although half the room was empty.",
				"They told us to stay at the table we had been given.", "My plea for a calmer corner was turned down."},
		},
		asides: []string{
			"The garbage trucks outside start at six.", "My neighbours at home are louder than any band.",
			"The band on the poster plays somewhere else next month.", "My brother has a voice like a foghorn.", "They sell earplugs at the pharmacy next door.",
		},
	}
}
