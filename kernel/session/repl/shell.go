package repl

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/reeflective/readline"
	"github.com/reeflective/readline/inputrc"
	"golang.org/x/term"

	"noema/kernel/session/cell"
)

// errAgain says that the input was cleared.
var errAgain = errors.New("cleared")

// shell is the line editor of a terminal.
type shell struct {
	*readline.Shell
	session   Session
	commands  []Command
	history   *history
	size      func() (columns, rows int)
	highlight func([]rune) string

	reading sync.Mutex // held while the editor reads
	asking  bool       // a cell reads a line
	prompt  string     // of that line
	above   *above
	screen  *screen // where what was not shown above goes
}

func newShell(s Session, o Options, commands []Command) *shell {
	sh := &shell{Shell: readline.NewShell(), session: s, commands: commands, history: openHistory(o.History), size: sizeOf(o.Out)}
	sh.above = newAbove(sh.Keys.RequestRefresh)
	sh.Prompt.Primary(func() string {
		if sh.asking {
			return sh.above.before() + sh.prompt
		}
		return fmt.Sprintf("%s[%d] ", sh.above.before(), s.Count()+1)
	})
	sh.Hint.SetProvider(func([]rune, int) []rune {
		sh.above.arm(false)
		return nil
	})
	sh.reserveRow()
	sh.AcceptMultiline = func(line []rune) bool { return sh.accepts(string(line)) }
	if o.Color {
		sh.highlight = highlighted
	}
	sh.Completer = sh.completions
	// The editor would ask the terminal for the cursor's position at every key and
	// lose input that arrives together with the answer. It does not need the
	// position, because the prompt always begins a line.
	_ = sh.Config.Set("cursor-position-probe", false)
	// Tab completes the common prefix and lists the candidates; a second Tab cycles
	// through them.
	_ = sh.Config.Set("menu-complete-display-prefix", true)
	for _, keys := range []string{"emacs", "emacs-standard", "vi-insert"} {
		_ = sh.Config.Bind(keys, inputrc.Unescape(`\C-i`), "menu-complete", false)
	}
	sh.History.Delete()
	sh.History.Add("cells", sh.history)
	return sh
}

// reserveRow makes the editor keep a row free below the input, which it clears
// at each drawing. Without the cursor's position it would not see that there is
// none at the bottom of the terminal, and clear the row above. The right prompt,
// of which there is none, is what the editor asks for when the input is drawn.
func (sh *shell) reserveRow() {
	second := "... "
	sh.Prompt.Secondary(func() string { return second })
	sh.Prompt.Right(func() string {
		second = rowBelow
		sh.Prompt.SecondaryPrint() // the one way to the editor's own output
		second = "... "
		sh.above.arm(true)
		return ""
	})
}

// accepts reports whether Enter runs the input. An empty line does not run an
// incomplete cell.
func (sh *shell) accepts(text string) bool {
	if timed, ok := strings.CutPrefix(strings.TrimSpace(text), ":time "); ok {
		text = timed
	}
	if sh.asking || strings.TrimSpace(text) == "" || isCommand(text) {
		return true
	}
	return sh.session.IsComplete(text).Status != "incomplete"
}

// cell implements editor. The line editor cannot be cancelled: when ctx ends, the
// terminal is restored and the editor runs until the process ends.
func (sh *shell) cell(ctx context.Context) (string, int, error) {
	stdin := int(os.Stdin.Fd())
	before, stateErr := term.GetState(stdin)
	read := make(chan incoming, 1)
	go func() {
		text, err := sh.read(sh.highlight)
		read <- incoming{text, err}
	}()
	select {
	case got := <-read:
		return got.line, 0, got.err
	case <-ctx.Done():
		if stateErr == nil {
			_ = term.Restore(stdin, before)
		}
		return "", 0, ctx.Err()
	}
}

// read reads once. If a cell was interrupted while it asked for input, its read is
// still going on, and this one waits for it.
func (sh *shell) read(highlight func([]rune) string) (string, error) {
	sh.reading.Lock()
	defer sh.reading.Unlock()
	return sh.readLocked(highlight)
}

func (sh *shell) readLocked(highlight func([]rune) string) (string, error) {
	sh.SyntaxHighlighter = highlight
	sh.above.begin()
	text, err := sh.Readline()
	if rest := sh.above.end(); rest != "" {
		sh.screen.Stream("stdout", []byte(rest))
	}
	if errors.Is(err, readline.ErrInterrupt) {
		err = errAgain
	}
	return text, err
}

// ask implements editor.
func (sh *shell) ask(ctx context.Context, prompt string, hidden bool) (string, error) {
	sh.reading.Lock()
	defer sh.reading.Unlock()
	if ctx.Err() != nil { // nobody waits for the line
		return "", ctx.Err()
	}
	sh.asking, sh.prompt = true, prompt
	sh.history.pause(true)
	defer func() {
		sh.asking = false
		sh.history.pause(false)
	}()
	var show func([]rune) string
	if hidden {
		show = func(line []rune) string { return strings.Repeat("*", len(line)) }
	}
	return sh.readLocked(show)
}

// completions are the candidates at the cursor, which counts runes.
func (sh *shell) completions(line []rune, cursor int) readline.Completions {
	text, at := string(line), len(string(line[:cursor]))
	if sh.asking {
		return readline.Completions{}
	}
	found := sh.complete(text, at)
	if len(found.Items) == 0 || found.Start > at {
		return readline.Completions{}
	}
	// The editor replaces a prefix that ends at the cursor; if it is empty, the whole
	// word. So the byte before the name is part of the prefix. The editor counts it
	// in bytes, so it must be ASCII.
	from := max(found.Start-1, 0)
	for i := from; i < at; i++ {
		if text[i] >= 0x80 {
			from = i + 1
		}
	}
	if from == at && at > 0 {
		return readline.Completions{}
	}
	columns, rows := sh.size()
	c := readline.CompleteRaw(fitting(values(found, text, at, from), columns, rows-rowsOf(text, columns)-menuFrame))
	c.PREFIX = text[from:at]
	return c
}

// values are what may replace text[from:at].
func values(found cell.Completions, text string, at, from int) []readline.Completion {
	var all []readline.Completion
	for _, i := range found.Items {
		whole := text[:found.Start] + i.Text
		if strings.HasPrefix(whole, text[:at]) {
			all = append(all, readline.Completion{Value: whole[from:], Display: i.Text, Description: i.Detail})
		}
	}
	return all
}

// menuFrame is how many rows a menu leaves free: for the prompt, the editor's line
// below the menu, and one spare.
const menuFrame = 3

// fitting limits a menu to a number of rows: a menu taller than the terminal would
// hide the input line. If there are too many candidates for a row each, they are
// shown in columns without types; if still too many, only the first are shown.
func fitting(all []readline.Completion, columns, rows int) []readline.Completion {
	if rows < 1 || len(all) <= rows {
		return all
	}
	widest := 1
	for i := range all {
		all[i].Description = ""
		widest = max(widest, len([]rune(all[i].Display)))
	}
	return all[:min(len(all), rows*max(1, columns/(widest+gridGap)))]
}

// gridGap is the editor's space between columns of a menu.
const gridGap = 2

// complete completes Go, or the REPL's commands.
func (sh *shell) complete(text string, at int) cell.Completions {
	if !strings.HasPrefix(text, ":") {
		return sh.session.Complete(text, at)
	}
	if space := strings.IndexByte(text, ' '); space >= 0 && space < at {
		c := sh.session.Complete(text[space+1:], at-space-1)
		c.Start += space + 1
		return c
	}
	c := cell.Completions{End: at}
	for _, k := range sh.commands {
		c.Items = append(c.Items, cell.Completion{Text: ":" + k.Name, Detail: k.Help})
	}
	return c
}
