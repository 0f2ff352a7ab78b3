package arithmetic

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// Render says the facts, the last of which is the question, in a wording drawn
// from rng. The same facts and random numbers give the same text.
func Render(facts []Fact, rng *rand.Rand) (string, error) {
	if len(facts) == 0 || !facts[len(facts)-1].Kind.IsQuestion() {
		return "", fmt.Errorf("render story: the last fact is not a question")
	}
	var sentences []string
	subject := ""              // of the sentence before
	noise := map[string]bool{} // said already: two ages of one person would not be noise
	for i, f := range facts {
		fits := slices.DeleteFunc(fitting(f), func(t template) bool { return noise[t.text] })
		if len(fits) == 0 {
			return "", fmt.Errorf("render story: no words for %+v", f)
		}
		t := fits[rng.IntN(len(fits))]
		noise[t.text] = f.Kind == Noise
		opener := ""
		if i > 0 && mayOpen(f.Kind) && rng.IntN(3) == 0 {
			opener = lexicon().Openers[rng.IntN(len(lexicon().Openers))]
		}
		who := f.Who
		if who == subject && !f.Kind.IsQuestion() && rng.IntN(2) == 0 {
			who = pronoun(who)
		}
		text := fill(t.text, f, who, rng)
		if opener == "" {
			text = strings.ToUpper(text[:1]) + text[1:]
		}
		if !f.Kind.IsQuestion() {
			text += "."
		}
		sentences = append(sentences, opener+text)
		if strings.Contains(t.text, "{who}") {
			subject = f.Who
		}
	}
	return strings.Join(sentences, " "), nil
}

// fitting lists the templates that say f.
func fitting(f Fact) []template {
	var fits []template
	for _, t := range lexicon().grammar {
		third := strings.Contains(t.text, "{third}") == (f.Third != "")
		if f.Kind == Noise && f.N == "0" && t.n == "" {
			continue // nobody is 0 years old
		}
		if t.kind == f.Kind && t.class == classOf(f) && third && (t.n == "" || t.n == f.N) {
			fits = append(fits, t)
		}
	}
	return fits
}

func pronoun(name string) string {
	for _, p := range lexicon().People {
		if p.Name == name {
			return p.Pronoun
		}
	}
	return name
}

// fill puts a fact into the slots of a text.
func fill(text string, f Fact, who string, rng *rand.Rand) string {
	packs := ""
	for _, i := range lexicon().Items {
		if i.Plural == f.Thing {
			packs = i.Packs
		}
	}
	commas := rng.IntN(2) == 0
	return strings.NewReplacer(
		"${n}", "$"+price(f.N), "${m}", "$"+price(f.M), "{n}", grouped(f.N, commas), "{m}", grouped(f.M, commas),
		"{who}", who, "{whom}", f.Whom, "{third}", f.Third, "{thing}", f.Thing, "{packs}", packs,
	).Replace(text)
}

// price writes dollars with cents, if there are any.
func price(n string) string {
	if whole, cents, ok := strings.Cut(n, "."); ok && len(cents) < 2 {
		return whole + "." + (cents + "00")[:2]
	}
	return n
}

// grouped separates the thousands of a number by commas, if so wished.
func grouped(n string, commas bool) string {
	whole, part, decimal := strings.Cut(n, ".")
	for i := len(whole) - 3; commas && i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if decimal {
		return whole + "." + part
	}
	return whole
}
