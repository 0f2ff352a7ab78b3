package table

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/big"
	"regexp"
	"strings"

	"noema/methods"
	"noema/methods/decimal"
)

var (
	// pointForm matches a number with a decimal point: 1250, 1,250.5, .5, 2e3.
	pointForm = regexp.MustCompile(`^[-+]?(?:[1-9]\d{0,2}(?:,\d{2,3})*,\d{3}|\d+)?(?:\.\d*)?(?:[eE][-+]?\d+)?$`)
	// spacedForm matches digits in groups of three with a space or an apostrophe between them.
	spacedForm = regexp.MustCompile(`^[-+]?\d{1,3}(?:[ \x{a0}\x{2007}\x{2009}\x{202f}'’]\d{3})+(?:[.,]\d+)?$`)
	groups     = strings.NewReplacer(" ", "", "\u00a0", "", "\u2007", "", "\u2009", "", "\u202f", "", "'", "", "’", "")
	swapped    = strings.NewReplacer(".", ",", ",", ".")
)

// readings are the number that a text is with a decimal point, and with a decimal comma; nil
// where it has no such reading. A share has a percent sign.
func readings(text string) (point, comma *big.Rat, share bool) {
	text = strings.ReplaceAll(strings.TrimSpace(text), "−", "-")
	if rest, ok := strings.CutSuffix(text, "%"); ok {
		text, share = strings.TrimSpace(rest), true
	}
	if spacedForm.MatchString(text) {
		text = groups.Replace(text)
	}
	read := func(text string) *big.Rat {
		if !pointForm.MatchString(text) {
			return nil
		}
		n, err := decimal.Parse(strings.ReplaceAll(text, ",", ""))
		if err != nil {
			return nil
		}
		return n
	}
	return read(text), read(swapped.Replace(text)), share
}

// spelling is how the numbers of a column are written, as far as its texts tell.
type spelling struct {
	other             int       // texts that are not numbers
	noPoint, noComma  string    // the first that has no reading with a decimal point, and with a comma
	grouped, thousand string    // the first such as 1,250, and as 1.250, which have two readings that differ
	share             string    // the first with a percent sign
	places            [2]string // of noPoint and noComma
}

// add takes in a text and where it stands.
func (s *spelling) add(text, place string) {
	point, comma, share := readings(text)
	switch {
	case point == nil && comma == nil:
		s.other++
		return
	case share:
		s.share = cmp.Or(s.share, text)
	}
	switch {
	case point == nil && s.noPoint == "":
		s.noPoint, s.places[0] = text, place
	case comma == nil && s.noComma == "":
		s.noComma, s.places[1] = text, place
	case point == nil || comma == nil || point.Cmp(comma) == 0:
	case strings.Contains(text, ","):
		s.grouped = cmp.Or(s.grouped, text)
	default:
		s.thousand = cmp.Or(s.thousand, text)
	}
}

// comma reports whether the column has decimal commas. What it leaves open, the mapping says.
func (s *spelling) comma(m Mapping) bool {
	return s.noPoint != "" || s.noComma == "" && m.Decimal == methods.DecimalComma
}

// check refuses what the column and the mapping leave open.
func (s *spelling) check(m Mapping) error {
	switch {
	case s.noPoint != "" && s.noComma != "":
		return fmt.Errorf("%q in %s has a decimal comma, and %q in %s a decimal point: write all alike", s.noPoint, s.places[0], s.noComma, s.places[1])
	case s.grouped != "" && s.noPoint+s.noComma+m.Decimal == "":
		return fmt.Errorf("%q is one number with a decimal point and another with a decimal comma: write decimal=point or decimal=comma", s.grouped)
	case s.share != "" && m.Percent == "":
		return fmt.Errorf("%q is a share: write percent=fraction if 25 %% is 0.25, percent=points if it is 25", s.share)
	}
	return nil
}

// note tells how numbers were read where it is not as they always are.
func (s *spelling) note(m Mapping, note func(string, ...any)) {
	switch comma := s.comma(m); {
	case s.noPoint != "":
		note("the targets have decimal commas, such as %q, and replies are read so, too: write decimal=point if these have points", s.noPoint)
	case comma && s.grouped+s.thousand != "":
		note("targets such as %q are read with a decimal comma, as decimal=comma says", cmp.Or(s.thousand, s.grouped))
	case m.Decimal == methods.DecimalComma && s.noComma != "":
		note("the targets have decimal points, such as %q; decimal=comma holds for replies alone", s.noComma)
	case s.thousand != "" && s.noComma == "" && m.Decimal == "":
		note("targets such as %q are read with a decimal point: write decimal=comma if it is a thousand", s.thousand)
	}
}

// spell looks how a column of numbers is written, before any is read.
func (r *reader) spell() error {
	kind, columns := r.m.target()
	if kind != "number" {
		return nil
	}
	_ = r.t.Each(func(row Row) error { // what is wrong with it is said where samples are made
		raw, err := row.Cell(columns[0])
		var text string
		if err == nil && json.Unmarshal(raw, &text) == nil {
			r.spelling.add(text, fmt.Sprintf("%s %d", cmp.Or(row.Unit, "line"), row.Number))
		}
		return nil
	})
	if err := r.spelling.check(r.m); err != nil {
		return fmt.Errorf("%s: column %q: %w", r.t.name, columns[0], err)
	}
	return nil
}

// number reads a target as the column's texts are written.
func (r *reader) number(raw json.RawMessage) (json.RawMessage, error) {
	text := strings.TrimSpace(plain(raw))
	if raw[0] != '"' {
		if _, err := decimal.Parse(text); err != nil {
			return nil, fmt.Errorf("target %.80q is not a number", text)
		}
		return raw, nil
	}
	n, comma, share := readings(text)
	if r.spelling.comma(r.m) {
		n = comma
	}
	if n == nil {
		return nil, fmt.Errorf("target %.80q is not a number: write it without units", text)
	}
	if share && r.m.Percent == methods.PercentFraction {
		n.Quo(n, big.NewRat(100, 1))
	}
	text, _ = decimal.Format(n)
	return json.RawMessage(text), nil
}

// read says in a spec how replies write numbers.
func (r *reader) read(spec *methods.AnswerSpec) {
	if spec.Kind == methods.Choice || spec.Kind == methods.Ranking {
		return
	}
	if r.m.Decimal == methods.DecimalComma || r.m.Decimal == "" && r.spelling.noPoint != "" {
		spec.Decimal = methods.DecimalComma
	}
	if r.m.Percent == methods.PercentFraction {
		spec.Percent = methods.PercentFraction
	}
}
