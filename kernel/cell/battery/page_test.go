package battery

import (
	"fmt"
	"strings"
)

const pageHead = `# What a cell can hold

A cell of a notebook, the terminal or a script is Go. It is checked with Go's own type checker and lowered to the plain instructions of go/ssa, in which the language's finer points are spelled out; package machine executes these on ordinary Go memory. Compiled packages are reached through yaegi's symbol tables. This page lists what was tried: every line below ran in a session and, compiled by the Go toolchain, as a program, and printed the same, or was refused with a message.

- **works**: yaegi's own interpreter, given the text as it stands, has it right, too.
- **lowered**: it does not, mostly in silence; a session has it right.
- **refused**: the session says that it cannot do it, and what to do instead.
- **an error, as in Go**: the Go compiler refuses it with the same message.

The page is written by the test of kernel/cell/battery, where each line's text can be read: ` + "`go test ./kernel/cell/battery -update`" + `.
`

// renderPage writes the page of all outcomes.
func renderPage(themes []theme, found map[*snippet]result) string {
	var b strings.Builder
	b.WriteString(pageHead)
	count := map[outcome]int{}
	for _, r := range found {
		count[r.outcome]++
	}
	fmt.Fprintf(&b, "\n%d pieces: %d work, %d are lowered, %d are refused, %d are errors in Go, too.\n",
		len(found), count[works], count[lowered], count[refused], count[asGo])
	b.WriteString("\n## Where an interpreter easily goes wrong\n\n| in Go | pieces | in cells |\n|---|---|---|\n")
	for _, trap := range traps {
		per := map[outcome]int{}
		total := 0
		for s, r := range found {
			if s.Trap == trap.id {
				per[r.outcome]++
				total++
			}
		}
		fmt.Fprintf(&b, "| %s | %d | %s |\n", trap.text, total, tally(per))
	}
	for _, th := range themes {
		fmt.Fprintf(&b, "\n## %s\n\n| what you write | in cells | note |\n|---|---|---|\n", th.Title)
		for _, s := range th.Snippets {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", escape(s.Title), found[s].outcome, escape(s.remark(found[s])))
		}
	}
	return b.String()
}

// remark is the last column: the snippet's note, or the message of a refusal.
func (s *snippet) remark(r result) string {
	if s.Note == "" && r.message != "" {
		return "“" + r.message + "”"
	}
	return s.Note
}

// tally lists how many pieces had which outcome.
func tally(per map[outcome]int) string {
	var parts []string
	for _, o := range []outcome{works, lowered, refused, asGo} {
		if per[o] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", per[o], o))
		}
	}
	return strings.Join(parts, ", ")
}

// escape keeps a text from ending a table's cell,
// and a message of several lines in one.
func escape(text string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(text, "|", `\|`)), " ")
}
