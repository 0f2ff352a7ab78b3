package reply

import (
	"cmp"
	"errors"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"noema/methods"
)

// statement is a place in a reply that says what the answer is.
type statement struct {
	at, to  int     // in the text: all of it
	value   int     // where its value begins
	line    string  // its value
	rest    string  // the lines below it, where the value may go on there
	object  *object // in place of line
	name    string
	loose   bool   // not a mark that prompts ask for
	prose   bool   // a sentence, which may be about the answer and not say it
	closed  bool   // the value has an end of its own: a brace, a tag
	several bool   // it goes on from another with "or" and the like
	doubt   bool   // it says the answer under a condition, of something else, or denies it
	after   string // of a sentence: the rest of its line
}

func (s statement) read(spec methods.AnswerSpec) (Reading, error) {
	switch {
	case s.several:
		return Reading{}, errSeveral
	case s.doubt:
		return Reading{}, errors.New("it does not say plainly what the answer is")
	}
	if s.object != nil {
		return s.object.read(spec)
	}
	line := s.line
	if line == "" { // the answer may follow on lines of its own
		line = below(s.rest, spec)
	}
	if line == "" {
		return Reading{}, errors.New(`nothing follows "Answer:"`)
	}
	if rest := strings.TrimPrefix(s.rest, line); spec.Kind != methods.Text && s.object == nil && goesOn.MatchString(rest) {
		return Reading{}, errSeveral
	}
	if other := optionOf(strings.Trim(s.after, " *_.)"), spec); s.prose && other != "" && spec.Kind == methods.Choice {
		if r, err := choiceIn(line, spec); err != nil || string(r.Answer.Value) != string(methods.ChoiceAnswer(other).Value) {
			return Reading{}, errSeveral
		}
	}
	if i := sentenceEnd(line, spec.Kind == methods.Choice); takesBack(line[i:]) {
		return Reading{}, errTakenBack
	}
	switch {
	case !s.prose:
	case spec.Kind == methods.Text && strings.HasSuffix(line, " …"):
		return Reading{}, errors.New("its text may end at its mark or go on")
	case spec.Kind == methods.Text && denied.MatchString(line):
		return Reading{}, errors.New("it says what the answer is not")
	case spec.Kind != methods.Text && strings.HasSuffix(strings.TrimRight(line, " \"'*_)"), "?"):
		return Reading{}, errors.New("it asks whether that is the answer")
	}
	return readText(line, s.rest, spec)
}

// endsOnAnother reports whether a text ends on another number or label than the answer, as in
// "Adding the driver gives 13."
func endsOnAnother(text string, answer methods.Answer, spec methods.AnswerSpec) bool {
	text = strings.TrimRight(text, " \t\r\n.!*_$)\"'")
	last := text[strings.LastIndexByte(text, '\n')+1:]
	for i := sentenceEnd(last, true); i < len(last); i = sentenceEnd(last, true) {
		last = last[i:]
	}
	switch m := lastWord.FindStringIndex(last); {
	case m == nil:
	case spec.Kind == methods.Number:
		r, err := numberIn(last[m[0]:], spec)
		return err == nil && string(r.Answer.Value) != string(answer.Value)
	case spec.Kind == methods.Choice && (m[0] == 0 || stated.MatchString(last[:m[0]]) || strings.HasSuffix(last[:m[0]], " ")):
		r, err := label(last[m[0]:], spec)
		return err == nil && string(r.Answer.Value) != string(answer.Value) && !negation.MatchString(last[:m[0]])
	}
	return false
}

// lastWord is a number or a single capital letter at the end of a text.
var lastWord = regexp.MustCompile(`(?:[-−]?\p{Sc}?\d[\d.,]*|\b\p{Lu})$`)

// contradicted reports whether a line of a text is another value and nothing else, as after a
// recount: what it says stands beside the answer that came before.
func contradicted(text string, answer methods.Answer, spec methods.AnswerSpec) bool {
	if endsOnAnother(text, answer, spec) {
		return true
	}
	for line := range strings.SplitSeq(text, "\n") {
		bare := bareValue(connective.ReplaceAllString(strings.TrimLeft(strings.TrimSpace(line), "#> "), ""))
		var one Reading
		err := errNothing
		switch {
		case bare == "" || len(bare) > 40:
		case spec.Kind == methods.Number && loneNumber.MatchString(bare):
			one, err = numberIn(bare, spec)
		case spec.Kind == methods.Choice:
			one, err = label(bare, spec)
		case spec.Kind == methods.Set && len(spec.Labels) > 0:
			if name, ok := member(bare, spec); ok && !strings.Contains(string(answer.Value), name) {
				return true
			}
		case spec.Kind == methods.Ranking && intList.FindString(bare) == bare:
			one, err = ranked(bare, spec)
		}
		if err == nil && string(one.Answer.Value) != string(answer.Value) {
			return true
		}
	}
	return false
}

var (
	// connective begins a line that says a value again or anew.
	connective = regexp.MustCompile(`(?i)^(?:(?:so|therefore|thus|hence|result|total|edit|update|final|finally|or|and|part [a-h]|\(?[a-h]\))[:,]? +)+`)
	loneNumber = regexp.MustCompile(`^[-−+]?\p{Sc}? ?[\d.,]+ ?(?:%|million|billion|thousand)?$`)
	// nextQuestion begins what a model goes on with behind its answer: a question of its own making.
	nextQuestion = regexp.MustCompile(`(?im)^\W*(?:question|q|problem|exercise)(?: ?\d+)?\s*[:.]|<\|(?:endoftext|im_end|im_start|eot_id|end_of_text)\|>|</s>`)
)

// asked is a reply up to the question that its model goes on with behind an answer.
func asked(text string, spec methods.AnswerSpec, form Form) string {
	at := nextQuestion.FindStringIndex(text)
	if at == nil || len(statements(text[:at[0]], spec, form)) == 0 {
		return text
	}
	return text[:at[0]]
}

// below is the value that stands on the lines under a mark: all of them for a text, a set or
// fields, and else the first.
func below(rest string, spec methods.AnswerSpec) string {
	rest = strings.TrimSpace(rest)
	switch spec.Kind {
	case methods.Number, methods.Choice:
		line, _, _ := strings.Cut(rest, "\n")
		return strings.TrimLeft(strings.TrimSpace(line), "#> ")
	case methods.Text:
		if !strings.HasPrefix(rest, "```") {
			rest, _, _ = strings.Cut(rest, "\n\n")
		}
	}
	return rest
}

// goesOn begins a line that goes on with the value of the line before it.
var goesOn = regexp.MustCompile(`(?i)^\s*(?:or|and|nor|hundred|thousand|million|billion|trillion)\b`)

// The marks of a line and of a sentence. echoed matches what small models repeat of prompts,
// as in "The answer is one number."
var (
	answerLabel = regexp.MustCompile(`(?i)^(?:(?:my|the|so|thus|therefore|hence|and)[, ]+)*(?:(?:final |correct |right |best )*answer|antwort|respuesta( final)?|réponse( finale)?|resposta|risposta|ответ|答案|答え|คำตอบ|উত্তর|సమాధానం|jibu)(?: ?\([^()\n]{1,40}\))?[` + "`" + `*_ \t]*[:：]`)
	shortLabel  = regexp.MustCompile(`^A:`) // of transcripts, beside "Q:"
	answerHead  = regexp.MustCompile(`(?i)^(?:the |my )?(?:final |correct )?answer[` + "`" + `*_ \t]*$`)
	// answerIs matches a sentence of the answer from its noun on, and before what comes before it:
	// a result or an option is the answer if it is called the right one.
	answerIs = regexp.MustCompile(`^(?i:answers?|option|choice|result|solution|respuesta|antwort|r[ée]ponse|resposta|risposta|ответ|উত্তর|คำตอบ|jibu)` +
		`(?: ?\([^()\n]{1,40}\))?(?i: (?:to|of|for)\b[^.\n?!;:"“]{1,100}?)?(?i: (?:key|option|choice|letter))?[*_` + "`" + ` \t]*` +
		`(?:(?i:no es|ist nicht|n['’]est pas|não é|non è|is(?: not|n['’]t)?|turns out to be|has to be|comes (?:out )?to(?: be)?|changes to|can(?: only|not|['’]t) be|, (?:therefore|thus|hence|then), is|are|was|would be|should be|must be|will be|becomes|equals|es|ist|lautet|est|ni)\b|[=:：]|(?:é|è|—|হল|হলো)\s|คือ)` +
		`(?:[ \t]+(?:thus|therefore|then|indeed|simply|hence|clearly|actually|definitely|most likely|likely|probably)\b)*[ \t]*(?:[*_]*[:：][*_]*)?`)
	called    = regexp.MustCompile(`(?i)\b(?:correct|right|best|final|my) $`)
	answerCJK = regexp.MustCompile(`(?:答案|答え)[应应該为為是は：:]+`)
	isCorrect = regexp.MustCompile(`^(?i) is(?: indeed| therefore| thus)?(?: the)?(?: most| single| only)?(?: (?:correct|right|best|final)(?: answer| option| choice)?| answer)\b\s*(?:[.!,;:\n]|$|because|since)`)
	echoed    = regexp.MustCompile(`(?i)^["'<{\[(]*(?:one number\b|a short text\b|a set of\b|a value for each\b|(?:number|label|text|your answer|final answer)["'>}\])]*[.!]*$|\.\.\.|…)`)
	boxedOpen = regexp.MustCompile(`\\(?:boxed|fbox)\s*\{`)
	hashes    = regexp.MustCompile(`[^\n#] *#### *([^\n#]+)`) // behind the end of a line, not a heading
	tagged    = regexp.MustCompile(`(?is)<(answer|final_answer)>(.*?)(?:</(?:answer|final_answer)>|$)`)
)

var (
	errTakenBack = errors.New("it takes its answer back")
	// conditional matches what makes a sentence about the answer no statement of it.
	conditional = regexp.MustCompile(`(?i)\b(?:if|whether|suppose|supposing|assume|assuming|unless|how|why|doubt|claims?|claimed|says?|said|not)\b[^.!?;\n]*$`)
	// otherAnswer ends the words before "answer" that make it another's, or not the one asked for.
	otherAnswer = regexp.MustCompile(`(?i)\b(?:wrong|incorrect|worst|second[- ]best|least likely|previous|first|second|initial|earlier|original|\w+['’]s|smaller|larger|other|alternative|possible|old)\s+$`)
	deniedVerb  = regexp.MustCompile(`(?i)\b(?:is|was)(?: not|n['’]t)\b|\bcan(?:not|['’]t) be\b|no es$|ist nicht$|n['’]est pas$|não é$|non è$`)
	// denied begins a value that is what the answer is not.
	denied = regexp.MustCompile(`(?i)^\W*(?:not|neither|definitely not|certainly not)\b`)
	// withheld says that there is no answer.
	withheld = regexp.MustCompile(`(?i)\b(?:none|neither|not|unclear|unknown|cannot|can't|impossible|undetermined|indeterminate|ambiguous|zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thir|four|fif|six|seven|eigh|nine|twenty|thirty|forty|fifty|hundred|thousand|million|billion|dozen|half|infinity|infinite)`)
	// about begins a value that describes the answer instead of giving it.
	about = regexp.MustCompile(`^\W*(?:obtained|complicated|difficult|hidden|in dispute|quite clear|simple\b|given above|can be found|found by|given by|given in|determined|based on|clear\b|obvious|derived|calculated|computed|straightforward|as follows|that\b|because\b|well[- ]known|(?:correct|wrong|incorrect|right)(?:[ .,;]|$)|the same\b|to be found)`)
	// takenBack matches what takes an answer back, or adds another, behind it.
	takenBack = regexp.MustCompile(`(?i)(?:^|[.!?:;,\n—–)(-])[\s"'*_]*(?:(?:but|oh|no|and|so|ah|well),? )*(?:wait\b|hold on\b|hang on\b|hmm+\b|oops\b|whoops\b|scratch that\b|strike that\b|on second thoughts?\b|correction\b|never ?mind\b|actually\b|no[,.!]|sorry\b|my mistake\b|alternatively\b|or (?:maybe|perhaps|possibly|rather|is it)\b` +
		`|let me (?:re-?(?:think|consider|do|calculate|compute|read|examine|evaluate|check)|correct|fix|try again|start over)|i (?:was|am|made|have made|may have made|might have made) (?:a |an |some )?(?:mistake|error|wrong|mistaken|incorrect))` +
		`|\bi'm (?:wrong|mistaken)\b|\b(?:that|this|which|it|(?:the|my) (?:above |previous |first |earlier )?(?:answer|result))(?:['’]s| is| was| seems| looks) (?:wrong|incorrect|not (?:right|correct|quite right)|a mistake|an error|mistaken|false)\b` +
		`|\b(?:it|this|the answer) (?:could|might|may) (?:also |as well |instead )?be\b`)
	// added matches what denies an answer or gives another behind a statement of it.
	added = regexp.MustCompile(`(?i)(?:^|[.!?:;\n])[\s"'*_]*(?:or\b|also\b|plus\b|edit\b|disregard\b|make (?:that|it)\b|(?:i|we|it|that|this) (?:should|must|ought to)(?: really| actually| instead)? be\b` +
		`|i (?:mis\w+|change|changed|meant|withdraw)\b|i['’]?(?:ll| will| would) (?:go|change|switch)\b|let me (?:recount|redo|revise))` +
		`|\b(?:can['’]?t|cannot|couldn['’]t|doesn['’]t|does not|didn['’]t|did not) (?:be|look|seem|sound) (?:right|correct|true)\b|\bthe above (?:is|was) (?:wrong|incorrect)\b|\bis also (?:correct|right|true)\b|\b(?:correct|right|true) too\b|\brules? (?:this|that|it|[A-Z]) out\b|\brules out\b|\b(?:we|i) forgot\b|\bthis answer is (?:not|wrong)|\banswer above is (?:not|wrong)|\bignore (?:the|that|my)\b|\bdisregard\b|\bno longer sure\b|\bthat is impossible\b|\bcontradicts?\b|\bchanging my\b|\bapolog\w+|\bmore precisely\b|\bfits better\b|\bmore accurate\b|\bbetter option\b`)
	// joining ends a text that goes on with another answer of the same statement.
	joining = regexp.MustCompile(`(?i)(?:\b(?:or|and|nor)|[,;/&])[\s$"'*_(\\]*(?:\pL\s*=\s*)?$`)
)

// cues are the words of takenBack, one of which a text must have. They are looked for first,
// since expressions are slow on long texts.
var cues = []string{"wait", "hold on", "hang on", "hmm", "oops", "scratch", "strike", "second thought", "correction", "nevermind", "never mind", "actually", "no,", "no.", "no!",
	"sorry", "mistake", "alternatively", "maybe", "perhaps", "possibly", "rather", "or is it", "let me", "wrong", "incorrect", "mistaken", "error", "not right", "not correct", "not quite", "false", "could", "might", "may", "or ", "also", "plus", "edit", "disregard", "make ", "should", "must", "ought", " mis", "change", "meant", "withdraw", "'ll", "’ll", "recount", "redo", "revise", "too", "rule", "n't", "n’t", "not "}

// takesBack reports whether a text takes back the answer before it, or gives another.
func takesBack(text string) bool {
	lower := asciiLower(text)
	return slices.ContainsFunc(cues, func(cue string) bool { return strings.Contains(lower, cue) }) && takenBack.MatchString(text)
}

// statements finds what a reply says the answer is, in order. What stands within a literal
// is data. A sentence and the box in it are one statement.
func statements(text string, spec methods.AnswerSpec, form Form) []statement {
	spans, _ := literals(text)
	isData := func(at int) bool {
		i, _ := slices.BinarySearchFunc(spans, at, func(l literal, at int) int { return cmp.Compare(l.to, at) })
		return i < len(spans) && spans[i].from < at && at < spans[i].to
	}
	all := answerObjects(text, spans, form)
	all = append(all, markedLines(text, spec)...)
	if !unfinished(text) { // an object that does not end is not text with marks
		all = append(all, otherMarks(text)...)
		all = append(all, sentences(text, spec)...)
	}
	all = slices.DeleteFunc(all, func(s statement) bool { return s.object == nil && isData(s.at) })
	for i := range all {
		if s := &all[i]; s.closed && s.object == nil {
			s.doubt = s.doubt || altered(text, s.at, s.to)
			s.several = s.several || laterPart.MatchString(text[max(0, s.at-40):s.at])
		}
	}
	slices.SortStableFunc(all, func(a, b statement) int { return cmp.Or(a.at-b.at, b.to-a.to) })
	var found []statement
	for _, s := range all {
		last := len(found) - 1
		switch {
		case last < 0 || s.at >= found[last].to:
			if last >= 0 && s.closed && found[last].closed && gap(text[found[last].to:s.at]) {
				s.several = true
			}
			found = append(found, s)
		case s.at < found[last].value, s.prose && found[last].closed: // its own mark, or words in a box
		case found[last].object != nil:
		default:
			s.several = s.several || joining.MatchString(text[found[last].value:s.at]) && strings.TrimSpace(text[found[last].value:s.at]) != ""
			s.doubt = s.doubt || found[last].doubt
			s.at, s.name, s.loose = found[last].at, found[last].name, found[last].loose
			found[last] = s
		}
	}
	return found
}

// laterPart ends the words before a box that is the answer to a part of the question.
var laterPart = regexp.MustCompile(`(?i)(?:^|[\n.;])\W*(?:part\s+\(?[b-h2-9]\)?|\([b-h]\)|\(ii+\)|[b-h]\))[\s:$*_\\(\[]*$`)

var (
	// signedBefore ends the words before a box that make another value of it, or deny it.
	signedBefore = regexp.MustCompile(`(?i)(?:[-−+*/^<>≥≤±×\d]|\\(?:pm|mp|times|cdot|neq?|leq?|geq?)|\{|\b(?:minus|negative|at least|at most|not|n't|never|than|either \w+ or|\w or)(?: equal to| the answer)?)[\s$*_(]*$|(?:\\\(|\\\[)?[-−][\s$]*$`)
	// wentOn begins the words behind a box that make another value of it, or deny it.
	wentOn = regexp.MustCompile(`(?i)^[\s$*_)\\]*(?:\^|_|\d|(?:hundred|thousand|million|billion|trillion|bn|mn|k)\b|(?:or|and|nor)\s+[($*\\]*(?:\pL\b|\d|boxed)|,\s*[($]*(?:\p{Lu}\b[^.\p{Ll}]|\d)|(?:is|was|are)(?:n't| not| wrong| incorrect| false))`)
)

// altered reports whether the words beside a box or an element make another value of it.
func altered(text string, from, to int) bool {
	before := text[max(0, from-60):from]
	before = before[strings.LastIndexAny(before, ".;\n")+1:]
	if strings.HasSuffix(strings.TrimRight(before, " $"), "=") {
		before = ""
	}
	return signedBefore.MatchString(before) || wentOn.MatchString(text[to:min(len(text), to+60)])
}

// gap reports whether what stands between two answers joins them: no sentence ends in it.
func gap(between string) bool {
	return len(between) < 80 && (joining.MatchString(between) || strings.TrimSpace(between) == "")
}

// unfinished reports whether a text begins with an object that does not end.
func unfinished(text string) bool {
	trimmed := strings.TrimSpace(text)
	if !strings.HasPrefix(trimmed, "{") {
		return false
	}
	_, ok := literalAt(trimmed, 0)
	return !ok
}

// lead is Markdown that models put before a mark at the beginning of a line: quotes, headings,
// bullets, emphasis.
const lead = " \t\r*_#>`-•"

// markedLines finds the lines that begin with "Answer:", or have that as their heading.
func markedLines(text string, spec methods.AnswerSpec) (all []statement) {
	short := spec.Kind != methods.Choice && spec.Kind != methods.Set && !strings.Contains(text, "Q:") // where A is not a label
	for start := 0; start <= len(text); {
		end := len(text)
		if i := strings.IndexByte(text[start:], '\n'); i >= 0 {
			end = start + i
		}
		line := text[start:end]
		s := strings.TrimLeft(line, lead)
		label := answerLabel.FindString(s)
		if label == "" && short {
			label = shortLabel.FindString(s)
		}
		if label == "" && strings.TrimSpace(text[end:]) != "" {
			label = answerHead.FindString(s)
		}
		if label != "" {
			opened := line[:len(line)-len(s)]
			at := start + len(opened) + len(label)
			value := text[at:end]
			for _, e := range emphases { // "**Answer:** 5"
				if strings.Contains(opened, e) && strings.Count(label, e)%2 == 0 && strings.HasPrefix(value, e) {
					value, opened = value[len(e):], strings.Replace(opened, e, "", 1)
				}
			}
			value = strings.TrimSpace(closed(opened, value))
			rest := text[min(len(text), end+1):]
			if strings.HasPrefix(value, "```") && strings.Contains(rest, "```") {
				value, rest = "", value+"\n"+rest // a block that begins on the line of its mark
			}
			to := end
			if strings.Trim(value, "*_`") == "" {
				value = ""
				to += len(rest) - len(strings.TrimLeft(rest, "\n\r\t ")) + 1 // up to where the value begins
				to = min(to, len(text))
				if i := strings.IndexByte(text[to:], '\n'); i >= 0 {
					to += i
				} else {
					to = len(text)
				}
			}
			all = append(all, statement{at: start, to: to, value: at, line: unpaired(value), rest: rest, name: "a line that begins with \"Answer:\""})
		}
		start = end + 1
	}
	return latest(all)
}

// otherMarks finds boxes of LaTeX, tags, and the last line where it begins with "####".
func otherMarks(text string) (all []statement) {
	last := strings.LastIndexByte(strings.TrimRight(text, " \t\r\n"), '\n') + 1
	if tail := strings.TrimSpace(text[last:]); strings.HasPrefix(tail, "####") && strings.TrimLeft(tail, "#") != "" {
		all = append(all, statement{at: last, to: len(text), value: last, line: unpaired(strings.TrimLeft(tail, "# ")), name: "a last line that begins with \"####\"", loose: true})
	}
	if strings.Contains(text, "####") {
		for _, m := range latest(hashes.FindAllStringSubmatchIndex(text, -1)) {
			all = append(all, statement{at: m[2] - 1, to: m[3], value: m[2], line: unpaired(text[m[2]:m[3]]), name: "a last line that begins with \"####\"", loose: true})
		}
	}
	if strings.Contains(text, "<") {
		for _, m := range latest(tagged.FindAllStringSubmatchIndex(text, -1)) {
			all = append(all, statement{at: m[0], to: m[1], value: m[4], line: strings.TrimSpace(text[m[4]:m[5]]), name: "an element <answer>", loose: true, closed: strings.HasSuffix(text[m[0]:m[1]], ">")})
		}
	}
	from := 0
	for _, m := range latest(boxedOpen.FindAllStringIndex(text, -1)) {
		if m[0] < from {
			continue // a box in a box
		}
		line, to := boxed(text, m[1])
		all = append(all, statement{at: m[0], to: to, value: m[1], line: line, name: "a box of LaTeX", loose: true, closed: true})
		from = to
	}
	return all
}

// boxed is what stands in the braces that open before at, and where they close.
func boxed(text string, at int) (string, int) {
	depth := 1
	for i := at; i < len(text); i++ {
		switch text[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				inner := strings.TrimSpace(text[at:i])
				if m := inCommand.FindStringSubmatch(inner); m != nil {
					inner = m[1]
				}
				return inner, i + 1
			}
		}
	}
	return "", len(text)
}

// sentences finds the sentences that say what the answer is.
func sentences(text string, spec methods.AnswerSpec) (all []statement) {
	add := func(at, value, to int, line string, doubt bool) {
		if plausible(line, spec) {
			all = append(all, statement{at: at, to: to, value: value, line: line, doubt: doubt, after: untilLine(text[to:]), name: "a sentence \"The answer is …\"", loose: true, prose: true})
		}
	}
	for _, m := range latest(answerMarks(text)) {
		clause := text[max(0, m[0]-200):m[0]]
		clause = clause[strings.LastIndexAny(clause, ".!?;\n")+1:]
		doubt := conditional.MatchString(clause) || otherAnswer.MatchString(clause) || deniedVerb.MatchString(text[m[0]:m[1]])
		at, value := m[0], m[1]
		if below := strings.TrimLeft(text[value:], " \t*_"); strings.HasPrefix(below, "\n") { // on the next line
			value = len(text) - len(strings.TrimLeft(below, "\n\r\t "))
		}
		to := value + sentenceEnd(text[value:min(len(text), value+maxSentence)], spec.Kind == methods.Choice)
		line := closed(text[at:value]+clause, strings.TrimSpace(text[value:to]))
		if spec.Kind == methods.Text || spec.Kind == methods.Fields {
			if mark := text[to-1]; (mark == '!' || mark == '?') && strings.TrimLeft(untilLine(text[to:]), " \t\"'*_") != "" {
				line += " …" // a title may go on behind its mark, or a sentence begin
			}
			if m := behindInitial.FindStringSubmatch(line); m != nil && sentenceWords.MatchString(m[1]) {
				line += " …" // an initial may end the sentence: "Malcolm X. Malcolm was born in 1925"
			}
			line = unpaired(strings.TrimSuffix(strings.TrimRight(line, "!。"), "."))
		}
		add(at, value, to, line, doubt)
	}
	if spec.Kind == methods.Choice {
		for _, at := range latest(places(text, " is ")) {
			m := isCorrect.FindStringIndex(text[at:min(len(text), at+80)])
			if m == nil {
				continue
			}
			from := clauseStart(text, at)
			line := strings.TrimSpace(text[from:at])
			if _, err := choiceIn(line, spec); err == nil {
				add(from, from, at+m[1], line, false)
			}
		}
	}
	return all
}

// nouns are the words for the answer, in small letters.
var nouns = []string{"answer", "option", "choice", "result", "solution", "respuesta", "antwort", "réponse", "reponse", "resposta", "risposta", "ответ", "উত্তর", "คำตอบ", "jibu"}

// answerMarks are where sentences of the answer begin and where their values do, in order.
func answerMarks(text string) (marks [][2]int) {
	lower := strings.ToLower(text)
	if len(lower) != len(text) { // a letter whose small form has another length
		lower = asciiLower(text)
	}
	for _, noun := range nouns {
		for _, at := range latest(places(lower, noun)) {
			m := answerIs.FindStringIndex(text[at:min(len(text), at+250)])
			if m == nil || at > 0 && isLetter(text[at-1]) {
				continue
			}
			from := at
			if adjective := called.FindStringIndex(text[max(0, at-10):at]); adjective != nil {
				from = max(0, at-10) + adjective[0]
			} else if noun[0] != 'a' && isLetter(noun[0]) && slices.Index(nouns, noun) < 5 {
				continue
			}
			marks = append(marks, [2]int{from, at + m[1]})
		}
	}
	if strings.ContainsRune(text, '答') {
		for _, m := range answerCJK.FindAllStringIndex(text, -1) {
			marks = append(marks, [2]int{m[0], m[1]})
		}
	}
	slices.SortFunc(marks, func(a, b [2]int) int { return a[0] - b[0] })
	return marks
}

// places are where a text has word.
func places(text, word string) (at []int) {
	for from := 0; ; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return at
		}
		at = append(at, from+i)
		from += i + len(word)
	}
}

// asciiLower is a text with the small letters of ASCII, and as long as it was.
func asciiLower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c | 0x20
		}
	}
	return string(b)
}

var (
	behindInitial = regexp.MustCompile(`(?:\b\p{Lu}|[ap]\.m)\. (\p{Lu}.*)$`)
	// sentenceWords are small words that names do not have.
	sentenceWords = regexp.MustCompile(`\b(?:was|were|is|are|has|had|have|he|she|it|they|wrote|founded|lost|won|born|open|its|who|which)\b`)
)

// untilLine is the rest of a line.
func untilLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// maxSentence bounds a sentence that says what the answer is, in bytes.
const maxSentence = 2000

// latest are the last of many places: earlier ones do not decide.
func latest[T any](places []T) []T { return places[max(0, len(places)-maxCandidates):] }

// clauseStart is where the clause begins that ends at to.
func clauseStart(text string, to int) int {
	from := max(0, to-200)
	from += strings.LastIndexAny(text[from:to], ".!?;,\n") + 1
	for _, word := range []string{"so ", "thus ", "therefore ", "hence ", "that "} {
		if i := strings.LastIndex(strings.ToLower(text[from:to]), word); i >= 0 {
			from += i + len(word)
		}
	}
	return from
}

// plausible reports whether the words of a sentence can be an answer. Those that speak of the
// answer are left to it. Few words count, and so does what denies or withholds the answer: it is
// unparsed then, whatever was said before.
func plausible(line string, spec methods.AnswerSpec) bool {
	if bareValue(line) == "" || echoed.MatchString(line) || about.MatchString(line) {
		return false
	}
	if spec.Kind == methods.Text || len(strings.Fields(line)) <= 3 || withheld.MatchString(line) {
		return true
	}
	switch spec.Kind {
	case methods.Number, methods.Ranking:
		return strings.ContainsFunc(line, unicode.IsDigit)
	case methods.Fields:
		return strings.ContainsAny(line, "{")
	}
	return len(spec.Labels) == 0 || namesLabel(line, spec)
}
