package table

import (
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"noema/methods"
	"noema/methods/decimal"
)

// spelled writes a number of thousandths with a decimal sign and a sign between thousands.
func spelled(n int, point, between string) string {
	whole, part := fmt.Sprint(n/1000), strings.TrimRight(fmt.Sprintf("%03d", n%1000), "0")
	if between != "" {
		for i := len(whole) - 3; i > 0; i -= 3 {
			whole = whole[:i] + between + whole[i:]
		}
	}
	if part != "" {
		whole += point + part
	}
	return whole
}

// TestSpellings: over columns of numbers in one spelling, targets are the numbers that were
// written, or the column is refused or its reading told; replies are read like a column that
// has decimal commas; a column in two spellings is refused at the row that has the second; and
// no note advises what fails on the file.
func TestSpellings(t *testing.T) {
	r := rand.New(rand.NewPCG(46, 4))
	counts := map[string]int{}
	advice := regexp.MustCompile(`write target=(\S+) to ask`)
	for i := range 800 {
		comma := r.IntN(2) == 0
		point, between := ".", pick(r, "", ",", " ", "\u202f", "'")
		if comma {
			point, between = ",", pick(r, "", ".", " ", "\u00a0", "'")
		}
		var texts []string
		var want []string
		for range 1 + r.IntN(3) {
			n := []int{r.IntN(9) * 1000, r.IntN(3000) * 1000, r.IntN(9999) * 100, r.IntN(5_000_000)}[r.IntN(4)]
			texts = append(texts, spelled(n, point, between))
			value, _ := decimal.Format(big.NewRat(int64(n), 1000))
			want = append(want, value)
		}
		mixed := r.IntN(4) == 0
		if mixed { // both cannot be read otherwise
			texts = append(texts, "7.25", "37,5")
			r.Shuffle(len(texts), func(i, j int) { texts[i], texts[j] = texts[j], texts[i] })
		}
		given := pick(r, "", "", methods.DecimalComma, "point")
		var rows strings.Builder
		for _, text := range texts {
			raw, _ := json.Marshal(map[string]string{"question": "q", "answer": text})
			fmt.Fprintf(&rows, "%s\n", raw)
		}
		path := write(t, "n.jsonl", rows.String())
		plain, err := loadMapped(path, Mapping{})
		if err != nil {
			t.Fatal(err)
		}
		made, err := loadMapped(path, Mapping{Target: "number:answer", Decimal: given})
		if m := advice.FindStringSubmatch(strings.Join(plain.Notes, "\n")); m != nil {
			counts["advised"]++
			if _, err := loadMapped(path, Mapping{Target: m[1]}); err != nil {
				t.Fatalf("%q: the advice %q fails: %v", texts, m[0], err)
			}
		}
		switch {
		case mixed && (err == nil || !strings.Contains(err.Error(), "write all alike") || !strings.Contains(err.Error(), fmt.Sprint(" in line ", 1+firstOf(texts, true), " has a decimal comma")) || !strings.Contains(err.Error(), fmt.Sprint(" in line ", 1+firstOf(texts, false), " a decimal point"))):
			t.Fatalf("%d: %q of two spellings: %v", i, texts, err)
		case mixed:
			counts["mixed"]++
			continue
		case err != nil:
			if counts["refused"]++; given != "" || !strings.Contains(err.Error(), "write decimal=") {
				t.Fatalf("%d: %q: %v", i, texts, err)
			}
			continue
		}
		var got []string
		for _, s := range made.Samples {
			got = append(got, string(s.Target))
		}
		notes := strings.Join(made.Notes, "\n")
		decided := firstOf(texts, true) >= 0 || firstOf(texts, false) >= 0
		switch {
		case slices.Equal(got, want):
			counts["right"]++
		case decided || given == "" && !strings.Contains(notes, "write decimal=comma"):
			t.Fatalf("%d: %q with decimal=%s are %s\n%s", i, texts, given, got, notes)
		default: // told, or read as the mapping says
			counts["told"]++
		}
		replies := made.Samples[0].Problem.Answer.Decimal == methods.DecimalComma
		if by := given == methods.DecimalComma || given == "" && firstOf(texts, true) >= 0; replies != by {
			t.Fatalf("%d: replies to %q with decimal=%s have commas: %v", i, texts, given, replies)
		}
		if given == "" && replies && !strings.Contains(notes, "replies are read so") {
			t.Fatalf("%d: %q: not told: %s", i, texts, notes)
		}
	}
	t.Log(counts)
	for _, what := range []string{"right", "mixed", "refused", "told", "advised"} {
		if counts[what] < 5 {
			t.Errorf("one-sided: %v", counts)
		}
	}
}

var (
	onlyComma = regexp.MustCompile(`^[\d.]*,(\d{1,2}|\d{4,})$|\..*,|\d{4,},|^0,\d{3}$|\..*\.|[ \x{202f}\x{a0}'].*,`)
	onlyPoint = regexp.MustCompile(`^[\d,]*\.(\d{1,2}|\d{4,})$|^0\.\d{3}$|,.*\.|\d{4,}\.|,.*,|[ \x{202f}\x{a0}'].*\.`)
)

// firstOf is the first of some texts that has one reading alone: with a decimal comma, or with a
// decimal point.
func firstOf(texts []string, comma bool) int {
	of := onlyPoint
	if comma {
		of = onlyComma
	}
	return slices.IndexFunc(texts, of.MatchString)
}

// TestPercent: a share in the data needs a word on what it is, and replies get it.
func TestPercent(t *testing.T) {
	path := write(t, "p.csv", "question,answer\nq,25%\nr,0.5 %\n")
	for percent, want := range map[string]string{"": "write percent=fraction", "fraction": "0.25 0.005 fraction", "points": "25 0.5 "} {
		made, err := loadMapped(path, Mapping{Target: "number:answer", Percent: percent})
		got := fmt.Sprint(err)
		if err == nil {
			got = fmt.Sprintf("%s %s %s", made.Samples[0].Target, made.Samples[1].Target, made.Samples[0].Problem.Answer.Percent)
		}
		if !strings.Contains(got, want) || err == nil && got != want {
			t.Errorf("percent=%s: %s, want %s", percent, got, want)
		}
	}
}
