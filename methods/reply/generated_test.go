package reply_test

import (
	"fmt"
	"maps"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"noema/methods"
	"noema/methods/reply"
)

// said is a value as a model may write it, and what it is; want is empty where no reader may
// take a value from it.
type said struct {
	text, want, form string
	latex            bool // it can stand in a box
}

// world draws values of one kind of answer. It knows what it drew: no reader is asked.
type world struct {
	name string
	spec methods.AnswerSpec
	draw func(*rand.Rand) said
}

func worlds() []world {
	options := []string{"apples", "the red pears", "plums and figs", "none of these"}
	letters := methods.AnswerSpec{Kind: methods.Choice, Labels: []string{"A", "B", "C", "D"}, Texts: options}
	return []world{
		{"number", methods.AnswerSpec{Kind: methods.Number}, drawNumber},
		{"comma", methods.AnswerSpec{Kind: methods.Number, Decimal: methods.DecimalComma}, drawComma},
		{"choice", letters, func(r *rand.Rand) said { return drawChoice(r, letters) }},
		{"words", methods.AnswerSpec{Kind: methods.Choice, Labels: []string{"Low", "High", "Very High"}}, drawWord},
		{"set", methods.AnswerSpec{Kind: methods.Set, Labels: []string{"A", "B", "C", "D", "E"}}, drawSet},
		{"ranking", methods.AnswerSpec{Kind: methods.Ranking, N: 9, K: 5}, drawRanking},
		{"text", methods.AnswerSpec{Kind: methods.Text}, drawText},
	}
}

func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

// scripts are the zeros of digits of other scripts.
var scripts = []rune{'٠', '۰', '०', '০', '௦', '๐', '０'}

func inScript(zero rune, digits string) string {
	return strings.Map(func(c rune) rune {
		if c >= '0' && c <= '9' {
			return zero + (c - '0')
		}
		return c
	}, digits)
}

// grouped is n with a separator between groups of three digits.
func grouped(n int, sep string) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + sep + s[i:]
	}
	return s
}

func drawNumber(r *rand.Rand) said {
	n := 1000 + r.IntN(9_000_000)
	small := 2 + r.IntN(97)
	whole := strconv.Itoa
	tenths := whole(small) + "." + whole(1+r.IntN(9))
	million := new(big.Rat)
	million.SetString(tenths + "e6")
	minus := pick(r, "-", "−", "minus ", "negative ")
	unit := pick(r, " km", " apples", " dollars", " hours", "%", " percent", "km", " m²", " cm³")
	all := []said{
		{text: whole(n), want: whole(n), form: "plain", latex: true},
		{text: grouped(n, pick(r, ",", "'", "\u2009", "\u202f", "\u00a0")), want: whole(n), form: "grouped"},
		{text: minus + whole(n), want: "-" + whole(n), form: "negative"},
		{text: tenths + pick(r, " million", " Million", "  million"[1:]), want: million.FloatString(0), form: "million", latex: true},
		{text: pick(r, "$", "€", "£") + grouped(n, ","), want: whole(n), form: "money"},
		{text: "$" + whole(small) + pick(r, "M", "m", " million"), want: whole(small) + "000000", form: "money in millions"},
		{text: whole(small) + pick(r, "k", " thousand"), want: whole(small) + "000", form: "thousand"},
		{text: inScript(pick(r, scripts...), whole(n)), want: whole(n), form: "script"},
		{text: whole(small) + pick(r, "×10⁷", " × 10^7", `\times 10^{7}`, "e7"), want: whole(small) + "0000000", form: "power"},
		{text: pick(r, "3/4", "¾", `\frac{3}{4}`, `\dfrac34`), want: "0.75", form: "fraction"},
		{text: whole(small) + pick(r, " 1/2", "½", ` \frac{1}{2}`, `\frac12`), want: whole(small) + ".5", form: "mixed"},
		{text: whole(n) + unit, want: whole(n), form: "unit"},
		{text: tenths + unit, want: tenths, form: "unit"},
		{text: pick(r, "about ", "approximately ", "exactly ") + whole(n), want: whole(n), form: "hedged"},
		{text: whole(small) + pick(r, " feet 3 inches", " h 30 min", ":30", " hours and 5 minutes", "-7", " to 99", " or 99", ", 99", " and 99", "²", "^5", "/0", " squared", " dozen", "±1", " or more", "!+3"), form: "not one number"},
		{text: pick(r, "0x1F", "0b101", `\sqrt{5}`, "√5", `5\pi`, "between 5 and 7", "more than 5", "less than 7", "not 5", "5M", "5K", "2024-05-01", "12,5", "half of 6", "twice 6", "5 and a half", "x = 5, y = 6"), form: "not one number"},
	}
	return pick(r, all...)
}

func drawComma(r *rand.Rand) said {
	n, small := 1000+r.IntN(9_000_000), 1+r.IntN(99)
	tenth := strconv.Itoa(1 + r.IntN(9))
	return pick(r, []said{
		{text: grouped(n, "."), want: strconv.Itoa(n), form: "grouped"},
		{text: strconv.Itoa(small) + "," + tenth, want: strconv.Itoa(small) + "." + tenth, form: "decimal", latex: true},
		{text: grouped(n, ".") + "," + tenth, want: strconv.Itoa(n) + "." + tenth, form: "both"},
		{text: strconv.Itoa(small) + "." + tenth, form: "a point"},
	}...)
}

func drawChoice(r *rand.Rand, spec methods.AnswerSpec) said {
	i := r.IntN(4)
	l, text := spec.Labels[i], spec.Texts[i]
	o := spec.Labels[(i+1+r.IntN(3))%4]
	want := strconv.Quote(l)
	return pick(r, []said{
		{text: l, want: want, form: "label", latex: true}, {text: "(" + l + ")", want: want, form: "label", latex: true}, {text: "**" + l + "**", want: want, form: "label"},
		{text: "$" + l + "$", want: want, form: "label"}, {text: pick(r, "option ", "Option ", "choice ") + l, want: want, form: "label"},
		{text: l + pick(r, ") ", ". ", ": ") + text, want: want, form: "display"}, {text: "(" + l + ") " + text, want: want, form: "display"},
		{text: "**" + l + ") " + text + "**", want: want, form: "display"}, {text: `\text{(` + l + ")}", want: want, form: "label", latex: true},
		{text: text, want: want, form: "text"}, {text: strings.ToUpper(text[:1]) + text[1:], want: want, form: "text"},
		{text: l + ", because the others are too small", want: want, form: "reason"}, {text: l + " because it fits", want: want, form: "reason"},
		{text: fmt.Sprintf("(%s) or (%s)", l, o), form: "two labels"}, {text: l + " or " + o, form: "two labels"}, {text: l + " and " + o, form: "two labels"},
		{text: fmt.Sprintf("%s, %s", l, o), form: "two labels"}, {text: "either " + l + " or " + o, form: "two labels"}, {text: "A, B, C or D", form: "two labels"},
		{text: "not " + l, form: "denied"}, {text: l + " is wrong", form: "denied"}, {text: l + ", no, " + o, form: "denied"}, {text: "E", form: "no label"},
		{text: l + ") " + spec.Texts[(i+1)%4], form: "another's text"},
	}...)
}

func drawWord(r *rand.Rand) said {
	l := pick(r, "Low", "High", "Very High")
	want := strconv.Quote(l)
	return pick(r, []said{
		{text: l, want: want, form: "label", latex: true}, {text: strings.ToLower(l), want: want, form: "label"}, {text: "*" + l + "*", want: want, form: "label"},
		{text: l + ", since the score is 9", want: want, form: "reason"}, {text: l + " risk", want: want, form: "sentence"},
		{text: "Low or High", form: "two labels"}, {text: "not " + strings.ToLower(l), form: "denied"}, {text: "Medium", form: "no label"},
	}...)
}

func drawSet(r *rand.Rand) said {
	all := []string{"A", "B", "C", "D", "E"}
	r.Shuffle(5, func(i, j int) { all[i], all[j] = all[j], all[i] })
	list := slices.Clone(all[:2+r.IntN(3)])
	sorted := slices.Sorted(slices.Values(list))
	want := `["` + strings.Join(sorted, `","`) + `"]`
	last := len(list) - 1
	return pick(r, []said{
		{text: strings.Join(list, ", "), want: want, form: "commas", latex: true}, {text: strings.Join(list[:last], ", ") + pick(r, " and ", ", and ", " & ") + list[last], want: want, form: "and"},
		{text: "(" + strings.Join(list, "), (") + ")", want: want, form: "brackets"}, {text: strings.Join(list, ""), want: want, form: "together", latex: true},
		{text: `["` + strings.Join(list, `", "`) + `"]`, want: want, form: "JSON"},
		{text: strings.Join(list, ", ") + " and Z", form: "no label"}, {text: strings.Join(list, " or "), form: "or"}, {text: "none of them", form: "no label"},
	}...)
}

func drawRanking(r *rand.Rand) said {
	items := r.Perm(9)[:5]
	list, words := make([]string, 5), make([]string, 5)
	for i, n := range items {
		list[i] = strconv.Itoa(n + 1)
		words[i] = "#" + list[i]
	}
	want := "[" + strings.Join(list, ",") + "]"
	return pick(r, []said{
		{text: "[" + strings.Join(list, ", ") + "]", want: want, form: "list", latex: true}, {text: strings.Join(list, ", "), want: want, form: "line"},
		{text: strings.Join(words, ", "), want: want, form: "line"}, {text: strings.Join(list, " > "), want: want, form: "line"},
		{text: "[" + strings.Join(list, ", ") + "], given c1=[2, 7, 8]", want: want, form: "with its source"},
		{text: "[" + strings.Join(list, ", ") + "] or [1, 2]", form: "two lists"}, {text: "[]", form: "none"},
	}...)
}

func drawText(r *rand.Rand) said {
	text := pick(r, "St. Louis", "J. K. Rowling", "Mr. Smith", "C#", "#364", "*.py", "_id", "Paris", "U.S. Bancorp", "Charles L. Clifford", "New York City", "1,234 km", "> ] ]", "Dr. No", "George W. Bush", "Vol. 2", "[a]", "snake_case_name")
	return said{text: text, want: strconv.Quote(text), form: "text"}
}

// frames are how a reply says its answer. The value of those in LaTeX stands in a box.
func frames() map[string]string {
	return map[string]string{
		"line": "Answer: %s", "bold line": "**Answer: %s**", "bold mark": "**Answer:** %s", "final line": "Final Answer: %s", "heading": "## Final Answer\n\n%s", "below": "Answer:\n%s",
		"sentence": "The answer is %s.", "so": "So the answer is %s.", "therefore": "Therefore, the correct answer is %s.", "says": "I think the answer is %s.", "paren": "The answer (in short) is %s.",
		"element": "<answer>%s</answer>", "object": `{"answer": %s}`, "fence": "```json\n{\"answer\": %s}\n```",
		"box": `So we get $\boxed{%s}$.`, "minerva": `The final answer is: $\boxed{%s}$. I hope it is correct.`, "line box": `Answer: $\boxed{%s}$`,
	}
}

// TestGeneratedReplies writes replies of which it knows the statement made: a value in some
// form, script and decoration, in a frame, with hedges before and behind, and thoughts. None may
// be read as another value. Those that are unparsed although they say something are counted.
func TestGeneratedReplies(t *testing.T) {
	n := 40_000
	if testing.Short() {
		n = 4_000
	}
	r := rand.New(rand.NewPCG(46, 1))
	told, could := map[string]int{}, map[string]int{}
	for range n {
		w := pick(r, worlds()...)
		v, wrong := w.draw(r), w.draw(r)
		frame := pick(r, slices.Sorted(maps.Keys(frames()))...)
		text, ok := framed(w, v, frame)
		if !ok {
			continue
		}
		want, how := v.want, frame
		text, want, how = hedged(r, w, text, want, wrong, how)
		a := reply.Conclude(text, false, w.spec)
		got := strings.ReplaceAll(string(a.Value), `\u003e`, ">")
		if a.Outcome != methods.Answered {
			got = ""
		}
		key := w.name + ": " + v.form + " in " + how
		for _, form := range []reply.Form{reply.ObjectForm, reply.TurnForm, reply.LineForm} { // as a method reads it
			parts := reply.Split(text)
			r, err := reply.ReadAnswer(parts.Said, w.spec, form)
			live := strings.ReplaceAll(string(r.Answer.Value), `\u003e`, ">")
			if !parts.Open && live != got && !(err != nil && got == "") {
				t.Errorf("%s: a method reads %s, and a file of results %s", key, live, got)
			}
		}
		switch {
		case got == want:
		case got == "":
			told[key]++
		default:
			t.Errorf("%s: silently wrong: want %q, got %s from\n%s", key, want, a.Value, text)
		}
		if want != "" {
			could[key]++
		}
	}
	lost, all := 0, 0
	for _, key := range slices.Sorted(maps.Keys(could)) {
		lost, all = lost+told[key], all+could[key]
		if told[key] > 0 {
			t.Logf("told: %d of %d: %s", told[key], could[key], key)
		}
	}
	t.Logf("%d of %d replies that say their answer are unparsed (%.2f %%)", lost, all, 100*float64(lost)/float64(all))
	if 50*lost > all {
		t.Errorf("%d of %d replies that say their answer are unparsed", lost, all)
	}
}

// framed is a value in a frame; false where nobody writes it so.
func framed(w world, v said, frame string) (string, bool) {
	text := v.text
	switch {
	case strings.Contains(frame, "box") || frame == "minerva":
		if !v.latex {
			return "", false
		}
	case frame == "object" || frame == "fence":
		if w.spec.Kind == methods.Set || w.spec.Kind == methods.Ranking {
			if !strings.HasPrefix(text, "[") || v.want == "" || strings.Contains(text, "c1") {
				return "", false
			}
		} else {
			text = strconv.Quote(text)
			if strings.Contains(text, `\u`) || strings.Contains(text, `\x`) {
				return "", false
			}
		}
	case strings.HasSuffix(v.text, "*") && strings.Contains(frame, "bold"), strings.HasPrefix(v.text, "*") && strings.Contains(frame, "bold"):
		return "", false
	}
	return fmt.Sprintf(frames()[frame], text), true
}

// hedged puts a reply between what models write before and behind it.
func hedged(r *rand.Rand, w world, text, want string, wrong said, how string) (string, string, string) {
	earlier := ""
	for _, name := range slices.Sorted(maps.Keys(frames())) {
		if other, ok := framed(w, wrong, name); ok && wrong.want != "" && (earlier == "" || r.IntN(4) == 0) {
			earlier = other
		}
	}
	switch r.IntN(10) {
	case 0:
		text, how = earlier+" Wait, that is wrong.\n"+text, how+" after a retraction"
	case 1:
		text, how = earlier+"\nLet me check that again, step by step.\n\n"+text, how+" after another"
	case 2:
		if want != "" && earlier != "" {
			text, want, how = text+"\nWait, that is wrong. Let me think.", "", how+" taken back"
		}
	case 3:
		text, how = "We add what we know, and divide.\n\n"+text, how+" after prose"
	case 4:
		if !strings.Contains(how, "below") && !strings.Contains(how, "heading") {
			text, how = text+"\n\nThis follows from the second sentence.", how+" before prose"
		}
	}
	switch r.IntN(8) {
	case 0:
		text, how = "<think>\nPerhaps. "+earlier+"\nNo.\n</think>\n\n"+text, how+" with thoughts"
	case 1:
		text, how = "Perhaps. "+earlier+"\nNo.\n</think>\n\n"+text, how+" with thoughts that the template opens"
	case 2:
		text, want, how = "<think>\nPerhaps. "+earlier+"\n"+text, "", how+" in a cut thought"
	case 3:
		marks := pick(r, [2]string{"[THINK]", "[/THINK]"}, [2]string{"<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"},
			[2]string{"<|begin_of_thought|>\n", "\n<|end_of_thought|>\n"}, [2]string{"<|channel>thought\n", "<channel|>"}, [2]string{"◁think▷", "◁/think▷"})
		text, how = marks[0]+"Perhaps. "+earlier+marks[1]+text, how+" with "+marks[0]
	}
	return text, want, how
}
