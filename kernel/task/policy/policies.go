package policy

import (
	_ "embed"
	"fmt"
	"reflect"
	"sync"

	"noema/kernel/base/files"
)

//go:embed policies.yaml
var policiesFile []byte

// policies are all there are. They are shared and read only.
var policies = sync.OnceValue(func() (all []Policy) {
	files.BuiltIn(policiesFile, &all)
	return all
})

// UnmarshalYAML reads a term: its name, and its formula under the name of its kind.
func (t *Term) UnmarshalYAML(decode func(any) error) error {
	var in struct {
		Name    string
		Count   *Count
		Average *Average
		Latest  *Latest
		ByYear  *ByYear
		Votes   *Votes
		Linear  *Linear
		Product *Product
		Ratio   *Ratio
		Steps   *Steps
	}
	if err := decode(&in); err != nil {
		return err
	}
	t.Name = in.Name
	for _, kind := range reflect.ValueOf(in).Fields() {
		if kind.Kind() == reflect.Pointer && !kind.IsNil() {
			t.Formula = kind.Elem().Interface().(Formula)
		}
	}
	if t.Formula == nil {
		return fmt.Errorf("term %q has no formula", t.Name)
	}
	return nil
}
