package providertest

import (
	"encoding/json"
	"testing"
)

// SameJSON fails the test if got, as JSON, is not want, whatever the order of
// names and the white space.
func SameJSON(t testing.TB, got any, want string) {
	t.Helper()
	g, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal([]byte(want), &v); err != nil {
		t.Fatal(err)
	}
	w, err := json.Marshal(v)
	if err != nil || string(g) != string(w) {
		t.Errorf("sent %s\nwant %s", g, w)
	}
}
