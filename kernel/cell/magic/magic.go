// Package magic knows the lines of a cell that are no Go: commands of the shell
// and of the notebook.
package magic

import "strings"

// Command is such a line.
type Command struct {
	Name string // "!" for the shell, or what follows the %
	Args string // the rest; of %time, the rest of the cell if its line has none
}

// Split takes the commands off the beginning of a cell. A line that begins with
// ! or % is one as long as nothing but commands and empty lines stand before
// it; Go has no line that begins so.
func Split(text string) (commands []Command, rest string) {
	for {
		trimmed := strings.TrimLeft(text, " \t\r\n")
		if trimmed == "" || trimmed[0] != '%' && trimmed[0] != '!' {
			return commands, text
		}
		line, after, _ := strings.Cut(trimmed, "\n")
		line = strings.TrimRight(line, " \t\r")
		if line[0] == '!' {
			commands = append(commands, Command{"!", strings.TrimSpace(line[1:])})
			text = after
			continue
		}
		name, args, _ := strings.Cut(strings.TrimLeft(line, "%"), " ")
		c := Command{name, strings.TrimSpace(args)}
		if name == "time" && c.Args == "" {
			c.Args, after = after, ""
		}
		commands = append(commands, c)
		text = after
	}
}
