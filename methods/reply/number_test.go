package reply_test

import (
	"encoding/json"
	"strings"
	"testing"

	"noema/methods/reply"
)

func TestNumber(t *testing.T) {
	for text, want := range map[string]string{
		"42": "42", "Answer: 42": "42", "**Answer**: $1,234.50.": "1234.5", "Answer: 12 km in 3 hours": "12",
		"3 boxes of 12 make 36 pencils": "36", "first 7\nThe total is 9.\n\n": "9", "5 - 3 = 2": "2", "x = -4.50": "-4.5",
		"It costs €3.20": "3.2", "-$5": "-5", "$-5": "-5", "$ 5": "5", "25%": "25", "25 percent": "25", "12km": "12", "1,00,000 rupees": "100000",
		"3/4": "0.75", "Answer: 1 1/2 cups": "1.5", "1½": "1.5", "½": "0.5", "1/3": "0.333333333333", "-3/4": "-0.75", `\boxed{42}`: "42",
		`$\frac{3}{4}$`: "0.75", "2e3": "2000", "2.5E-1": "0.25", "6 × 10^3": "6000", `6 \times 10^3`: "6000", "1.20 x 10^{-2}": "0.012",
		"−7": "-7", "+7": "7", "(8)": "8", "so 8.": "8", "8!": "8", "Answer: none": "", "NaN or Inf": "", "": "", "the 3rd": "", "R2": "",
		"on 2024-05-01": "", "10-12": "", "at 10:30": "", "12,5": "", "1.2.3": "", "1/0": "", "1e999": "", "1_000": "",
		"by 10:30 she has 7": "7", "Answer: about 7 (of 9)": "7", "$18": "18", "is 0.10": "0.1", "-0": "0",
		"90071992547409931234.5": "90071992547409931234.5", "٣": "3", "\xff7": "7", "#### 72": "72",
	} {
		got, ok := reply.Number(text)
		if string(got) != want || ok != (want != "") {
			t.Errorf("Number(%q) = %q, %t, want %q", text, got, ok, want)
		}
	}
}

func TestNumberOfManyDigits(t *testing.T) {
	for _, text := range []string{strings.Repeat("9", 1_000_000), strings.Repeat("9 ", 500_000) + "x", strings.Repeat("1,", 500_000)} {
		if got, ok := reply.Number(text); ok && len(got) > 1 {
			t.Errorf("Number(%.20q…) = %.20q", text, got)
		}
	}
}

// Whatever is read is a number in JSON that passes for an answer.
func FuzzNumber(f *testing.F) {
	for _, s := range []string{"Answer: $1,234.50", "1 1/2", "6 × 10^3", "-3/4", `\frac{1}{8}`, "1e-400", "½"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, ok := reply.Number(s)
		if ok && !json.Valid([]byte(n)) {
			t.Errorf("Number(%q) = %q", s, n)
		}
	})
}

func TestValidator(t *testing.T) {
	v, err := reply.NewValidator(json.RawMessage(`{"type":"object","properties":{"a":{"type":"number"}},"required":["a","b"],"additionalProperties":false}`))
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Check(json.RawMessage(`{"a":"x","z":1}`)); err == nil || err.Error() != `additional properties 'z' not allowed; at /a: got string, want number; missing property 'b'` {
		t.Errorf("Check: %v", err)
	}
	list, err := v.Faults(json.RawMessage(`{"a":"x","z":1}`))
	if err != nil || len(list) != 3 || list[0].Rule != "additionalProperties" || list[1].Rule != "type" || list[2].Rule != "required" {
		t.Errorf("Faults: %+v, %v", list, err)
	}
	if _, err := v.Faults(json.RawMessage(`{`)); err == nil {
		t.Error("Faults took what is no JSON")
	}
	for _, bad := range []string{`{"type":7}`, `{"$ref":"file:///etc/passwd"}`, `x`} {
		if _, err := reply.NewValidator(json.RawMessage(bad)); err == nil {
			t.Errorf("NewValidator took %s", bad)
		}
	}
}
