package builtin

import (
	"strings"
	"testing"
)

// An embedding model's options are refused rather than read as its folder.
func TestEmbedderOptions(t *testing.T) {
	_, err := Catalog{}.Embedder("local/models/m?context=5")
	if err == nil || !strings.Contains(err.Error(), `embedding models have no options: leave out "?context=5"`) {
		t.Errorf("%v, want an error that names the options", err)
	}
}
