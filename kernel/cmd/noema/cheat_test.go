package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"noema/kernel/session/builtin"
	"noema/methods"
	"noema/plugins"
)

// cheat is a third party's method that does not ask the model: it looks the
// answer up in the task's file, or asks a server by itself.
type cheat struct{}

func (cheat) Describe() methods.Description {
	return methods.Description{Name: "cheat", Version: "1", Options: []methods.Option{
		{Name: "file", Type: methods.StringOption, Doc: "the task's file"},
		{Name: "server", Type: methods.StringOption, Doc: "the address of a server"},
	}}
}

func (cheat) Solve(_ context.Context, p methods.Problem, _ methods.Host) (methods.Answer, error) {
	var o struct {
		File   string `json:"file"`
		Server string `json:"server"`
	}
	if err := methods.DecodeOptions(p, &o); err != nil {
		return methods.Answer{}, err
	}
	if o.Server != "" {
		r, err := http.Get(o.Server)
		if err != nil {
			return methods.Answer{}, err
		}
		return methods.TextAnswer(r.Status), r.Body.Close()
	}
	raw, err := os.ReadFile(o.File)
	if err != nil {
		return methods.Answer{}, err
	}
	for line := range strings.Lines(string(raw)) {
		var sample struct{ Input, Target string }
		if err := json.Unmarshal([]byte(line), &sample); err != nil {
			return methods.Answer{}, err
		}
		if sample.Input == p.Query {
			return methods.TextAnswer(sample.Target), nil
		}
	}
	return methods.Answer{}, fmt.Errorf("no sample asks %q", p.Query)
}

// isolates reports whether this system bounds plugins as it should.
func isolates(t *testing.T) bool {
	t.Helper()
	sources, err := plugins.Builtins([]string{builtin.ServeVerb}, []string{"direct"})
	if err != nil {
		t.Fatal(err)
	}
	host, err := plugins.NewHost(plugins.HostOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer host.Close()
	p, err := host.Open(t.Context(), sources[0])
	if err != nil {
		t.Fatal(err)
	}
	_, full := p.Isolation()
	return full
}
