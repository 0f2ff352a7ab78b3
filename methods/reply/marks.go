package reply

import (
	"regexp"
	"strings"

	"noema/methods"
)

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
