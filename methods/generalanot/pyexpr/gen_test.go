package pyexpr

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
)

// diffSeed is fixed, so that a failure comes again; PYEXPR_SEED sets another.
func diffSeed() uint64 {
	if n, err := strconv.ParseUint(os.Getenv("PYEXPR_SEED"), 10, 64); err == nil {
		return n
	}
	return 1
}

// exprGen makes random expressions from templates. {T} is an expression of
// the type T; {T@v:U} is one that may use the variable {v}, of the type U.
type exprGen struct {
	rng  *rand.Rand
	vars []variable
	n    int
}

type variable struct{ name, typ string }

func pick[T any](g *exprGen, xs []T) T { return xs[g.rng.IntN(len(xs))] }

// expr is a random expression of a type.
func (g *exprGen) expr(typ string, depth int) string {
	switch {
	case typ == "anyset":
		typ = pick(g, anyTypes)
	case typ == "any", g.rng.IntN(60) == 0: // a wrong type now and then raises something
		typ = pick(g, orderedTypes)
	}
	if depth <= 0 || g.rng.IntN(6) == 0 {
		return g.leaf(typ)
	}
	return g.fill(pick(g, templates[typ]), depth-1)
}

func (g *exprGen) leaf(typ string) string {
	var names []string
	for _, v := range g.vars {
		if v.typ == typ {
			names = append(names, v.name)
		}
	}
	if len(names) > 0 && g.rng.IntN(3) > 0 {
		return pick(g, names)
	}
	return pick(g, leaves[typ])
}

// fill replaces the placeholders of a template.
func (g *exprGen) fill(template string, depth int) string {
	g.n++
	v, w := fmt.Sprintf("v%d", g.n), fmt.Sprintf("w%d", g.n)
	var b strings.Builder
	for {
		i := strings.IndexByte(template, '{')
		if i < 0 {
			return b.String() + template
		}
		end := i + strings.IndexByte(template[i:], '}')
		b.WriteString(template[:i])
		b.WriteString(g.placeholder(template[i+1:end], v, w, depth))
		template = template[end+1:]
	}
}

func (g *exprGen) placeholder(p, v, w string, depth int) string {
	switch p {
	case "v":
		return v
	case "w":
		return w
	case "pat":
		return "r'" + g.pattern(3) + "'"
	case "hay":
		return g.hay(depth)
	case "(":
		return "{"
	case ")":
		return "}"
	}
	typ, binds, _ := strings.Cut(p, "@")
	if !slices.Contains(anyTypes, typ) && typ != "any" && typ != "anyset" {
		if choices, ok := leaves[typ]; ok {
			return pick(g, choices)
		}
		panic("no such type: " + typ)
	}
	saved := len(g.vars)
	for _, bind := range strings.Split(binds, ",") {
		if name, typ, ok := strings.Cut(bind, ":"); ok {
			g.vars = append(g.vars, variable{map[string]string{"v": v, "w": w}[name], typ})
		}
	}
	s := g.expr(typ, depth)
	g.vars = g.vars[:saved]
	if simple(s) {
		return s
	}
	return "(" + s + ")"
}

// atoms are parts of patterns; the last ones are faulty in some places.
var atoms = strings.Fields(`a b n \d \w \s \b \B . ^ $ [ab] [^a] [a-n1] [\w-] \W \D \S \Z \A é ü 1 , - \. [^\W\d] [^,]
	(?:ab) (?P<k>a) {2} \x61 [\d.] \t (?#c) ( ) [ * \q [b-a] a{2,1} (?i)`)

// pattern is a random regular expression over a few characters.
func (g *exprGen) pattern(depth int) string {
	var b strings.Builder
	for range 1 + g.rng.IntN(3) {
		atom := pick(g, atoms[:len(atoms)-8])
		switch n := g.rng.IntN(40); {
		case n == 0:
			atom = pick(g, atoms)
		case n < 14 && depth > 0:
			inner := g.pattern(depth - 1)
			if g.rng.IntN(3) == 0 {
				inner += "|" + g.pattern(depth-1)
			}
			atom = pick(g, []string{"(", "(?:"}) + inner + ")"
		}
		b.WriteString(atom)
		if g.rng.IntN(3) == 0 {
			b.WriteString(pick(g, []string{"*", "+", "?", "*?", "+?", "??", "{1,2}", "{2}", "{,2}", "{0,2}?"}))
		}
	}
	return b.String()
}

// hay is a text to look for patterns in: a random one or an expression.
func (g *exprGen) hay(depth int) string {
	if g.rng.IntN(4) == 0 {
		return g.expr("str", depth)
	}
	out := make([]rune, g.rng.IntN(9))
	for i := range out {
		out[i] = pick(g, []rune("aaabbn1 ,-éÄ\n"))
	}
	return strconv.Quote(string(out))
}

func simple(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return !(r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z') }) < 0
}

// env is a random environment with the names that leaves use.
func (g *exprGen) env() map[string]Value {
	env := map[string]Value{
		"n1": Int(g.rng.IntN(21) - 10), "n2": Int(g.rng.IntN(2000)), "big": must(FromGo(json.Number("123456789012345678901234567890"))),
		"x": Float(g.rng.Float64() * 10), "y": Float(math.Round(g.rng.NormFloat64()*1000) / 8), "s": Str(pick(g, texts)), "t": Str(pick(g, texts)),
		"flag": Bool(g.rng.IntN(2) == 0), "none": None{}, "today": Str("2024-06-30"),
	}
	var nums, words, floats, exts []Value
	for range g.rng.IntN(6) {
		nums = append(nums, Int(g.rng.IntN(40)-15))
		words = append(words, Str(pick(g, texts)))
		floats = append(floats, Float(float64(g.rng.IntN(400))/16-5))
		exts = append(exts, g.extraction())
	}
	env["nums"], env["words"], env["fs"], env["extractions"] = &List{nums}, &List{words}, &List{floats}, &List{exts}
	d := new(Dict)
	for _, k := range texts[:g.rng.IntN(6)] {
		d.put(builder(), Str(k), Int(g.rng.IntN(9)))
	}
	env["d"] = d
	return env
}

func (g *exprGen) extraction() Value {
	d := new(Dict)
	put := func(name string, v Value) { d.put(builder(), Str(name), v) }
	put("a", Str(pick(g, []string{"none", "mild", "moderate", "severe"})))
	put("b", Str(pick(g, []string{"firsthand", "secondhand", "none"})))
	put("stars", Int(1+g.rng.IntN(5)))
	put("score", Float(float64(g.rng.IntN(100))/8))
	put("date", Str(fmt.Sprintf("20%02d-%02d-%02d", 15+g.rng.IntN(10), 1+g.rng.IntN(12), 1+g.rng.IntN(28))))
	put("ok", Bool(g.rng.IntN(2) == 0))
	if g.rng.IntN(8) > 0 {
		put("useful", pick(g, []Value{Int(3), None{}, Int(0)}))
	}
	return d
}

func must(v Value, err error) Value {
	if err != nil {
		panic(err)
	}
	return v
}

// envText is env as a Python dict display.
func envText(env map[string]Value) string {
	all := map[string]any{}
	for name, v := range env {
		all[name] = v
	}
	s, err := Repr(must(FromGo(all)))
	if err != nil {
		panic(err)
	}
	return s
}

var texts = []string{"", "nut", "Peanut Butter", "a,b,,c", "  pad ", "ÄÖß İx", "x=1; y=2", "tab\tnew\nline", "it's", `say "hi"`, "日本語", "12", "-3.5", "ﬁn ŉ", "ΑΣ Σας", "{0}", "²³½"}
