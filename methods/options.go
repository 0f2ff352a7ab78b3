package methods

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// DecodeOptions fills the struct that into points at from p.Options. Fields
// that p.Options does not name keep their values, so into holds the defaults.
// An unknown name or a value of the wrong type is an error that names it.
func DecodeOptions(p Problem, into any) error {
	if len(p.Options) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(p.Options))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("decode options %.200q: %w", p.Options, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("decode options %.200q: more than one value", p.Options)
	}
	return nil
}
