package sim

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"noema/methods"
)

// condition is a line of a strategy.
type condition struct {
	number int
	text   string // with its type
	test   test
}

// builder writes the LWT of one strategy.
type builder struct {
	conditions []condition
	logic      string
	items      int
	best       int
	known      map[string]string // what calls of read have shown, by the call's text
	noise      noise
}

// buildLWT answers a turn of phase 2: reads until it knows all the friends it
// needs, then all steps at once. After a refusal it writes all steps anew.
func buildLWT(prompt string, turns []methods.Message, n noise) (string, bool) {
	strategy, rest, ok := section(prompt, "strategy")
	b := builder{known: map[string]string{}, noise: n}
	items, ok1 := between(rest, "The list has ", " items")
	best, ok2 := between(rest, "The final step names the best ", ".")
	b.items, b.best = items, best
	if !ok || !ok1 || !ok2 || items > maxItems || !b.readStrategy(strategy) {
		return "", false
	}
	have := b.observe(turns)
	if reads := b.missingReads(); len(reads) > 0 {
		return strings.Join(reads, "\n"), true
	}
	return b.calls(have), true
}

var conditionLine = regexp.MustCompile(`^\s*(\d+)\. (.*)$`)

// readStrategy reads the conditions and the logic.
func (b *builder) readStrategy(text string) bool {
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if rest, ok := strings.CutPrefix(line, "LOGIC: "); ok {
			b.logic = rest
			continue
		}
		m := conditionLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		number, err := strconv.Atoi(m[1])
		t, ok := parseTest(m[2])
		if err != nil || !ok {
			return false
		}
		b.conditions = append(b.conditions, condition{number, literal(m[2]), t})
	}
	return len(b.conditions) > 0 && b.logic != ""
}

// literal keeps data in a prompt from being read as a reference.
func literal(text string) string { return strings.ReplaceAll(text, "{(", "{ (") }

var (
	observation = regexp.MustCompile(`^\d+\. (read\(".*?"\)): (.*)$`)
	stepCount   = regexp.MustCompile(`\bok, steps: (\d+)`)
)

// observe takes in what was said so far: what was read, and how many steps
// there are. A call of read whose observation is not found counts as one that
// showed nothing, so that it is not repeated for ever.
func (b *builder) observe(turns []methods.Message) (steps int) {
	for _, m := range turns {
		for line := range strings.Lines(m.Content) {
			line = strings.TrimRight(line, "\r\n")
			switch o := observation.FindStringSubmatch(line); {
			case m.Role == methods.Assistant:
				if strings.HasPrefix(line, "read(") {
					b.known[line] = ""
				}
			case o != nil:
				b.known[o[1]] = o[2]
			default:
				if s := stepCount.FindStringSubmatch(line); s != nil {
					steps, _ = strconv.Atoi(s[1]) // digits
				}
			}
		}
	}
	return steps
}

// missingReads lists the calls that show friends not yet known, in order.
func (b *builder) missingReads() []string {
	var calls []string
	need := func(person string) bool {
		call := readCall(person)
		_, known := b.known[call]
		if !known && !slices.Contains(calls, call) {
			calls = append(calls, call)
		}
		return known
	}
	for _, c := range b.conditions {
		if c.test.kind != "SOCIAL" || !need(c.test.friend) || c.test.hops < 2 {
			continue
		}
		for _, friend := range b.friendsOf(c.test.friend) {
			need(friend)
		}
	}
	return calls
}

func readCall(person string) string {
	path := "friends." + person
	if !plainKey.MatchString(person) {
		path = "friends" + accessor(person)
	}
	return "read(" + escape(path) + ")"
}

// friendsOf is what was read of a person's friends; nil if it was not a list.
func (b *builder) friendsOf(person string) []string {
	var friends []string
	if json.Unmarshal([]byte(b.known[readCall(person)]), &friends) != nil {
		return nil
	}
	return friends
}

// calls writes all steps over the ones that exist already.
func (b *builder) calls(have int) string {
	var steps []string
	for _, c := range b.conditions {
		steps = append(steps, fmt.Sprintf("(c%d)=LLM(%s)", c.number, escape(b.step(c))))
	}
	steps = append(steps, "(final)=LLM("+escape(b.final())+")")
	return b.write(steps, have)
}

// write is the calls that put steps over the ones that exist already.
func (b *builder) write(steps []string, have int) string {
	var out strings.Builder
	for i := have; i > len(steps); i-- {
		fmt.Fprintf(&out, "lwt_delete(%d)\n", i)
	}
	for i, step := range steps {
		call := "lwt_insert"
		if i < have {
			call = "lwt_set"
		}
		fmt.Fprintf(&out, "%s(%d, %s)\n", call, i+1, escape(step))
	}
	return out.String() + "done()"
}

// step is the prompt that checks one condition for every item, with the
// errors of writing: it leaves one item out or names a wrong field, evenly.
func (b *builder) step(c condition) string {
	left, path := 0, c.test.fields()
	if b.noise.errs(write, c.number) {
		if b.noise.below(2, write, 0, c.number) == 0 && b.items > 1 {
			left = 1 + b.noise.below(b.items, write, 1, c.number)
		} else {
			path = c.test.wrongFields()
		}
	}
	var out strings.Builder
	fmt.Fprintf(&out, conditionStep+"%d: %s\n", c.number, c.text)
	b.friendLines(&out, c.test)
	var suffix strings.Builder
	for _, key := range path {
		suffix.WriteString(accessor(key))
	}
	for i := 1; i <= b.items; i++ {
		if i != left {
			fmt.Fprintf(&out, "%d: {(context)}[%d]%s\n", i, i, suffix.String())
		}
	}
	out.WriteString("Which items satisfy the condition? Reply with a JSON list of item numbers only, [] if none.")
	return out.String()
}

// friendLines refers to the friend lists that a social condition needs.
func (b *builder) friendLines(out *strings.Builder, t test) {
	if t.kind != "SOCIAL" {
		return
	}
	people := []string{t.friend}
	if t.hops > 1 {
		for _, friend := range b.friendsOf(t.friend) {
			if b.friendsOf(friend) != nil && !slices.Contains(people, friend) {
				people = append(people, friend)
			}
		}
	}
	for _, person := range people {
		fmt.Fprintf(out, "Friends of %s: {(friends)}%s\n", literal(person), accessor(person))
	}
}

// final is the prompt that combines the outputs of the other steps.
func (b *builder) final() string {
	var out strings.Builder
	fmt.Fprintf(&out, finalStep+"%d.\n<request>\n{(query)}\n</request>\n", b.items)
	for _, c := range b.conditions {
		fmt.Fprintf(&out, "Condition %d: %s\nSatisfied by: {(c%d)}\n", c.number, c.text, c.number)
	}
	fmt.Fprintf(&out, "LOGIC: %s\n", b.logic)
	fmt.Fprintf(&out, "Put the items that fulfil the logic first, then those that come closest to it. Reply with a JSON list of the best %d item numbers only, best first.", b.best)
	return out.String()
}

// fields is where the data of a test lies in an item.
func (t test) fields() []string {
	switch t.kind {
	case "HOURS":
		return []string{"hours", t.day}
	case "REVIEW_TEXT", "SOCIAL":
		return []string{"reviews"}
	}
	return splitPath(t.path)
}

// wrongFields is a path that a careless builder writes in its place: another
// day, or a name that the data does not have.
func (t test) wrongFields() []string {
	if t.kind == "HOURS" {
		return t.misread().fields()
	}
	fields := slices.Clone(t.fields())
	last := []rune(fields[len(fields)-1])
	if unicode.IsUpper(last[0]) {
		last[0] = unicode.ToLower(last[0])
	} else {
		last[0] = unicode.ToUpper(last[0])
	}
	fields[len(fields)-1] = string(last)
	return fields
}

var pathKey = regexp.MustCompile(`\["((?:[^"\\]|\\.)*)"\]|[^.\[]+`)

// splitPath reads dotted keys; unusual keys are written ["a.b"]. It returns at
// least one key, and none is empty.
func splitPath(path string) []string {
	var keys []string
	for _, m := range pathKey.FindAllStringSubmatch(path, -1) {
		key := m[0]
		if strings.HasPrefix(key, `["`) {
			key = unescaper.Replace(m[1])
		}
		if key != "" {
			keys = append(keys, key)
		}
	}
	if keys == nil {
		return []string{path}
	}
	return keys
}

var plainKey = regexp.MustCompile(`^[A-Za-z0-9_]+([ -]+[A-Za-z0-9_]+)*$`)

// accessor is a key as LWT references write it.
func accessor(key string) string {
	if plainKey.MatchString(key) {
		return "[" + key + "]"
	}
	return `["` + keyEscaper.Replace(key) + `"]`
}

var (
	keyEscaper = strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	unescaper  = strings.NewReplacer(`\\`, `\`, `\"`, `"`)
	escaper    = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`)
)

// escape writes a string as LWT and its calls do.
func escape(s string) string { return `"` + escaper.Replace(s) + `"` }
