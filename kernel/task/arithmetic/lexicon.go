package arithmetic

import (
	_ "embed"
	"maps"
	"slices"
	"strings"
	"sync"

	"noema/kernel/base/files"
)

// class tells items, money and distances apart: they are said differently.
type class string

const (
	counted  class = "counted"
	money    class = "money"
	distance class = "distance"
	none     class = "none" // the fact is about no thing
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

//go:embed lexicon.yaml
var lexiconFile []byte

// lexicon is what stories are made of, and what reads them. It is shared and read only.
var lexicon = sync.OnceValue(func() (l struct {
	People  []struct{ Name, Pronoun string }
	Items   []struct{ Plural, Packs string }
	Openers []string
	Numbers map[string]string // that words stand for
	Texts   map[class]map[Kind][]string

	grammar []template // every way to say something
}) {
	files.BuiltIn(lexiconFile, &l)
	for _, class := range slices.Sorted(maps.Keys(l.Texts)) {
		for _, kind := range slices.Sorted(maps.Keys(l.Texts[class])) {
			for _, text := range l.Texts[class][kind] {
				t := template{kind: kind, class: class, text: text}
				for word, n := range l.Numbers {
					if strings.Contains(text, word) {
						t.n = n
					}
				}
				l.grammar = append(l.grammar, t)
			}
		}
	}
	return l
})

// Names lists the people of the stories.
func Names() (names []string) {
	for _, p := range lexicon().People {
		names = append(names, p.Name)
	}
	return names
}

// Things lists the items of the stories.
func Things() (things []string) {
	for _, i := range lexicon().Items {
		things = append(things, i.Plural)
	}
	return things
}

// mayOpen are the kinds that an opener suits.
func mayOpen(k Kind) bool {
	return slices.Contains([]Kind{Gain, Lose, Give, Sell, Buy, Packs, Work, Ride}, k)
}
