package battery

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"noema/kernel/session/cell"
)

const pageHead = `# What a cell can hold

A cell of a notebook, the terminal or a script is Go, and go/types checks it. What executes it is an engine, chosen for a session with ` + "`--engine`, `NOEMA_ENGINE` or `engine:` in noema.yaml" + `:

- ` + "`ssa`" + `, the default: go/ssa compiles a cell to a few simple instructions, in which the finer points of the language are explicit, and our own machine executes these on ordinary Go memory.
- ` + "`yaegi`" + `: the unmodified interpreter github.com/traefik/yaegi v0.16.1. Given Go as it stands, it got 204 of 338 programs like those below right, failed on 76 and was silently wrong on 58. So each cell is first rewritten to what it executes rightly (ranges over integers and strings, variables of each iteration, deferred arguments, receptions and sends that an interrupt ends, the order of evaluation), and what is still known to go wrong is refused before it runs, with the reason and ` + "`--engine ssa runs it`" + `: assertions and type switches to a cell's types, comparisons of interfaces that hold them, values of a cell's types in ` + "`any`" + ` unless they are the argument of a function that prints, sorts, encodes or compares them as compiled Go does, circular generic types, ranges over functions with a ` + "`return`" + ` in them. What a runtime error was (a nil pointer, an assertion), yaegi does not know: such a panic ends the cell as refused; of an index out of range it does not know the numbers. Of a panic it knows the cell and the function, not the line. A function that is defined again is refused while a variable may hold its callers.

` + "`ssa`" + ` is the default because it runs almost all of Go, names the line of a panic, and is faster; both take compiled packages from the same tables, in yaegi's format, and split, check, complete and display cells alike.

Cells and scripts import the standard library, noema's packages, and the packages of the module that they stand in (the go.mod found upward from the script, or from the working folder of the terminal and the notebook), which are read from source without a toolchain; so are folders that go.mod replaces a module by, and the folder vendor. Each is read once in a session: a cell that imports a package which has changed since says so, and ` + "`" + `:reset` + "`" + ` or a new session reads it anew. Build tags, generics, ` + "`" + `init` + "`" + ` and internal packages are as in Go; cgo, assembler, ` + "`" + `unsafe` + "`" + ` and ` + "`" + `//go:embed` + "`" + ` are refused with file and line. They need ` + "`" + `--engine ssa` + "`" + `. Other modules are compiled in: ` + "`" + `noema build --with gonum.org/v1/gonum@v0.17.0 -o my-noema` + "`" + `. In cells, an import of the standard library is added, and printed, when an undefined name fits one package; in a script the error names it.

Every line below ran in a session of each engine and, compiled by the Go toolchain, as a program. All printed the same, or the session refused the line with a message.

- **works**: with both engines.
- **works, yaegi refuses it**: with ` + "`ssa`" + `.
- **refused**: the session says that it does not support it, and what to do instead.
- **an error, as in Go**: the Go compiler rejects it with the same message.

A size that exceeds the session's limit (` + "`" + `--memory` + "`" + `), and memory that grows without end, end the cell with an error under both engines, and a process that has four times the limit ends. Other mistakes for which the Go runtime ends a program are panics of the cell under ` + "`" + `ssa` + "`" + `: an unlock of a mutex that is not locked, a map that goroutines of cells use at the same time. What still ends the session's process is what the machine does not see: such mistakes within compiled packages (a map that compiled code reads while a cell writes it, a stack overflow or a huge allocation there), and those two under ` + "`" + `yaegi` + "`" + `. What then happens: the terminal starts another process, and so does Jupyter; it says which cells are lost, and ` + "`" + `:rerun lost` + "`" + ` runs them again in their order, without those that failed and the one that was running. Answers of models that they ask for come from the store. A panic in a method that a cell added, or in a goroutine that it started, fails its trial alone.

A cell's ` + "`runtime.Caller`, `runtime.Stack` and `debug.Stack`" + ` show the calls of cells. What would show the interpreter is refused: ` + "`runtime.Callers`, `runtime.FuncForPC`, `runtime.SetFinalizer`, `testing.AllocsPerRun`" + ` and their like. Memory statistics are those of the whole process.

The test of kernel/session/cell/battery, which contains the text of each line, writes this page: ` + "`go test ./kernel/session/cell/battery -update`" + `.
`

// renderPage writes the page of all outcomes.
func renderPage(themes []theme, found map[*snippet]result) string {
	var b strings.Builder
	b.WriteString(pageHead)
	count := map[outcome]int{}
	for _, r := range found {
		count[r.outcome]++
	}
	yaegi := map[string]int{}
	for _, r := range found {
		yaegi[r.yaegi]++
	}
	fmt.Fprintf(&b, "\n%d programs, of which %d are errors in Go as well. The others:\n\n| engine | right | refused | wrong |\n|---|---|---|---|\n", len(found), count[asGo])
	fmt.Fprintf(&b, "| ssa | %d | %d | 0 |\n| yaegi | %d | %d | %d |\n", count[works]+count[worksHere], count[refused], yaegi["right"], yaegi["refused"], yaegi["wrong"])
	b.WriteString(goTable())
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

// goTable is what TestGoPrograms showed, and where a session differs.
func goTable() string {
	var b strings.Builder
	b.WriteString("\nThe programs by which Go 1.26.8 tests itself, in " + "`test`" + " of its tree, each within ten seconds on a busy machine of two cores (" + "`NOEMA_BENCH=1 go test ./kernel/session/cell/battery -run GoPrograms -v -timeout 30m`" + "):\n\n| engine | right | refused | too slow | different |\n|---|---|---|---|---|\n")
	for _, engine := range cell.Engines() {
		c := goCounts[engine]
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d |\n", engine, c.right, c.refused, c.slow, c.differ)
	}
	b.WriteString("\nNone is wrong in silence among those that a session takes. Where " + "`ssa`" + " differs:\n\n")
	for _, name := range slices.Sorted(maps.Keys(differs)) {
		fmt.Fprintf(&b, "- %s: %s\n", strings.TrimPrefix(name, "/"), differs[name])
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
