package main

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// inTerminal runs noema in a terminal of that many columns and returns what it prints
// there, without what goes to standard error.
func (c *cli) inTerminal(columns int, args ...string) string {
	c.t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		c.t.Skipf("no terminals here: %v", err)
	}
	defer master.Close()
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 60, Col: uint16(columns)})
	}
	if err != nil {
		c.t.Fatal(err)
	}
	terminal, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		c.t.Fatal(err)
	}
	cmd := c.command(args...)
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = terminal, &stderr
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	terminal.Close()
	printed, _ := io.ReadAll(master) // ends with an error when the last process has closed it
	if err := cmd.Wait(); err != nil {
		c.t.Fatalf("%v: %s", err, &stderr)
	}
	return strings.ReplaceAll(string(printed), "\r", "")
}

var escapes = regexp.MustCompile("\x1b\\[[0-9;]*m")

// In a terminal of any usual width no line is wider than it, the news comes first, and
// nothing is said that a pipe does not say, too; NO_COLOR takes the colours away.
func TestInATerminal(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	t.Parallel()
	c := newCLI(t)
	run := []string{"compare", "--task", "cafes", "--methods", "direct,cot,anot,general-anot,aot", "--limit", "30", "--model", "sim?error=0.2"}
	c.run(0, run...)
	for _, args := range [][]string{run, {"compare", "last"}} {
		words := strings.Fields(runLine.ReplaceAllString(c.run(0, args...).stdout, ""))
		for _, columns := range []int{60, 80, 100, 160} {
			shown := c.inTerminal(columns, args...)
			if !strings.HasPrefix(shown, "\x1b[1m") {
				t.Errorf("%d columns: the verdict does not stand out:\n%.200s", columns, shown)
			}
			plain := escapes.ReplaceAllString(shown, "")
			for line := range strings.Lines(plain) {
				if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > columns && strings.Contains(strings.TrimSpace(line), " ") {
					t.Errorf("%d columns: a line of %d: %s", columns, n, line)
				}
			}
			for _, word := range words {
				if !strings.Contains(plain, word) {
					t.Errorf("%d columns: %q is missing", columns, word)
				}
			}
			if drawn := strings.Contains(plain, "●"); drawn != (columns >= 100) {
				t.Errorf("%d columns: intervals drawn: %t", columns, drawn)
			}
		}
	}
	c.env = append(c.env, "NO_COLOR=1")
	if shown := c.inTerminal(100, "compare", "last"); strings.Contains(shown, "\x1b") {
		t.Errorf("with NO_COLOR:\n%q", shown)
	}
}

// The picture of the first hour is what a terminal shows of that comparison. Run with
// -update to draw it anew.
func TestPictureOfATerminal(t *testing.T) {
	t.Parallel()
	folder := filepath.Join("..", "..", "..", "experiments", "first-hour")
	c := newCLI(t)
	c.dir = folder
	shown := c.inTerminal(100, "compare", "--task", "questions.csv?target=number:answer&metadata=kind", "--methods", "direct,cot",
		"--model", "scripted/replies.yaml")
	picture := terminalPicture(runLine.ReplaceAllString(shown, "run       20261121-090000-d41d"), 100)
	file := filepath.Join(folder, "compare.svg")
	if *update {
		if err := os.WriteFile(file, []byte(picture), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	drawn, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(drawn) != picture {
		t.Errorf("%s is old: run this test with -update\n%s", file, shown)
	}
}

// terminalPicture draws what a terminal shows, in the colours of whoever looks at it.
func terminalPicture(shown string, columns int) string {
	lines := strings.Split(strings.TrimRight(shown, "\n"), "\n")
	const wide, high = 8, 18
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %[1]d %[2]d" width="%[1]d">
<style>
text { font: 13.3px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; white-space: pre; fill: #1f2328 }
rect { fill: #ffffff; stroke: #d0d7de } .g { fill: #116329 } .b { font-weight: bold }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } rect { fill: #0d1117; stroke: #30363d } .g { fill: #7ee787 } }
</style>
<rect x="0.5" y="0.5" width="%[3]d" height="%[4]d" rx="6"/>
`, columns*wide+24, len(lines)*high+24, columns*wide+23, len(lines)*high+23)
	class := ""
	for i, line := range lines {
		switch {
		case strings.HasPrefix(line, "\x1b[1m"):
			class = ` class="b"`
		case strings.HasPrefix(line, "\x1b[32m"):
			class = ` class="g"`
		}
		if plain := escapes.ReplaceAllString(line, ""); plain != "" {
			fmt.Fprintf(&b, `<text xml:space="preserve" x="12" y="%d" textLength="%d"%s>%s</text>`+"\n",
				i*high+26, utf8.RuneCountInString(plain)*wide, class, html.EscapeString(plain))
		}
		if strings.Contains(line, "\x1b[0m") {
			class = ""
		}
	}
	return b.String() + "</svg>\n"
}
