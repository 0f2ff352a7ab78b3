package decimal_test

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"noema/methods/decimal"
)

func Example() {
	a, _ := decimal.Parse("0.1")
	b, _ := decimal.Parse("2e-1")
	fmt.Println(decimal.Format(a.Add(a, b)))
	fmt.Println(decimal.Format(big.NewRat(2, 3)))
	// Output:
	// 0.3 true
	// 0.666666666667 false
}

func TestParseAndFormat(t *testing.T) {
	long := strings.Repeat("9", 300)
	for text, want := range map[string]string{
		"0": "0", "-0": "0", "0.00": "0", "+7": "7", ".5": "0.5", "5.": "5", "-12.3400": "-12.34",
		"1e3": "1000", "25E-1": "2.5", "1e-300": "0." + strings.Repeat("0", 299) + "1", long: long,
		"12345678901234567890.123": "12345678901234567890.123",
	} {
		r, err := decimal.Parse(text)
		if err != nil {
			t.Errorf("Parse(%.20q): %v", text, err)
			continue
		}
		if got, exact := decimal.Format(r); got != want || !exact {
			t.Errorf("Format(Parse(%.20q)) = %q, %t, want %q", text, got, exact, want)
		}
	}
	for _, text := range []string{"", " ", ".", "-", "--1", "1/3", "1_000", "0x10", "1,000", "NaN", "Inf", "1e", "1e301", "99e300", "1e999999999999999999999", "1e1.5", "٣", "1 ", "1p3", long + "99"} {
		if r, err := decimal.Parse(text); err == nil {
			t.Errorf("Parse(%.20q) = %v, want an error", text, r)
		}
	}
}

func TestFormatRounds(t *testing.T) {
	for _, c := range []struct {
		num, den int64
		want     string
	}{
		{1, 3, "0.333333333333"}, {-2, 3, "-0.666666666667"}, {1, 3e9, "0.000000000333333333333"},
		{1e17 + 1, 3, "33333333333300000"}, {100, 7, "14.2857142857"}, {2999999999999, 3, "1000000000000"},
	} {
		got, exact := decimal.Format(big.NewRat(c.num, c.den))
		if got != c.want || exact {
			t.Errorf("Format(%d/%d) = %q, %t, want %q", c.num, c.den, got, exact, c.want)
		}
	}
	deep := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 2000))
	if got, exact := decimal.Format(deep); exact || len(strings.TrimLeft(got, "0.")) != decimal.Digits {
		t.Errorf("Format(2^-2000) = %q, %t", got, exact)
	}
}

func TestRound(t *testing.T) {
	for _, c := range []struct {
		text   string
		places int
		want   string
	}{
		{"2.345", 2, "2.35"}, {"-2.5", 0, "-3"}, {"1249", -2, "1200"}, {"1250", -2, "1300"}, {"4", -1, "0"}, {"-4", -2, "0"}, {"7", 3, "7"},
	} {
		r, err := decimal.Parse(c.text)
		if err != nil {
			t.Fatal(err)
		}
		rounded, err := decimal.Round(r, c.places)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := decimal.Format(rounded); got != c.want {
			t.Errorf("Round(%s, %d) = %s, want %s", c.text, c.places, got, c.want)
		}
	}
	if _, err := decimal.Round(new(big.Rat), 301); err == nil {
		t.Error("Round took 301 places")
	}
}

func TestApply(t *testing.T) {
	a, b := big.NewRat(3, 1), big.NewRat(2, 1)
	for sign, want := range map[string]*big.Rat{"+": big.NewRat(5, 1), "-": big.NewRat(1, 1), "*": big.NewRat(6, 1), "/": big.NewRat(3, 2)} {
		if got := decimal.Apply(sign, a, b); got == nil || got.Cmp(want) != 0 {
			t.Errorf("3 %s 2 = %v, want %v", sign, got, want)
		}
	}
	if decimal.Apply("/", a, new(big.Rat)) != nil || decimal.Apply("%", a, b) != nil {
		t.Error("a division by zero or an unknown sign gives a number")
	}
}

// Whatever is read is written in one form, which reads as the same number.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"0", "-1.50", "1e5", "1e-300", "+.5"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, err := decimal.Parse(s)
		if err != nil {
			return
		}
		text, exact := decimal.Format(r)
		again, err := decimal.Parse(text)
		if exact && (err != nil && len(text) <= 300 || err == nil && again.Cmp(r) != 0) {
			t.Errorf("%q became %q: %v", s, text, err)
		}
	})
}
