package multihop

import (
	"fmt"
	"html"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// thing is what an article is about.
type thing struct {
	title, kind string
	facts       map[string]string // relation to the title where it leads
}

// world is a closed wiki.
type world struct {
	things    []*thing
	byTitle   map[string]*thing
	redirects map[string]string
	ambiguous map[string][]string // disambiguation pages: name to titles
	rng       *rand.Rand
	filler    int // words of filler in an article
}

// The parts of names. All of them are fictional, but for seed 003's example.
var (
	firstNames = strings.Fields("Ada Boris Clara Dmitri Elif Farid Greta Hugo Ines Jonas Keiko Lars Mina Nuno Olga Pavel Rosa Samir Tilda Uwe Vera Wim Yuki Zora")
	lastNames  = strings.Fields("Almqvist Brandt Castellano Dvorak Eriksen Fontaine Galvani Hartmann Ishida Jovanovic Kowalski Lindgren Moreau Novak Okafor Petrov Quintero Rosetti Sandoval Thorne Ulrich Vasquez Weber Zielinski")
	cityStems  = strings.Fields("Alder Birch Cedar Dun Elm Fal Grim Hazel Iron Juniper Kel Lorn Mar Nor Oster Pell Quarry Raven Sel Thorn Umber Vale West Yar")
	cityEnds   = strings.Fields("burgh dale ford haven mere mouth stead wick")
	countries  = strings.Fields("Arvenia Belmora Cardova Dalmira Estovar Fennmark Galdovia Hesperia Istria Jorvania Kelmar Lusenia")
	rivers     = strings.Fields("Aren Brall Corve Dessa Elwy Fenn Gorse Hamel Isker Jolla Kevra Lune Morwen Nesk")
	filmWords  = strings.Fields("Silent Hollow Amber Distant Broken Hidden Velvet Paper Winter Burning Crystal Northern")
	filmNouns  = strings.Fields("Harbor Signal Orchard Mirror Parade Letter Garden Station Echo Lantern Circus Meridian")
)

// newWorld makes a wiki from a seed. Every fact has one object, so that every
// chain has one end.
func newWorld(seed uint64, filler int) *world {
	w := &world{byTitle: map[string]*thing{}, redirects: map[string]string{}, ambiguous: map[string][]string{}, rng: rand.New(rand.NewPCG(seed, 7)), filler: filler}
	var capitals, cities, people []string
	for _, c := range countries {
		w.add(c, "country")
	}
	for i := range 36 {
		city := cityStems[i%len(cityStems)] + cityEnds[(i/len(cityStems)*3+i)%len(cityEnds)]
		t := w.add(city, "city")
		t.facts["country"] = countries[i%len(countries)]
		t.facts["river"] = rivers[w.rng.IntN(len(rivers))]
		cities = append(cities, city)
		if i < len(countries) {
			capitals = append(capitals, city)
		}
	}
	for i := range 60 {
		person := firstNames[i%len(firstNames)] + " " + lastNames[(i*7+i/len(firstNames)*5)%len(lastNames)]
		if w.byTitle[person] != nil {
			continue
		}
		t := w.add(person, "person")
		t.facts["birthplace"] = cities[w.rng.IntN(len(cities))]
		people = append(people, person)
	}
	for i := 0; i+1 < len(people); i += 2 {
		w.byTitle[people[i]].facts["spouse"], w.byTitle[people[i+1]].facts["spouse"] = people[i+1], people[i]
	}
	for i, c := range countries {
		w.byTitle[c].facts["capital"] = capitals[i]
		w.byTitle[c].facts["anthem author"] = people[w.rng.IntN(len(people))]
	}
	for i := range 40 {
		title := filmWords[i%len(filmWords)] + " " + filmNouns[(i*5+i/len(filmWords))%len(filmNouns)]
		if w.byTitle[title] != nil {
			continue
		}
		kind, facts := "film", []string{"director", "composer"}
		if i%3 == 2 {
			kind, facts = "book", []string{"author"}
		}
		t := w.add(title, kind)
		for _, f := range facts {
			t.facts[f] = people[w.rng.IntN(len(people))]
		}
	}
	w.example()
	w.detours()
	return w
}

func (w *world) add(title, kind string) *thing {
	t := &thing{title: title, kind: kind, facts: map[string]string{}}
	w.things = append(w.things, t)
	w.byTitle[title] = t
	return t
}

// example is what seed 003 asks about.
func (w *world) example() {
	w.add("Inception", "film").facts["director"] = "Christopher Nolan"
	w.byTitle["Inception"].facts["composer"] = "Hans Zimmer"
	w.add("Christopher Nolan", "person").facts["birthplace"] = "England"
	w.add("Hans Zimmer", "person").facts["birthplace"] = "Frankfurt"
	w.add("England", "country").facts["capital"] = "London"
	for _, c := range []string{"London", "Frankfurt"} {
		w.add(c, "city")
	}
}

// detours are redirects and disambiguation pages.
func (w *world) detours() {
	for i, t := range w.things {
		if t.kind == "film" && i%2 == 0 {
			w.redirects[t.title+" (film)"] = t.title
		}
	}
	byLast := map[string][]string{}
	for _, t := range w.things {
		if t.kind == "person" {
			last := t.title[strings.LastIndex(t.title, " ")+1:]
			byLast[last] = append(byLast[last], t.title)
		}
	}
	for last, titles := range byLast {
		if len(titles) > 1 {
			w.ambiguous[last] = titles
		}
	}
}

// headings are the sections of each kind of article, in their order; those of a
// relation are among them, the others distract.
func headings(kind string) []string {
	return map[string][]string{
		"film":    {"Plot", "Cast", "Production", "Music", "Reception"},
		"book":    {"Plot", "Writing", "Publication", "Reception"},
		"person":  {"Early life", "Career", "Personal life", "Legacy"},
		"city":    {"History", "Geography", "Setting", "Economy"},
		"country": {"History", "Government", "Symbols", "Economy"},
	}[kind]
}

// page is an article as MediaWiki makes its HTML.
func (w *world) page(t *thing) string {
	rng := rand.New(rand.NewPCG(uint64(len(t.title)), uint64(t.title[0])<<8+uint64(t.title[len(t.title)-1])))
	sections := headings(t.kind)
	per := w.filler / (len(sections) + 1)
	var b strings.Builder
	fmt.Fprintf(&b, "<html><head><title>%s</title></head><body><h1 id=\"firstHeading\">%s</h1><div class=\"mw-parser-output\">\n", html.EscapeString(t.title), html.EscapeString(t.title))
	fmt.Fprintf(&b, "<p><b>%s</b> is a %s.<sup class=\"reference\">[1]</sup> %s</p>\n", html.EscapeString(t.title), t.kind, filler(rng, per/4))
	for _, name := range sections {
		fmt.Fprintf(&b, "<h2>%s<span class=\"mw-editsection\">[edit]</span></h2>\n", name)
		w.section(&b, t, name, rng, per)
	}
	b.WriteString("</div></body></html>\n")
	return b.String()
}

// section writes a section. One that states a fact is short and to the point, as
// a table, a list or a paragraph; the others are filler, half of it below a
// heading of its own.
func (w *world) section(b *strings.Builder, t *thing, name string, rng *rand.Rand, words int) {
	stated := ""
	for _, relation := range slices.Sorted(maps.Keys(t.facts)) {
		if r := find(relation); r.Section == name {
			stated = r.State(t.title, t.facts[relation])
		}
	}
	switch {
	case stated == "":
		fmt.Fprintf(b, "<p>%s</p>\n<h3>Details of %s</h3>\n<p>%s</p>\n", filler(rng, words), strings.ToLower(name), filler(rng, words))
	case t.kind == "country":
		fmt.Fprintf(b, "<table><tr><th>Fact</th></tr><tr><td>%s</td></tr></table>\n", html.EscapeString(stated))
	case t.kind == "film":
		fmt.Fprintf(b, "<ul><li>%s</li><li>%s</li></ul>\n", html.EscapeString(stated), filler(rng, 12))
	default:
		fmt.Fprintf(b, "<p>%s %s</p>\n", html.EscapeString(stated), filler(rng, 20))
	}
}

// listPage is a disambiguation page.
func listPage(name string, titles []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<html><body><h1>%s</h1><div class=\"mw-parser-output\"><div id=\"disambigbox\"></div><p>%s may be:</p><ul>", html.EscapeString(name), html.EscapeString(name))
	for _, t := range titles {
		fmt.Fprintf(&b, "<li>%s</li>", html.EscapeString(t))
	}
	b.WriteString("</ul></div></body></html>\n")
	return b.String()
}

func find(relation string) Relation {
	r, ok := FindRelation(relation)
	if !ok {
		panic("unknown relation " + relation) // the names are those of this package
	}
	return r
}

// filler is text that says nothing.
func filler(rng *rand.Rand, n int) string {
	vocabulary := strings.Fields("the a of in and to with for over during early later several many records accounts visitors critics observers local regional annual traditional modern careful broad notes describes mentions suggests includes remains period season market building street festival archive collection interest detail context pattern")
	var b strings.Builder
	for i := range n {
		word := vocabulary[rng.IntN(len(vocabulary))]
		if i%14 == 0 {
			if i > 0 {
				b.WriteString(". ")
			}
			word = strings.ToUpper(word[:1]) + word[1:]
		} else {
			b.WriteByte(' ')
		}
		b.WriteString(word)
	}
	return b.String() + "."
}
