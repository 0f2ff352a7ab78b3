package battery

import (
	"fmt"
	"strings"
)

const pageHead = `# What a cell can hold

A cell of a notebook, the terminal or a script is Go. go/types checks it, go/ssa compiles it to a few simple instructions, in which the finer points of the language are explicit, and our own machine executes these on ordinary Go memory. Of yaegi, only the symbol tables and interface wrappers are used, through which cells reach compiled packages; its interpreter does not run cells: of the 349 programs below that compile and run, it gets 204 right, fails loudly on 76 and is silently wrong on 58.

Every line below ran in a session and, compiled by the Go toolchain, as a program. Both printed the same, or the session refused the line with a message.

- **works**: in a session, and in yaegi's interpreter as well.
- **works, not in yaegi**: in a session; yaegi's interpreter fails or is wrong.
- **refused**: the session says that it does not support it, and what to do instead.
- **an error, as in Go**: the Go compiler rejects it with the same message.

The test of kernel/cell/battery, which contains the text of each line, writes this page: ` + "`go test ./kernel/cell/battery -update`" + `.
`

// renderPage writes the page of all outcomes.
func renderPage(themes []theme, found map[*snippet]result) string {
	var b strings.Builder
	b.WriteString(pageHead)
	count := map[outcome]int{}
	for _, r := range found {
		count[r.outcome]++
	}
	fmt.Fprintf(&b, "\n%d programs: %d work, %d work but not in yaegi, %d are refused, %d are errors in Go as well.\n",
		len(found), count[works], count[worksHere], count[refused], count[asGo])
	b.WriteString("\n## Where an interpreter easily goes wrong\n\n| in Go | programs | in cells |\n|---|---|---|\n")
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

// remark is the last column: the note, or the message of a refusal.
func (s *snippet) remark(r result) string {
	if s.Note == "" && r.message != "" {
		return "“" + r.message + "”"
	}
	return s.Note
}

// tally lists how many pieces had which outcome.
func tally(per map[outcome]int) string {
	var parts []string
	for _, o := range []outcome{works, worksHere, refused, asGo} {
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
