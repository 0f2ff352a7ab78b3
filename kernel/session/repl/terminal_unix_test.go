//go:build unix

package repl

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"noema/kernel/session/cell"
)

// asREPL makes the test's binary a REPL with the history of that name, and
// supervised one with that journal.
const (
	asREPL     = "NOEMA_TEST_REPL_HISTORY"
	supervised = "NOEMA_TEST_REPL_JOURNAL"
)

func TestMain(m *testing.M) {
	if file := os.Getenv(asREPL); file != "" {
		os.Exit(supervisor(file))
	}
	os.Exit(m.Run())
}

// supervisor supervises REPLs with a history.
func supervisor(history string) int {
	if os.Getenv(supervised) != "" {
		return beREPL(history)
	}
	journal := history + ".journal"
	exit, err := Supervise(context.Background(), journal, func() *exec.Cmd {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), supervised+"="+journal)
		return cmd
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	return exit
}

func beREPL(history string) int {
	j, err := cell.OpenJournal(filepath.Split(os.Getenv(supervised)))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer j.Clear()
	ctx, stop := Supervised(context.Background())
	defer stop()
	s, err := cell.New(cell.Options{Imports: []string{"fmt", "strings"}})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer s.Close()
	live := Command{Name: "live", Help: "shows something that changes", Run: func(_ context.Context, _ string, out cell.Output) error {
		for i := range 3 {
			out.Show("progress", plainText(fmt.Sprintf("done %d of 2\nmore %d", i, 2-i)))
		}
		return nil
	}}
	exit, err := Run(ctx, s, Options{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr, History: history, Terminal: true, Color: os.Getenv("NO_COLOR") == "",
		Greeting: "hello", Commands: []Command{live}, Journal: j,
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	return exit
}

// terminal is a REPL in a terminal of tmux.
type terminal struct {
	*testing.T
	socket, history string
}

// newTerminal starts a REPL in a terminal of its own server.
func newTerminal(t *testing.T, env ...string) *terminal {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is not installed: the REPL at a terminal is not tested")
	}
	dir, err := os.MkdirTemp("", "repl") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	c := &terminal{t, filepath.Join(dir, "s"), filepath.Join(dir, "history")}
	t.Cleanup(func() {
		_ = exec.Command("tmux", "-S", c.socket, "kill-server").Run() // it may have ended
		_ = os.RemoveAll(dir)
	})
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c.tmux("new-session", "-d", "-x", "80", "-y", "40", "sh")
	c.keys("PS1='$ '", "Enter")
	c.keys(fmt.Sprintf("clear; INPUTRC=/dev/null %s=%s %s '%s'", asREPL, c.history, strings.Join(env, " "), self), "Enter")
	c.waitFor("[1]")
	return c
}

func (c *terminal) tmux(args ...string) string {
	c.Helper()
	out, err := exec.CommandContext(c.Context(), "tmux", append([]string{"-f", "/dev/null", "-S", c.socket}, args...)...).CombinedOutput()
	if err != nil {
		c.Fatalf("tmux %q: %v: %s", args, err, out)
	}
	return string(out)
}

// keys presses keys, such as "Enter"; everything else is typed.
func (c *terminal) keys(keys ...string) {
	c.Helper()
	c.tmux(append([]string{"send-keys"}, keys...)...)
}

// shown is what the terminal shows, without blanks at the ends of lines.
func (c *terminal) shown() string {
	c.Helper()
	var lines []string
	for line := range strings.SplitSeq(c.tmux("capture-pane", "-p"), "\n") {
		lines = append(lines, strings.TrimRight(line, " "))
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// waitUntil waits for a state of the terminal.
func (c *terminal) waitUntil(what string, ok func(shown string) bool) {
	c.Helper()
	deadline := time.Now().Add(2 * time.Minute)
	shown := ""
	for time.Now().Before(deadline) {
		if shown = c.shown(); ok(shown) {
			return
		}
	}
	c.Fatalf("the terminal never has %s, but shows\n%s", what, shown)
}

// waitFor waits until the terminal's last lines are text.
func (c *terminal) waitFor(text string) {
	c.Helper()
	c.waitUntil(fmt.Sprintf("%q at its end", text), func(shown string) bool { return strings.HasSuffix("\n"+shown, "\n"+text) })
}

// waitForPart waits until text is somewhere on the terminal.
func (c *terminal) waitForPart(text string) {
	c.Helper()
	c.waitUntil(fmt.Sprintf("%q", text), func(shown string) bool { return strings.Contains(shown, text) })
}

// enter types a cell and waits for what then stands on the terminal.
func (c *terminal) enter(text, want string) {
	c.Helper()
	c.keys("-l", text)
	c.keys("Enter")
	c.waitFor(want)
}

func TestTerminalCells(t *testing.T) {
	c := newTerminal(t, "NO_COLOR=1")
	c.enter("1 + 1", "hello\n[1] 1 + 1\n2\n[2]")
	c.enter("func f(n int) int {", "[2] func f(n int) int {")
	c.enter("return n + 1", "    return n + 1")
	c.enter("}", "    }\n[3]")
	c.enter("f(41)", "[3] f(41)\n42\n[4]")
	c.enter(`fmt.Print("no end")`, "no end\n[5]")
	c.enter("x := zz + 1", "type error: cell 5, line 1: undefined: zz\n    x := zz + 1\n         ^\n[6]")
	c.enter(":live", "[6] :live\ndone 2 of 2\nmore 0\n[6]")
	c.enter("!echo out; tty | sed 's/[0-9].*//'", "out\n/dev/pts/\n[6]")
	c.keys("C-d")
	c.waitFor("$")
}

func TestTerminalInterrupts(t *testing.T) {
	c := newTerminal(t)
	c.keys(`fmt.Println("on"); for {}`, "Enter")
	c.waitFor("on")
	c.keys("C-c")
	c.waitFor("^Cinterrupted\n[2]")
	c.keys("var s string; fmt.Print(\"who? \"); fmt.Scanln(&s)", "Enter")
	c.waitFor("who?")
	c.keys("C-c")
	c.waitFor("interrupted\n[3]")
	c.keys("!echo on; sleep 60", "Enter")
	c.waitFor("on")
	c.keys("C-c")
	c.waitFor("^Cinterrupted\n[3]")
	c.keys("half a cell")
	c.waitFor("[3] half a cell")
	c.keys("C-c")
	c.waitFor("[3] half a cell\n[3]")
	for range 5 { // two within a second, also on a slow machine
		before := strings.Count(c.shown(), "\n[3]")
		c.keys("C-c")
		c.waitUntil("a new prompt", func(shown string) bool { return strings.Count(shown, "\n[3]") > before })
	}
	c.waitFor("To leave, press Ctrl-D at an empty prompt or type :quit\n[3]")
	c.enter("1 + 2", "3\n[4]")
}

// TestTerminalTypeAhead types while a cell runs.
func TestTerminalTypeAhead(t *testing.T) {
	c := newTerminal(t)
	c.keys("!echo ready; read -r line; echo got $line", "Enter")
	c.waitForPart("\nready")
	c.keys("on", "Enter", "1 + 1", "Enter", "2 + 2", "Enter")
	c.waitForPart("\ngot on\n")
	c.waitFor("[1] 1 + 1\n2\n[2] 2 + 2\n4\n[3]")
}

// TestTerminalCompletion types on after a completion: nothing may be lost.
func TestTerminalCompletion(t *testing.T) {
	c := newTerminal(t)
	c.keys("-l", "fmt.Println(strings.ToUp")
	c.waitFor("[1] fmt.Println(strings.ToUp")
	c.keys("Tab")
	c.waitForPart("ToUpperSpecial")
	c.enter(`("abc"))`, "ABC\n[2]")
	c.keys("-l", "strings.Trim")
	c.keys("Tab")
	c.waitForPart("TrimSuffix")
	c.waitForPart("[2] strings.Trim\n")
	c.enter(`Left("xxa", "x")`, "a\n[3]")
	c.keys("-l", ":ti")
	c.keys("Tab")
	c.waitFor("[3] :time")
	c.keys("C-c")
	c.waitFor("[3] :time\n[3]") // what comes in one piece with a Ctrl-C is cleared, too
	c.keys("-l", "strings.")
	c.keys("Tab")
	c.waitForPart("[3] strings.\n") // however long the menu is
	c.enter(`Repeat("ab", 2)`, "abab\n[4]")
}

// TestTerminalAnswersAreForgotten answers a cell, and looks for that in the
// history.
func TestTerminalAnswersAreForgotten(t *testing.T) {
	c := newTerminal(t)
	c.keys("var s string; fmt.Print(\"key? \"); fmt.Scanln(&s); len(s)", "Enter")
	c.waitFor("key?")
	c.enter("sk-secret", "key? sk-secret\n9\n[2]")
	c.keys("Up")
	c.waitFor(`[2] var s string; fmt.Print("key? "); fmt.Scanln(&s); len(s)`)
	c.keys("C-c")
	c.waitFor("[2]")
	c.keys("C-d")
	c.waitFor("$")
	raw, err := os.ReadFile(c.history)
	if err != nil || strings.Contains(string(raw), "secret") || !strings.Contains(string(raw), "Scanln") {
		t.Errorf("the history is %q, %v", raw, err)
	}
}

// TestTerminalGoroutinePrints has goroutines that print while a cell is typed.
func TestTerminalGoroutinePrints(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	c := newTerminal(t, "NO_COLOR=1")
	c.enter("say := make(chan string)", "[2]")
	c.enter("go func() { for text := range say { fmt.Print(text) } }()", "[3]")
	c.enter(`import "time"; later := func(all ...string) { go func() { time.Sleep(time.Second); for _, text := range all { say <- text } }() }`, "[4]")
	c.enter(`later("one\ntwo\nthr", "ee\n")`, "[5]")
	c.keys("-l", "x := 40 + ")
	c.waitForPart("\n[5] x := 40 +")
	c.waitFor("one\ntwo\nthree\n[5] x := 40 +")
	c.keys("-l", "2; later(\"no end\"); x")
	c.keys("Enter")
	c.waitForPart("three\n[5] x := 40 + 2; later(\"no end\"); x\n42\n")
	c.enter(`time.Sleep(2 * time.Second)`, "no end\n[7]")
}

// TestTerminalRecallAtTheBottom recalls a cell of several lines where the terminal
// ends.
func TestTerminalRecallAtTheBottom(t *testing.T) {
	c := newTerminal(t, "NO_COLOR=1")
	c.enter("func f(n int) int {", "[1] func f(n int) int {")
	for _, line := range []string{"n++", "n *= 2", "return n"} {
		c.enter(line, "    "+line)
	}
	c.enter("}", "    }\n[2]")
	for i := range 40 {
		c.enter("f("+fmt.Sprint(i)+")", fmt.Sprintf("[%d] f(%d)\n%d\n[%d]", i+2, i, 2*i+2, i+3))
	}
	recalled := "[41] f(39)\n80\n[42] func f(n int) int {\n     n++\n     n *= 2\n     return n\n     }"
	for range 41 {
		c.keys("Up")
	}
	c.waitFor(recalled)
	c.keys("Down", "Up")
	c.waitFor(recalled)
	c.keys("-l", " // again")
	c.waitFor(recalled + " // again")
}

// TestTerminalExit leaves a cell, not the session.
func TestTerminalExit(t *testing.T) {
	c := newTerminal(t, "NO_COLOR=1")
	c.enter(`import "os"; import "errors"; kept := 1; os.Exit(3)`, " type :quit\n[2]")
	c.waitForPart("exit status 3: os.Exit ends the cell")
	c.enter("kept + len(errors.New(\"a\").Error())", "2\n[3]")
}

// TestTerminalDeath: a process that is killed has a successor, which runs its cells
// again; that one's death is no loss of theirs.
func TestTerminalDeath(t *testing.T) {
	c := newTerminal(t, "NO_COLOR=1")
	c.enter("x := 41", "[2]")
	c.enter(`import "os"; os.Getpid() + 0*x`, "[3]")
	c.enter("1 / (x - 41)", "[4]") // failed, and is not run again
	die := func(cell, want string) {
		t.Helper()
		c.keys("-l", cell)
		c.keys("Enter")
		c.waitForPart(want)
	}
	const lost = `what its cells had declared is gone; :rerun lost runs these again:
  1  x := 41
  2  import "os"; os.Getpid() + 0*x
[1]`
	die("!kill -9 $PPID", "ended: signal: killed; another one takes its place\nthe process of this session died\n"+lost)
	c.keys("-l", ":rerun lost")
	c.keys("Enter")
	c.waitForPart("\ncell 1 again: x := 41\ncell 2 again: import")
	c.waitFor("[3]")
	c.enter("x + 1", "[3] x + 1\n42\n[4]")
	c.enter(":rerun lost", "no cell is lost\n[4]")
	c.enter(`fmt.Println("on"); for {}`, "on")
	c.keys(`C-\`)
	c.waitForPart("ended: exit status 131; another one takes its place\nthe process of this session died while cell 4 ran: fmt.Println(\"on\"); for {}\n")
	c.waitFor("  3  x + 1\n[1]")
	c.keys("-l", "!kill -9 $PPID") // without a cell, which would not help
	c.keys("Enter")
	c.waitFor("$")
	c.enter("echo $?", "137\n$")
	if _, err := os.Stat(c.history + ".journal"); !os.IsNotExist(err) {
		t.Errorf("the journal stays: %v", err)
	}
}
