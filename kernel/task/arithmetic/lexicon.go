package arithmetic

import (
	"slices"
	"sync"
)

// person is a name and the pronoun that may stand for it.
type person struct{ name, pronoun string }

func people() []person {
	return []person{
		{"Ana", "she"}, {"Ben", "he"}, {"Carla", "she"}, {"David", "he"}, {"Elif", "she"}, {"Farid", "he"},
		{"Grace", "she"}, {"Hugo", "he"}, {"Ines", "she"}, {"Jonas", "he"}, {"Kemi", "she"}, {"Liam", "he"},
	}
}

// Names lists the people of the stories.
func Names() []string {
	var names []string
	for _, p := range people() {
		names = append(names, p.name)
	}
	return names
}

// item is something that can be counted, and what it comes in.
type item struct{ plural, packs string }

func items() []item {
	return []item{
		{"pencils", "boxes"}, {"apples", "bags"}, {"stickers", "sheets"}, {"marbles", "jars"}, {"cookies", "tins"},
		{"eggs", "trays"}, {"candles", "cartons"}, {"buttons", "tubes"}, {"seedlings", "crates"}, {"cards", "decks"},
	}
}

// Things lists the items of the stories.
func Things() []string {
	var things []string
	for _, i := range items() {
		things = append(things, i.plural)
	}
	return things
}

// class tells items, money and distances apart: they are said differently.
type class uint8

const (
	counted class = iota
	money
	distance
	none // the fact is about no thing
)

func classOf(f Fact) class {
	switch {
	case f.Kind == Noise:
		return none
	case f.Thing == Dollars:
		return money
	case f.Thing == Kilometres:
		return distance
	}
	return counted
}

// template is one way to say a fact. Slots stand in braces. A template with n
// set has that number in its words and fits no other.
type template struct {
	kind  Kind
	class class
	text  string
	n     string
}

// grammar is every way to say something: no sentence fits two of them. It is
// made once and not changed.
var grammar = sync.OnceValue(func() []template {
	return slices.Concat(facts(), questions(), noises())
})

func facts() []template {
	var all []template
	add := func(kind Kind, class class, texts ...string) {
		for _, text := range texts {
			all = append(all, template{kind: kind, class: class, text: text})
		}
	}
	add(Have, counted, "{who} has {n} {thing}", "{who} owns {n} {thing}", "{who} starts with {n} {thing}")
	add(Packs, counted, "{who} buys {n} {packs} of {m} {thing} each", "{who} gets {n} {packs} with {m} {thing} in each", "{who} brings {n} {packs}, each holding {m} {thing}")
	add(Gain, counted, "{who} finds {n} more {thing}", "{who} gets another {n} {thing}", "{who} receives {n} {thing} as a present")
	add(Lose, counted, "{who} loses {n} {thing}", "{who} gives away {n} {thing}", "{who} uses up {n} of the {thing}")
	add(Give, counted, "{who} gives {n} {thing} to {whom}", "{who} hands {whom} {n} of the {thing}", "{who} passes {n} {thing} on to {whom}")
	add(Times, counted, "{who} has {n} times as many {thing} as {whom}", "{who} owns {n} times the number of {thing} that {whom} has")
	add(More, counted, "{who} has {n} more {thing} than {whom}", "{who} has {n} {thing} more than {whom} does")
	add(Fewer, counted, "{who} has {n} fewer {thing} than {whom}", "{who} has {n} {thing} less than {whom} does")
	add(Half, counted, "{who} has half as many {thing} as {whom}", "{who} has only half of the number of {thing} that {whom} has")
	add(Sell, counted, "{who} sells all of the {thing} for ${n} each", "{who} sells every one of the {thing} at ${n} apiece")
	add(Buy, counted, "{who} pays for {n} {thing} at ${m} each", "{who} spends money on {n} {thing} that cost ${m} apiece")
	all = append(all, template{Times, counted, "{who} has twice as many {thing} as {whom}", "2"}, template{Times, money, "{who} has twice as much money as {whom}", "2"})

	add(Have, money, "{who} has ${n} in the wallet", "{who} starts out with ${n}", "{who} has saved ${n}")
	add(Work, money, "{who} works for {m} hours at ${n} an hour", "{who} earns ${n} an hour and works for {m} hours", "{who} gets paid ${n} per hour for {m} hours of work")
	add(Gain, money, "{who} finds ${n}", "{who} gets ${n} as a present")
	add(Lose, money, "{who} spends ${n} on lunch", "{who} pays ${n} for a ticket", "{who} loses ${n}")
	add(Give, money, "{who} gives ${n} to {whom}", "{who} hands {whom} ${n}")
	add(Times, money, "{who} has {n} times as much money as {whom}")
	add(More, money, "{who} has ${n} more than {whom}")
	add(Fewer, money, "{who} has ${n} less than {whom}")

	add(Ride, distance, "{who} rides for {m} hours at {n} kilometres per hour", "{who} travels at {n} kilometres per hour for {m} hours", "{who} covers {n} kilometres an hour and keeps going for {m} hours")
	add(Gain, distance, "{who} walks another {n} kilometres", "{who} goes {n} kilometres further on foot")
	add(Times, distance, "{who} goes {n} times as far as {whom}")
	add(More, distance, "{who} goes {n} kilometres further than {whom}")
	return all
}

func questions() []template {
	return []template{
		{AskLeft, counted, "How many {thing} does {who} have now?", ""},
		{AskLeft, counted, "How many {thing} are left with {who}?", ""},
		{AskLeft, money, "How many dollars does {who} have now?", ""},
		{AskLeft, money, "How much money does {who} end up with, in dollars?", ""},
		{AskLeft, distance, "How many kilometres does {who} cover in all?", ""},
		{AskTogether, counted, "How many {thing} do {who} and {whom} have together?", ""},
		{AskTogether, counted, "How many {thing} do {who}, {whom} and {third} have together?", ""},
		{AskTogether, money, "How many dollars do {who} and {whom} have together?", ""},
		{AskTogether, money, "How many dollars do {who}, {whom} and {third} have together?", ""},
		{AskTogether, distance, "How many kilometres do {who} and {whom} cover together?", ""},
		{AskTogether, distance, "How many kilometres do {who}, {whom} and {third} cover together?", ""},
		{AskDiff, counted, "How many more {thing} does {who} have than {whom}?", ""},
		{AskDiff, money, "How many more dollars does {who} have than {whom}?", ""},
		{AskDiff, distance, "How many kilometres further than {whom} does {who} get?", ""},
		{AskSplit, counted, "If {who} spreads the {thing} evenly over {n} baskets, how many go into each?", ""},
		{AskSplit, counted, "The {thing} of {who} are shared equally by {n} children: how many does each child get?", ""},
		{AskSplit, money, "If {who} divides the money equally among {n} friends, how many dollars does each get?", ""},
		{AskSplit, distance, "If {who} had covered the same distance in {n} equal stages, how many kilometres long would each be?", ""},
		{AskMean, counted, "How many {thing} do {who} and {whom} have on average?", ""},
		{AskMean, counted, "How many {thing} do {who}, {whom} and {third} have on average?", ""},
		{AskMean, money, "How many dollars do {who} and {whom} have on average?", ""},
		{AskMean, money, "How many dollars do {who}, {whom} and {third} have on average?", ""},
		{AskMean, distance, "How many kilometres do {who} and {whom} cover on average?", ""},
		{AskMean, distance, "How many kilometres do {who}, {whom} and {third} cover on average?", ""},
		{AskSmall, money, "How many cents does {who} have now?", ""},
		{AskSmall, distance, "How many metres does {who} cover in all?", ""},
	}
}

// noises are sentences that matter to nothing.
func noises() []template {
	var all []template
	for _, text := range []string{
		"{who} is {n} years old", "{who} has {n} cousins", "{who} lives at number {n}", "It is {n} degrees outside", "The shop around the corner opened {n} years ago",
		"A bus with {n} seats drives past", "The street has {n} lamps", "{n} neighbours have come by to watch",
	} {
		all = append(all, template{Noise, none, text, ""})
	}
	for _, text := range []string{"So far, 0 guests have said no", "There are 0 clouds in the sky", "The phone has rung 0 times"} {
		all = append(all, template{Noise, none, text, "0"})
	}
	return all
}

// openers may stand before a fact that changes something.
func openers() []string { return []string{"Then ", "Later, ", "After that, ", "The next day, "} }

// mayOpen are the kinds that an opener suits.
func mayOpen(k Kind) bool {
	switch k {
	case Gain, Lose, Give, Sell, Buy, Packs, Work, Ride:
		return true
	}
	return false
}
