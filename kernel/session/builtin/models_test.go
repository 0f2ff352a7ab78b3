package builtin

import (
	"strings"
	"testing"

	"noema/kernel/internal/test/localtest"
	"noema/kernel/lab"
)

// An embedding model's options are refused rather than read as its folder.
func TestEmbedderOptions(t *testing.T) {
	_, err := Catalog{}.Embedder("local/models/m?context=5")
	if err == nil || !strings.Contains(err.Error(), `embedding models have no options: leave out "?context=5"`) {
		t.Errorf("%v, want an error that names the options", err)
	}
}

// TestOtherEngine holds that an engine that is gone is refused with what to do, but for a
// run of an earlier version that is replayed: its model keeps its identity.
func TestOtherEngine(t *testing.T) {
	dir := t.TempDir()
	if err := localtest.Write(dir, localtest.Spec{Arch: "llama", Seed: 1}); err != nil {
		t.Fatal(err)
	}
	wanted := lab.Spec{Name: "local/" + dir, Options: map[string]string{"engine": "gomlx"}}
	if _, err := (Catalog{Home: t.TempDir()}).Model(wanted, false, 0); err == nil || !strings.Contains(err.Error(), `there is no engine "gomlx" any more: leave engine out`) {
		t.Errorf("error %v", err)
	}
	p, err := (Catalog{Home: t.TempDir()}).Model(wanted, true, 0)
	if err != nil || p.Info().ID.Config != "engine=gomlx" {
		t.Errorf("recorded: %v, %v", p, err)
	}
}
