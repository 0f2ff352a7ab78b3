package main

import (
	"strings"

	"github.com/spf13/pflag"

	"noema/kernel/session/cell"
)

// engineName is a flag for what executes cells.
type engineName string

var _ pflag.Value = (*engineName)(nil)

// Set implements [pflag.Value].
func (e *engineName) Set(text string) error {
	*e = engineName(text)
	return cell.CheckEngine(text)
}

// String implements [pflag.Value].
func (e *engineName) String() string { return string(*e) }

// Type implements [pflag.Value].
func (*engineName) Type() string { return "name" }

// addEngine declares the engine of a session of cells.
func addEngine(flags *pflag.FlagSet) *engineName {
	name := engineName(cell.Engines()[0])
	flags.Var(&name, "engine", "what executes Go: "+strings.Join(cell.Engines(), " or "))
	return &name
}
