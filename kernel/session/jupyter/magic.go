package jupyter

import "strings"

// command is a line of a cell that is not Go: a shell or a notebook command.
type command struct {
	Name string // "!" for the shell, or what follows the % or the colon
	Args string // the rest of the line; of %time, Go code placed as the rest is
}

// splitCommands takes the commands off the beginning of a cell. A line that begins
// with !, % as in other notebooks, or a colon as in the terminal is one as long as
// nothing but commands and empty lines stand before it; Go has no line that begins
// so.
//
// The rest, and the code of %time, which is the rest of its line or else of the
// cell, keep their places: spaces stand for what was taken off, so that faults
// found in them name the lines and columns of the cell. A rest of nothing but
// spaces is empty.
func splitCommands(text string) (commands []command, rest string) {
	at := 0
	for {
		begin := at + leading(text[at:])
		if begin == len(text) || !strings.ContainsRune("!%:", rune(text[begin])) {
			return commands, placed(text, at)
		}
		end := len(text)
		if i := strings.IndexByte(text[begin:], '\n'); i >= 0 {
			end = begin + i
		}
		c := command{"!", strings.TrimSpace(text[begin+1 : end])}
		if text[begin] != '!' {
			name, args, _ := strings.Cut(strings.TrimLeft(text[begin:end], "%:"), " ")
			c = command{strings.TrimSpace(name), strings.TrimSpace(args)}
		}
		if c.Name == "time" {
			code := begin + strings.Index(text[begin:end], c.Name) + len(c.Name)
			if c.Args == "" {
				end = len(text)
			}
			c.Args = placed(text[:end], code)
		}
		commands = append(commands, c)
		at = end
	}
}

// leading is how many bytes of space a text begins with.
func leading(text string) int { return len(text) - len(strings.TrimLeft(text, " \t\r\n")) }

// placed is text[at:] in its place: what stands before it becomes spaces, byte
// by byte, but for line ends.
func placed(text string, at int) string {
	if strings.TrimSpace(text[at:]) == "" {
		return ""
	}
	b := []byte(text)
	for i := range at {
		if b[i] != '\n' {
			b[i] = ' '
		}
	}
	return string(b)
}
