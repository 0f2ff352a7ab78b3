package main

import (
	"math"
	"strings"
	"testing"
)

func TestFewFiles(t *testing.T) {
	if w := fewFiles(1); w != "" {
		t.Errorf("one connection: %s", w)
	}
	if w := fewFiles(math.MaxInt32); !strings.Contains(w, "--max-connections") {
		t.Errorf("as many as there are: %q", w)
	}
}
