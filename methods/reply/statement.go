package reply

import (
	"cmp"
	"errors"
	"regexp"
	"slices"
	"strings"

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

// gap reports whether what stands between two answers joins them: no sentence ends in it.
func gap(between string) bool {
	return len(between) < 80 && (joining.MatchString(between) || strings.TrimSpace(between) == "")
}
