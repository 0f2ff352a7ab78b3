package cafes

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// anyLeaf draws any condition that can be said.
func anyLeaf(rng *rand.Rand) Condition {
	names := []string{"Kevin", "Ines", "Thomas", "Zoë"}
	patterns := append(Topics(), "salted caramel", "it's a gem", "sugar and spice")
	switch rng.IntN(6) {
	case 0:
		from := rng.IntN(47) * 30
		to := from + 30*(1+rng.IntN((1440-from)/30))
		return Condition{Kind: Hours, Day: []string{"Monday", "Wednesday", "Sunday"}[rng.IntN(3)], From: from, To: to}
	case 1:
		return Condition{Kind: Review, Pattern: pick(rng, patterns)}
	case 2:
		return Condition{Kind: Social, Pattern: pick(rng, patterns), Friend: pick(rng, names), Hops: 1 + rng.IntN(2)}
	}
	return pick(rng, Conditions())
}

// tree draws a tree of at most the given depth, negations included.
func tree(rng *rand.Rand, depth int) Node {
	n := Is(anyLeaf(rng))
	if depth > 0 && rng.IntN(3) > 0 {
		n = Node{Op: []Op{And, Or}[rng.IntN(2)]}
		for range 2 + rng.IntN(3) {
			n.Args = append(n.Args, tree(rng, depth-1))
		}
	}
	if rng.IntN(4) == 0 {
		n = No(n)
	}
	return n
}

func TestRoundTrip(t *testing.T) {
	for seed := range uint64(4000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		want := tree(rng, int(seed%4))
		text := Render(want, rng)
		got, err := ParseRequest(text)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, want)
		}
		if !equivalent(got, want) {
			t.Fatalf("seed %d: %s\nwant %s\ngot  %s", seed, text, want.Normal(), got)
		}
	}
}

func TestEveryPhraseReadsBackAlone(t *testing.T) {
	for _, c := range append(Conditions(),
		Condition{Kind: Hours, Day: "Friday", From: 450, To: 1440},
		Condition{Kind: Review, Pattern: "mac and cheese"},
		Condition{Kind: Social, Pattern: "chess", Friend: "Ana", Hops: 1},
		Condition{Kind: Social, Pattern: "chess", Friend: "Ana", Hops: 2}) {
		for _, negate := range []bool{false, true} {
			want := Is(c)
			if negate {
				want = No(want)
			}
			for i, p := range ways(c, negate) {
				rng := rand.New(rand.NewPCG(uint64(i), 2))
				p.text = c.details(p.text, rng)
				placed := 0
				for _, s := range slices.Repeat([]slot{afterThat, afterPlace}, 8) {
					text, ok := p.place(s, rng)
					if !ok {
						continue
					}
					placed++
					if got, err := ParseRequest(text); err != nil || !equivalent(got, want) {
						t.Errorf("%q reads as %v (%v), want %v", text, got, err, want)
					}
				}
				if placed == 0 {
					t.Errorf("%q fits nowhere", p.text)
				}
			}
		}
	}
}

func TestRenderVaries(t *testing.T) {
	n := AllOf(Is(Condition{Kind: Attr, Path: "attributes.WiFi", Want: "free"}),
		Is(Condition{Kind: Attr, Path: "attributes.HasTV", Want: false}))
	seen := map[string]bool{}
	for seed := range uint64(200) {
		seen[Render(n, rand.New(rand.NewPCG(seed, 0)))] = true
	}
	if len(seen) < 150 {
		t.Errorf("200 seeds gave %d texts", len(seen))
	}
}

// TestParseOthersText reads requests that Render never writes.
func TestParseOthersText(t *testing.T) {
	for text, want := range map[string]string{
		"cafe with drive-thru, kid-friendly, without TVs":            `AND(attributes.DriveThru = true, attributes.GoodForKids = true, attributes.HasTV = false)`,
		"Free Wi-Fi or a full bar, and quiet please":                 `AND(OR(attributes.WiFi = free, attributes.Alcohol = full_bar), attributes.NoiseLevel = quiet)`,
		"no drive-through window or TV":                              `AND(attributes.DriveThru = false, attributes.HasTV = false)`,
		"I don't want a place that allows dogs":                      `attributes.DogsAllowed = false`,
		"not a romantic ambience":                                    `NOT(attributes.Ambience.romantic = true)`,
		"somewhere open on Friday from 7:00 AM to 9:00 AM":           `hours.Friday covers 7:00-9:00`,
		"It must be open on Sundays from noon till midnight":         "", // "open on {days} from … till" is not in the lexicon
		"reviews mention 'salted caramel'":                           `reviews mention "salted caramel"`,
		"where one of James's friends mentions latte art":            `reviews by friends(James, 1) mention "latte art"`,
		"either it is quiet, or it is loud":                          `OR(attributes.NoiseLevel = quiet, attributes.NoiseLevel = loud)`,
		"neither TVs nor a terrace nor bike parking":                 `AND(attributes.HasTV = false, attributes.OutdoorSeating = false, attributes.BikeParking = false)`,
		"either (quiet and free WiFi) or (loud (but not very loud))": `OR(AND(attributes.NoiseLevel = quiet, attributes.WiFi = free), AND(attributes.NoiseLevel = loud, NOT(attributes.NoiseLevel = very_loud)))`,
		"open on Mondays from 9am to 7am":                            "", // ends before it begins
		"open on Mondays from 13pm to 14pm":                          "",
		"Was ist los?":                                               "",
		"":                                                           "",
		"either either either or or and but not, or":                 "",
		"quiet or":              `attributes.NoiseLevel = quiet`,
		"or quiet":              `attributes.NoiseLevel = quiet`,
		"both quiet":            `attributes.NoiseLevel = quiet`,
		") quiet ) and ( cheap": `AND(attributes.NoiseLevel = quiet, attributes.RestaurantsPriceRange2 = 1)`,
		"either quiet, or cheap, or with a valet; and dog-friendly":        `AND(OR(attributes.NoiseLevel = quiet, attributes.RestaurantsPriceRange2 = 1, attributes.BusinessParking.valet = true), attributes.DogsAllowed = true)`,
		"a cafe \"quiet\" is only quoted here, but the place is cheap\x00": `attributes.RestaurantsPriceRange2 = 1`,
	} {
		got, err := ParseRequest(text)
		switch {
		case want == "" && !errors.Is(err, ErrNothing):
			t.Errorf("%q: got %v, %v, want ErrNothing", text, got, err)
		case want != "" && (err != nil || got.String() != want):
			t.Errorf("%q:\n got %v (%v)\nwant %v", text, got, err, want)
		}
	}
}

func TestParseHostileText(t *testing.T) {
	for name, text := range map[string]string{
		"deep parentheses": strings.Repeat("( quiet ", 20_000),
		"deep denial":      strings.Repeat("not ", 20_000) + "quiet",
		"deep lists":       strings.Repeat("either ", 20_000) + "quiet",
		"long tie":         strings.Repeat("quiet together with ", 20_000),
	} {
		if _, err := ParseRequest(text); !errors.Is(err, ErrNesting) {
			t.Errorf("%s: %v, want ErrNesting", name, err)
		}
	}
	for _, text := range []string{"\xff\xfe quiet", "quiet' '\"", "'", "\"", "'s", "7:", ":7 am", strings.Repeat("quiet, ", 20_000)} {
		if _, err := ParseRequest(text); err != nil && !errors.Is(err, ErrNothing) {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}

func TestTopicsAreDistinct(t *testing.T) {
	for i, a := range Topics() {
		for j, b := range Topics() {
			if i != j && strings.Contains(" "+a+" ", " "+b+" ") {
				t.Errorf("topic %q contains %q", a, b)
			}
		}
	}
}

func TestNormal(t *testing.T) {
	tv := Is(Condition{Kind: Attr, Path: "attributes.HasTV", Want: true})
	hip := Is(Condition{Kind: Attr, Path: "attributes.Ambience.hipster", Want: true})
	hours := Is(Condition{Kind: Hours, Day: "Monday", From: 60, To: 120})
	for _, test := range []struct {
		in   Node
		want string
	}{
		{No(No(tv)), "attributes.HasTV = true"},
		{No(tv), "attributes.HasTV = false"},
		{No(AllOf(tv, hip)), "OR(attributes.HasTV = false, NOT(attributes.Ambience.hipster = true))"},
		{AllOf(tv, AllOf(hip, AllOf(hours))), "AND(attributes.HasTV = true, attributes.Ambience.hipster = true, hours.Monday covers 1:00-2:00)"},
		{Is(Condition{Kind: Attr, Path: "attributes.Ambience.hipster", Want: false}), "NOT(attributes.Ambience.hipster = true)"},
		{AnyOf(tv), "attributes.HasTV = true"},
	} {
		if got := test.in.Normal().String(); got != test.want {
			t.Errorf("%s: got %s, want %s", test.in, got, test.want)
		}
	}
	if equivalent(AllOf(tv, hip), AnyOf(tv, hip)) || equivalent(tv, No(tv)) || !equivalent(AllOf(tv, hip, tv), AllOf(hip, tv)) {
		t.Error("Equivalent confuses trees")
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"a quiet cafe, either with free WiFi or (TVs and a terrace), but no valet",
		`where "x" comes up in the reviews`, "neither a nor b", "open on Mondays from 7am to noon"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, err := ParseRequest(text)
		if err != nil {
			return
		}
		for _, c := range n.Leaves() {
			if c.check() != nil {
				return // a quoted pattern or a name may be one that cannot be written
			}
		}
		again := Render(n, rand.New(rand.NewPCG(uint64(len(text)), 3)))
		if back, err := ParseRequest(again); err != nil || !equivalent(n, back) {
			t.Fatalf("%q reads as %v, is said as %q and reads as %v (%v)", text, n, again, back, err)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	n := AllOf(tree(rand.New(rand.NewPCG(1, 1)), 2), tree(rand.New(rand.NewPCG(2, 1)), 2))
	text := Render(n, rand.New(rand.NewPCG(1, 2)))
	for b.Loop() {
		if _, err := ParseRequest(text); err != nil {
			b.Fatal(err)
		}
	}
}

func Example() {
	n := AllOf(
		Is(Condition{Kind: Attr, Path: "attributes.GoodForKids", Want: true}),
		AnyOf(Is(Condition{Kind: Review, Pattern: "latte art"}), Is(Condition{Kind: Attr, Path: "attributes.WiFi", Want: "free"})),
		No(Is(Condition{Kind: Attr, Path: "attributes.HasTV", Want: true})),
	)
	text := Render(n, rand.New(rand.NewPCG(1, 1)))
	fmt.Println(text)
	back, err := ParseRequest(text)
	fmt.Println(equivalent(n, back), err)
	// Output:
	// Looking for a place that is family-friendly, either has a review that mentions latte art or has free WiFi, and doesn't have TVs on the walls.
	// true <nil>
}

// equivalent reports whether a and b are the same up to the order of
// arguments, repetition, nesting of like operators and De Morgan's laws.
func equivalent(a, b Node) bool { return a.Normal().sorted() == b.Normal().sorted() }

// sorted is a text that equivalent normal trees share.
func (n Node) sorted() string {
	if n.Op == "" {
		return fmt.Sprintf("%#v", n.Leaf)
	}
	parts := make([]string, len(n.Args))
	for i, a := range n.Args {
		parts[i] = a.sorted()
	}
	slices.Sort(parts)
	parts = slices.Compact(parts)
	if len(parts) == 1 && n.Op != Not {
		return parts[0]
	}
	return string(n.Op) + "(" + strings.Join(parts, ", ") + ")"
}

// check reports why c cannot be said so that it is read again.
func (c Condition) check() error {
	switch c.Kind {
	case Hours:
		if _, n := readDay([]token{{text: strings.ToLower(c.Day)}}); n == 0 {
			return fmt.Errorf("%q is not a day such as %s", c.Day, time.Monday)
		}
		if c.From < 0 || c.From >= c.To || c.To > 24*60 {
			return fmt.Errorf("hours %d-%d are not within one day, in minutes", c.From, c.To)
		}
		return nil
	case Social:
		if tokens := tokenize(c.Friend); len(tokens) != 1 || !named(tokens) {
			return fmt.Errorf("%q is not a name: use one capitalised word", c.Friend)
		}
		if c.Hops != 1 && c.Hops != 2 {
			return fmt.Errorf("hops must be 1 or 2, not %d", c.Hops)
		}
		return checkPattern(c.Pattern)
	case Review:
		return checkPattern(c.Pattern)
	}
	if len(ways(c, false)) == 0 {
		return fmt.Errorf("the lexicon has no phrase for %s", c)
	}
	return nil
}

func named(tokens []token) bool {
	_, n := readName(tokens)
	return n == 1
}

// checkPattern accepts what survives quotation.
func checkPattern(pattern string) error {
	tokens := tokenize(`"` + pattern + `"`)
	if len(pattern) > 60 || len(tokens) != 1 || !tokens[0].quoted || tokens[0].text != pattern {
		return fmt.Errorf("the pattern %q cannot be quoted: use up to 60 bytes of lower-case words", pattern)
	}
	return nil
}
