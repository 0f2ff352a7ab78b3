package symbols_test

import (
	"fmt"

	"noema/kernel/session/cell/internal/source"
	"noema/kernel/session/cell/internal/symbols"
)

func Example() {
	m := symbols.NewImporter()
	scope := source.Scope{Imports: map[string]string{"strings": "strings"}}

	text := `word, rest, _ := strings.Cut`
	_, _, items := m.Complete(text, len(text), scope)
	for _, it := range items {
		fmt.Println(it.Text, it.Detail)
	}

	info, _ := m.Inspect(text, len(text), scope)
	fmt.Println(info.Signature)

	_, err := m.Import("noema/kernel/labs")
	fmt.Println(err)
	// Output:
	// Cut func(s string, sep string) (before string, after string, found bool)
	// CutPrefix func(s string, prefix string) (after string, found bool)
	// CutSuffix func(s string, suffix string) (before string, found bool)
	// func Cut(s, sep string) (before, after string, found bool)
	// package "noema/kernel/labs" is not available in cells, did you mean "noema/kernel/lab"?
}
