package dataset

import (
	_ "embed"
	"sync"

	"github.com/goccy/go-yaml"

	"noema/kernel/base/files"
	"noema/kernel/task/table"
)

// Ready is what is known of a public data set: the commit that a name without a
// revision means, the config and the split that are asked for, and what the columns
// are. Without a mapping the data are told by their columns.
type Ready struct {
	Name, Repo, Commit string
	Config, Split      string
	Mapping            table.Mapping
	Scorer             string // "" for the one of the answer's kind
}

//go:embed ready.yaml
var readyFile []byte

// Mappings lists the public data sets with a ready mapping. It is shared and read only.
func Mappings() []Ready { return mappings() }

var mappings = sync.OnceValue(func() (all []Ready) {
	if err := files.YAML(readyFile, &all, yaml.Strict()); err != nil {
		panic(err) // it is part of the program, and tested
	}
	return all
})
