package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"noema/kernel/model/provider"
	"noema/kernel/session/builtin"
)

// TestProvidersTable compares the table of the documentation with what the providers
// say of themselves; -update writes it anew.
func TestProvidersTable(t *testing.T) {
	const file, begin, end = "../../model/provider/FEATURES.md", "<!-- providers -->\n", "<!-- /providers -->"
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(raw), begin)
	shown, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatal("the page lacks the marks of the table")
	}
	want := providersTable()
	switch {
	case shown == want:
	case *update:
		if err := os.WriteFile(file, []byte(before+begin+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("the page shows\n%s\nwant\n%s", shown, want)
	}
}

func providersTable() string {
	rows := []struct {
		name string
		of   func(provider.Features) provider.Support
	}{
		{"temperature", func(f provider.Features) provider.Support { return f.Temperature }},
		{"top_p", func(f provider.Features) provider.Support { return f.TopP }},
		{"top_k", func(f provider.Features) provider.Support { return f.TopK }},
		{"output limit", func(f provider.Features) provider.Support { return f.MaxTokens }},
		{"stop", func(f provider.Features) provider.Support { return f.Stop }},
		{"seed", func(f provider.Features) provider.Support { return f.Seed }},
		{"draws", func(f provider.Features) provider.Support { return f.Draws }},
		{"schema", func(f provider.Features) provider.Support { return f.Schema }},
		{"tools", func(f provider.Features) provider.Support { return f.Tools }},
		{"logprobs", func(f provider.Features) provider.Support { return f.Logprobs }},
		{"streaming", func(f provider.Features) provider.Support { return f.Streaming }},
	}
	var all []provider.Features
	for _, p := range builtin.Providers() {
		all = append(all, p.Features...)
	}
	var b strings.Builder
	b.WriteString("| |")
	for _, f := range all {
		fmt.Fprintf(&b, " %s, %s |", f.Provider, f.Protocol)
	}
	b.WriteString("\n| --- |" + strings.Repeat(" --- |", len(all)) + "\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s |", r.name)
		for _, f := range all {
			fmt.Fprintf(&b, " %s |", r.of(f))
		}
		b.WriteString("\n")
	}
	for _, f := range all {
		for _, how := range f.How {
			fmt.Fprintf(&b, "\n- %s, %s: %s", f.Provider, f.Protocol, how)
		}
	}
	return b.String() + "\n"
}
