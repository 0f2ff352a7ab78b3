package words

import (
	"encoding/json"
	"testing"
)

// No message names a type or a struct of the program.
func TestOf(t *testing.T) {
	type row struct {
		Labels []string
		K      int
		Share  *float64
		Rows   []struct{ Name string }
		Sure   bool
	}
	for raw, want := range map[string]string{
		`[1,2]`:                 "want an object, not a list",
		`{"labels":"a"}`:        `"labels" must be a list of texts, not a text`,
		`{"labels":[1]}`:        `"labels" must be a text, not a number`,
		`{"k":2.5}`:             `"k" must be a whole number, not 2.5`,
		`{"k":true}`:            `"k" must be a whole number, not true or false`,
		`{"share":{}}`:          `"share" must be a number, not an object`,
		`{"rows":3}`:            `"rows" must be a list of objects, not a number`,
		`{"rows":[{"name":3}]}`: `"rows.name" must be a text, not a number`,
		`{"sure":"yes"}`:        `"sure" must be true or false, not a text`,
		`{"k":}`:                "invalid character '}' looking for beginning of value",
	} {
		if err := Of(json.Unmarshal([]byte(raw), &row{})); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", raw, err, want)
		}
	}
	if err := Of(nil); err != nil {
		t.Error(err)
	}
}
